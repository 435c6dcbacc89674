import { expect } from 'vitest'

/** Relative, because toBeCloseTo counts digits after the point and passes any small rate. */
export function expectNear(got: number, expected: number, relative: number): void {
  expect(Math.abs(got / expected - 1), `got ${got}, expected ${expected}`).toBeLessThanOrEqual(relative)
}
