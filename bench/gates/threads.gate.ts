// `dedupe` with two threads against one, in ratios of one run, process start included.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { main } from '../../test/e2e/command.ts'
import { newFolders } from '../../test/support/folders.ts'
import { randomFrom } from '../../test/support/random.mjs'
import { gate } from './gate.ts'

const folder = newFolders()()
const LINES = 3_000_000

function writeLines(path: string): void {
  const random = randomFrom(1)
  const parts: string[] = []
  for (let i = 0; i < LINES; i++) {
    const n = Math.floor(random() * LINES * 0.6)
    parts.push(`https://www.host-${n % 997}.example/catalogue/section-${n % 31}/item-${n}?page=1\n`)
  }
  writeFileSync(path, parts.join(''))
}

gate(
  'threads: two take at most 0.75 of the time of one, on 3,000,000 lines',
  { skip: availableParallelism() < 2 },
  async ({ measured }) => {
    const input = join(folder, 'lines.txt')
    writeLines(input)
    const seconds = (threads: number) => {
      const out = join(folder, 'out.txt')
      const fd = openSync(out, 'w')
      const since = performance.now()
      const { status } = spawnSync(process.execPath, [main, 'dedupe', '--threads', String(threads), input], {
        stdio: ['ignore', fd, 'inherit'],
      })
      const taken = (performance.now() - since) / 1000
      closeSync(fd)
      rmSync(out)
      expect(status).toBe(0)
      return taken
    }
    const times = { one: Number.POSITIVE_INFINITY, two: Number.POSITIVE_INFINITY }
    for (let round = 0; round < 4; round++) {
      times.one = Math.min(times.one, seconds(1))
      times.two = Math.min(times.two, seconds(2))
    }
    const ratio = times.two / times.one
    measured(`${ratio.toFixed(2)}: ${times.two.toFixed(2)} s, one thread ${times.one.toFixed(2)} s`)
    expect(ratio).toBeLessThan(0.75)
  },
)
