// A run of `dedupe` in memory that reaches its limit continues on disk: the output is that of a run that stays in memory.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { runDedupe } from '../../src/cli/dedupe-run.ts'
import { SpillingTarget } from '../../src/cli/dedupe-spill.ts'
import { defaultLimit } from '../../src/disk/machine-memory.ts'
import { Sieve } from '../../src/index.ts'
import { newFolders } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'

const newFolder = newFolders()
const folder = newFolder()
const [plain, packed] = [join(folder, 'all.txt'), join(folder, 'all.txt.gz')]
const printed = vi.hoisted(() => [] as string[])

vi.mock('../../src/cli/output.ts', async (original) => ({
  ...(await original<object>()),
  writeStderr: (text: string) => printed.push(text) > 0,
}))

beforeAll(() => {
  const random = randomFrom(5)
  const lines: string[] = []
  for (let i = 0; i < 1_500_000; i++) {
    const n = random() < 0.2 ? Math.floor(random() * i) : i
    lines.push(n % 1000 === 0 ? `no URL ${n}` : `https://host.example/${n}`)
  }
  const text = lines.join('\n')
  writeFileSync(plain, text)
  writeFileSync(packed, gzipSync(text, { level: 1 }))
})

interface Wanted {
  readonly keep: 'new' | 'seen'
  readonly as: 'line' | 'key'
}

async function dedupe(paths: readonly string[], wanted: Wanted, limitBytes: number) {
  const sieve = await Sieve.create({ profile: 'raw' })
  const temp = newFolder()
  const path = join(newFolder(), 'out')
  const target = new SpillingTarget(sieve, { ...wanted, limitBytes, temp })
  const ended = vi.spyOn(target, 'end')
  printed.length = 0
  await runDedupe(target, {
    ...{ paths, totalBytes: null, keep: wanted.keep, output: path },
    placing: { outlivesRun: false, end: { byte: 10, isQuoted: false } },
    ...{ stats: false, quiet: true, startedAt: 0 },
  })
  expect(readdirSync(temp)).toEqual([])
  const { invalid, disk } = (await ended.mock.results[0]!.value) as {
    invalid: number
    disk?: { runs: number }
  }
  return { out: readFileSync(path), counts: { ...target.counts(), invalid }, disk, temp }
}

describe('dedupe in memory, at its limit', () => {
  const cases: Readonly<Record<string, readonly [readonly string[], Wanted]>> = {
    'a file: keys': [[plain], { keep: 'new', as: 'key' }],
    'a packed file, then a file: repeats': [[packed, plain], { keep: 'seen', as: 'line' }],
  }
  it.for(Object.entries(cases))('%s', { timeout: 60_000 }, async ([, [paths, wanted]]) => {
    const whole = await dedupe(paths, wanted, Number.POSITIVE_INFINITY)
    expect(printed).toEqual([])
    const spilled = await dedupe(paths, wanted, 1)
    expect(spilled.out.equals(whole.out)).toBe(true)
    expect(spilled.counts).toEqual(whole.counts)
    expect(whole.disk).toBeUndefined()
    expect(spilled.disk?.runs).toBeGreaterThan(1)
    expect(printed).toHaveLength(1)
    expect(printed[0]).toMatch(/^urlsieve: \d.* of memory are in use, the most without --max-memory: .*\n$/)
    expect(printed[0]).toContain(spilled.temp)
  })

  it('the limit is within the memory of the machine', () => {
    expect(defaultLimit()).toBeGreaterThan(2 ** 20)
    expect(defaultLimit()).toBeLessThan(2 ** 48)
  })
})
