// An assertion for loops over thousands of cases, where vitest's own takes longer than what is tested.
import { expect } from 'vitest'

/** As `expect(got, what).toBe(expected)`; when they are the same, it costs one comparison. */
export function expectIs<T>(got: T, expected: T, what?: string): void {
  if (!Object.is(got, expected)) expect(got, what).toBe(expected)
}

/** As `expect(got, what).toEqual(expected)` of two byte arrays; when they are the same, it costs one comparison of memory. */
export function expectBytes(got: Uint8Array, expected: Uint8Array, what?: string): void {
  const isSame = got.constructor === expected.constructor && Buffer.compare(got, expected) === 0
  if (!isSame) expect(got, what).toEqual(expected)
}
