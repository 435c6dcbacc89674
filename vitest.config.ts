import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { alias: { '#store': new URL('./src/store/index.ts', import.meta.url).pathname } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/debian.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
  },
})
