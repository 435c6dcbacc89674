// An assertion for loops over thousands of cases, where vitest's own takes longer than what is tested.
import { expect } from 'vitest'

/** As `expect(got, what).toBe(expected)`; when they are the same, it costs one comparison. */
export function expectIs<T>(got: T, expected: T, what?: string): void {
  if (!Object.is(got, expected)) expect(got, what).toBe(expected)
}
