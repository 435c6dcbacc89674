// `urlsieve plan`: every filter side by side, as a table or as JSON.
import { describe, expect, it } from 'vitest'
import { defaultLimit } from '../../src/disk/machine-memory.ts'
import { diskPlan, usefulMemory } from '../../src/disk/plan.ts'
import { frozenFilters, filters as making, researchFilters } from '../../src/filters/registry.ts'
import { expectQuiet, linesOf, urlsieve } from './command.ts'

const filters = { ...making, ...frozenFilters }
const filterNames = Object.keys(filters) as (keyof typeof filters)[]

interface PlanRow {
  filter: string
  expectedUrls: number
  expectedRate: number
  sizeBytes: number
  bitsPerUrl: number
  fits: boolean
  can: Record<string, boolean>
  does: string
}

async function json(
  ...args: string[]
): Promise<{ expectedUrls: number; plans: PlanRow[] } & Record<string, number>> {
  const ended = await urlsieve(['plan', '--json', ...args])
  expectQuiet(ended)
  return JSON.parse(ended.stdout.toString())
}

/** Where the columns of a table start and end: the dashes under its head. */
const columnsOf = (rule: string) =>
  [...rule.matchAll(/-+/g)].map((match) => [match.index, match.index + match[0].length] as const)

/** The tables of the output: the names of their columns, and the cells of each row with wrapped lines joined. */
function tablesOf(lines: readonly string[]): { head: string[]; rows: string[][] }[] {
  const tables: { head: string[]; rows: string[][] }[] = []
  for (const [i, rule] of lines.entries()) {
    if (!/^-[- ]*$/.test(rule)) continue
    const columns = columnsOf(rule)
    const cells = (line: string) => columns.map(([from, to]) => line.slice(from, to).trim())
    const rows: string[][] = []
    for (let at = i + 1; at < lines.length && lines[at] !== ''; at++) {
      const line = lines[at]!
      // Between two columns there are two blanks and nothing else, and nothing is behind the last.
      for (const [, to] of columns.slice(0, -1)) expect(line.slice(to, to + 2)).toBe('  ')
      expect(line.length).toBeLessThanOrEqual(columns.at(-1)![1])
      expect(line).toBe(line.trimEnd())
      const row = cells(line)
      if (row[0] === '') rows.at(-1)![row.length - 1] += ` ${row.at(-1)}`
      else rows.push(row)
    }
    tables.push({ head: cells(lines[i - 1]!), rows })
  }
  return tables
}

describe('the tables', () => {
  it('fit 100 columns, with a row for every filter: those of crawls first, research last', async () => {
    const ended = await urlsieve(['plan', '--urls', '1e9', '--fpr', '1e-3'])
    expectQuiet(ended)
    const lines = linesOf(ended.stdout)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(100)
    const [production, elsewhere, research] = tablesOf(lines)
    expect(production!.head).toEqual(['filter', 'bits/URL', 'memory', 'rate', 'can', 'what it is'])
    expect(research!.head).toEqual(production!.head)
    const isResearch = (name: string) => researchFilters.includes(name)
    expect(production!.rows.map(([name]) => name)).toEqual(filterNames.filter((name) => !isResearch(name)))
    expect(research!.rows.map(([name]) => name)).toEqual(filterNames.filter(isResearch))
    for (const row of [...production!.rows, ...research!.rows]) {
      expect(row[5]).toBe(filters[row[0] as keyof typeof filters].does)
      expect(row[1]).toMatch(/^\d+\.\d$/)
    }
    const row = (name: string) => production!.rows.find(([filter]) => filter === name)!
    expect(row('classic').slice(1, 4)).toEqual(['14.4', '1.7 GiB', '1e-3'])
    expect(row('binary-fuse').slice(1, 5)).toEqual(['18.0', '2.1 GiB', '1.5e-5', 'no add'])
    expect(production!.rows.filter((cells) => cells[4]!.includes('add'))).toHaveLength(1)
    expect(elsewhere!.rows.map(([name]) => name)).toEqual(['disk', 'exact', 'cluster', 'compact'])
    expect(lines.at(-1)).toBe('The information limit at a rate of 1e-3 is 10.0 bits per URL.')
  })

  it('marks what needs more than the memory given', async () => {
    const ended = await urlsieve(['plan', '--urls', '10M', '--memory', '64M'])
    expectQuiet(ended)
    const row = (name: string) => linesOf(ended.stdout).find((line) => line.startsWith(`${name}  `))
    expect(row('fingerprint')).toContain(' !')
    expect(row('classic')).not.toContain('!')
    expect(linesOf(ended.stdout).at(-1)).toBe('! needs more than the 64.0 MiB given.')
  })
})

