// Adds to a store against the same adds in memory, in ratios of one run. URLSIEVE_FULL=1 opens 20 million URLs as well.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { Sieve } from '../../src/sieve.ts'
import { newFolders } from '../../test/support/folders.ts'
import { gate } from './gate.ts'

const FULL = process.env.URLSIEVE_FULL === '1'
const folder = newFolders()()

const encoder = new TextEncoder()
const linesOf = (from: number, count: number) =>
  encoder.encode(
    Array.from({ length: count }, (_, i) => `https://www.example.com/catalogue/item-${from + i}?page=1`).join(
      '\n',
    ),
  )
const seconds = (since: number) => (performance.now() - since) / 1000

gate(
  'store: adds in batches of 1,000 take at most twice the processor time of adds in memory',
  {},
  async ({ measured }) => {
    const batches = Array.from({ length: 1000 }, (_, batch) => linesOf(1000 * batch, 1000))
    const run = async (sieve: Sieve): Promise<{ wall: number; cpu: number }> => {
      const since = performance.now()
      const before = process.cpuUsage()
      for (const [i, batch] of batches.entries()) {
        sieve.addLines(batch)
        if (i % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      const { user, system } = process.cpuUsage(before)
      const wall = seconds(since)
      await sieve.close()
      return { wall, cpu: (user + system) / 1e6 }
    }
    const wall: number[] = []
    const cpu: number[] = []
    for (let round = 0; round < 5; round++) {
      const inMemory = await run(await Sieve.create())
      const stored = await run(await Sieve.open(join(folder, `adds-${round}`)))
      wall.push(inMemory.wall / stored.wall)
      cpu.push(inMemory.cpu / stored.cpu)
    }
    const format = (ratios: number[]) =>
      ratios
        .sort((a, b) => a - b)
        .map((ratio) => ratio.toFixed(2))
        .join(' ')
    measured(`speed of that in memory: by the clock ${format(wall)}, by processor time ${format(cpu)}`)
    expect(cpu.at(-1)).toBeGreaterThan(0.5)
  },
)

if (FULL)
  gate('store: opens 20 million URLs', { timeout: 600_000 }, async ({ measured }) => {
    const path = join(folder, 'store')
    const sieve = await Sieve.open(path, { profile: 'raw', durability: 'never', foldBytes: 2 ** 40 })
    for (let from = 0; from < 20_000_000; from += 100_000) sieve.addLines(linesOf(from, 100_000))
    await sieve.save()
    await sieve.close()
    const file = join(path, 'snapshot-00000002.sieve')
    const megabytes = statSync(file).size / 1e6
    for (let round = 0; round < 3; round++) {
      let since = performance.now()
      spawnSync('sh', ['-c', `cat "${file}" > /dev/null`])
      const cat = seconds(since)
      since = performance.now()
      const opened = await Sieve.open(path, { readOnly: true })
      const open = seconds(since)
      expect(opened.stats().urls).toBe(20_000_000)
      expect(opened.has('https://www.example.com/catalogue/item-19999999?page=1')).toBe(true)
      measured(
        `${megabytes.toFixed(0)} MB: ${open.toFixed(2)} s, ${(megabytes / open).toFixed(0)} MB/s; ` +
          `cat ${(megabytes / cat).toFixed(0)} MB/s`,
      )
    }
  })
