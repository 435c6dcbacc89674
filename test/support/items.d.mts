import type { Items } from '../../src/sieve.ts'

export function itemsOf(texts: readonly string[]): Items
