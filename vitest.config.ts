import { defineConfig } from 'vitest/config'

/** Measures how long clients wait: nothing else may run beside it. */
const ALONE = ['test/server/fairness.test.ts']

/** Test files that keep no state in their process: they share one, which spares its start and imports. */
const SHARING = ['canonical', 'e2e', 'learn', 'options', 'records', 'search', 'shapes'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
)

export default defineConfig({
  resolve: { alias: { '#store': new URL('./src/store/index.ts', import.meta.url).pathname } },
  test: {
    globalSetup: ['test/support/debian.ts', 'test/support/built.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // One more than the two cores of CI: many tests wait for servers, timers and other processes.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.test.ts'],
          exclude: [...ALONE, ...SHARING],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'sharing', include: SHARING, isolate: false, sequence: { groupOrder: 1 } },
      },
      { extends: true, test: { name: 'alone', include: ALONE, sequence: { groupOrder: 0 } } },
    ],
  },
})
