// What must be ended when a test file has, however its tests went. A hook set within a test would not run.
import { afterAll } from 'vitest'

const ends: (() => unknown)[] = []

afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Does this when the file's tests have ended, the last first. */
export function atEnd(end: () => unknown): void {
  ends.push(end)
}
