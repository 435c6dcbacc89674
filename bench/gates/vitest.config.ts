import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('../../', import.meta.url))

// One gate at a time: they measure.
export default defineConfig({
  root,
  resolve: { alias: { '#store': `${root}src/store/index.ts` } },
  test: {
    globalSetup: ['test/support/debian.ts', 'test/support/built.ts'],
    include: ['bench/gates/*.gate.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
  },
})
