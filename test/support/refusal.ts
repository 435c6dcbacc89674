// URLs by name, and calls that must be refused.
import { expect } from 'vitest'
import { SieveError } from '../../src/errors.ts'

const encoder = new TextEncoder()
/** `count` distinct URLs. */
export const named = (letter: string, count: number) =>
  Array.from({ length: count }, (_, i) => `https://example.com/${letter}/${i}`)
/** URLs as lines. */
export const lines = (urls: readonly string[]) => encoder.encode(`${urls.join('\n')}\n`)

/** The error of a call that must be refused: a SieveError of one line. */
export function refusal(act: () => unknown): SieveError {
  try {
    act()
  } catch (error) {
    expect(error).toBeInstanceOf(SieveError)
    expect((error as Error).message).toMatch(/^[^\n]+$/)
    return error as SieveError
  }
  throw new Error('expected a refusal')
}
