import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Measures how long clients wait: nothing else may run beside it. */
const ALONE = ['test/server/fairness.test.ts']

/** What a test file does that the files after it in the same process would notice. */
const OWN_PROCESS = /\bmemoryUsage\b|\bvi\.(mock|stub|spyOn|useFakeTimers)|\bprocess\.(on|chdir|umask)\(/

/**
 * Test files with a process of their own. The others share one per worker, which spares a second of processor time per
 * file for its start and imports.
 */
const ISOLATED = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => join('test', path))
  .filter((path) => !ALONE.includes(path) && OWN_PROCESS.test(readFileSync(path, 'utf8')))

export default defineConfig({
  resolve: { alias: { '#store': new URL('./src/store/index.ts', import.meta.url).pathname } },
  test: {
    globalSetup: ['test/support/debian.ts', 'test/support/built.ts', 'test/support/certificates.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Two more than the cores of CI: many tests wait for servers, timers and other processes.
    maxWorkers: 4,
    projects: [
      {
        extends: true,
        test: {
          name: 'sharing',
          include: ['test/**/*.test.ts'],
          exclude: [...ALONE, ...ISOLATED],
          isolate: false,
          // All cores are busy anyway: collecting garbage in the same thread, and less often, takes less processor time. Not
          // where a test measures its memory.
          execArgv: ['--single-threaded-gc', '--max-semi-space-size=64'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'isolated', include: ISOLATED, sequence: { groupOrder: 1 } },
      },
      { extends: true, test: { name: 'alone', include: ALONE, sequence: { groupOrder: 0 } } },
    ],
  },
})
