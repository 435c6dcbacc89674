// The whole lab at small sizes: `urlsieve lab --quick`.
import { expect } from 'vitest'
import { experiments } from '../../src/lab/registry.ts'
import { run } from '../../src/lab/run.ts'
import { gate } from './gate.ts'

gate('lab --quick: at most 60 s of processor time', { timeout: 300_000 }, async ({ measured }) => {
  const before = process.cpuUsage()
  const { failures } = await run({ experiments, quick: true })
  const { user, system } = process.cpuUsage(before)
  const seconds = (user + system) / 1e6
  measured(`${seconds.toFixed(1)} s`)
  expect(failures).toEqual([])
  expect(seconds).toBeLessThan(60)
})
