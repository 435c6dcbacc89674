// A gate: a test of speed with a generous bound, which its name states. `npm run bench -- --check` runs them all.
import { type TestOptions, test } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** What the gate measured, in words. */
    measured?: string
  }
}

export interface Measuring {
  /** Records the result, also when the bound then fails. */
  measured(result: string): void
}

export function gate(name: string, options: TestOptions, run: (measuring: Measuring) => Promise<void>): void {
  test(name, options, ({ task }) =>
    run({
      measured: (result) => {
        task.meta.measured = result
      },
    }),
  )
}