describe('the recommendation', () => {
  it.each([
    [['--urls', '1M', '--memory', '1G'], 'fingerprint', /practically exact/, 'urlsieve dedupe links.txt'],
    [
      ['--urls', '10M', '--memory', '64M'],
      'blocked',
      /fingerprint would need 95\.\d MiB, more than the 64\.0 MiB given; a Bloom filter of 64\.0 MiB keeps the rate at/,
      'urlsieve dedupe links.txt --filter blocked --urls 10000000 --memory 64MiB',
    ],
    [
      ['--urls', '10G', '--memory', '2G'],
      'disk',
      /no filter in it keeps a rate of 1e-6; 64-bit hashes on disk take/,
      'urlsieve dedupe links.txt --max-memory 2GiB',
    ],
  ])('%j: %s, in the first lines', async (args, name, reason, command) => {
    const [text, figures] = await Promise.all([urlsieve(['plan', ...args]), json(...args)])
    const [first, ...rest] = linesOf(text!.stdout)
    expect(first).toMatch(new RegExp(`distinct URLs in .*: ${name}$`))
    expect(rest.slice(0, rest.indexOf('')).join(' ')).toMatch(reason)
    expect(rest[rest.indexOf('') + 1]).toBe(`  ${command}`)
    expect(figures).toMatchObject({ recommended: { name, command } })
  })
})

describe('--json', () => {
  it('a billion URLs at 1e-3, for every filter', async () => {
    const { expectedUrls, falsePositiveRate, plans } = await json('--urls', '1e9', '--fpr', '1e-3')
    expect({ expectedUrls, falsePositiveRate }).toEqual({ expectedUrls: 1e9, falsePositiveRate: 1e-3 })
    expect(plans.map((plan) => plan.filter)).toEqual(filterNames)
    for (const plan of plans) {
      const { can, does } = filters[plan.filter as keyof typeof filters]
      expect(plan).toMatchObject({ expectedUrls: 1e9, fits: true, can, does })
      expect(Number.isSafeInteger(plan.sizeBytes)).toBe(true)
      expect(plan.bitsPerUrl).toBeGreaterThan(9.96) // the information limit: log2(1000)
      expect((plan.sizeBytes * 8) / 1e9 / plan.bitsPerUrl).toBeCloseTo(1, 2)
    }
    for (const name of ['fingerprint', 'classic', 'blocked']) {
      const { expectedRate } = plans.find((plan) => plan.filter === name)!
      expect(expectedRate).toBeGreaterThan(0)
      expect(expectedRate).toBeLessThanOrEqual(1e-3)
    }
  })

  it('by memory: what is larger does not fit', async () => {
    const { sizeBytes, plans } = await json('--urls', '10M', '--memory', '64M')
    expect(sizeBytes).toBe(64 * 1024 ** 2)
    expect(plans.map((plan) => plan.filter)).toEqual(filterNames)
    for (const plan of plans) expect(plan.fits).toBe(plan.sizeBytes <= sizeBytes!)
    expect(plans.find((plan) => plan.filter === 'fingerprint')!.fits).toBe(false)
    expect(plans.find((plan) => plan.filter === 'classic')).toMatchObject({ fits: true, sizeBytes })
  })

  it('a frozen set takes no URLs, all others do', async () => {
    const { plans } = await json('--urls', '1e9', '--fpr', '1e-2')
    expect(plans.filter((plan) => !plan.can.add).map((plan) => plan.filter)).toEqual(['binary-fuse'])
    const frozen = plans.find((plan) => plan.filter === 'binary-fuse')!
    expect(frozen).toMatchObject({ expectedRate: 2 ** -8, shape: { fingerprintBits: 8 } })
    expect(frozen.can).toEqual({ add: false, delete: false, grow: false, under: false })
  })

  it('a frozen set by memory: the widest fingerprints that fit, and the least where none do', async () => {
    const planned = async (memory: string) => {
      const { plans } = await json('--urls', '10M', '--memory', memory)
      return plans.find((plan) => plan.filter === 'binary-fuse')
    }
    expect(await planned('64M')).toMatchObject({ fits: true, shape: { fingerprintBits: 32 } })
    expect(await planned('32M')).toMatchObject({ fits: true, shape: { fingerprintBits: 16 } })
    expect(await planned('1M')).toMatchObject({ fits: false, shape: { fingerprintBits: 8 } })
  })

  it('without a rate: one in a million', async () => {
    const { falsePositiveRate, plans } = await json('--urls', '1_000_000')
    expect(falsePositiveRate).toBe(1e-6)
    const { bitsPerUrl } = plans.find((plan) => plan.filter === 'classic')!
    expect(bitsPerUrl).toBeGreaterThan(28.7)
    expect(bitsPerUrl).toBeLessThan(28.9)
  })
})

describe('what does not fit into memory', () => {
  it('10B URLs: the memory that there is, as far as it is of use', async () => {
    const plan = await json('--urls', '10B')
    expect(plan.expectedUrls).toBe(1e10)
    const { memoryBytes, batches } = plan.disk as unknown as { memoryBytes: number; batches: number }
    expect(memoryBytes).toBe(usefulMemory(1e10, defaultLimit()))
    expect(batches).toBe(diskPlan(1e10, memoryBytes).batches)
  })

  it.each([
    [1e6, 16, 1],
    [2e8, 16, 2.25],
    [1e10, 16, 3.25],
    [1e10, 2.9, 2.75],
    [1e10, 0.6, 0.5],
  ])('%d URLs in %d GiB: %d', (urls, thereIs, useful) => {
    const memory = usefulMemory(urls, thereIs * 1024 ** 3)
    expect(memory / 1024 ** 3).toBe(useful)
    // More of it is of no use.
    if (useful > 2.9) expect(diskPlan(urls, memory).batches).toBe(diskPlan(urls, 4 * memory).batches)
  })
})
