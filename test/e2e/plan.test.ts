// `urlsieve plan`: every filter side by side, as a table or as JSON.
import { describe, expect, it } from 'vitest'
import { frozenFilters, filters as making } from '../../src/filters/registry.ts'
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

describe('the table', () => {
  it('has a row for every filter, and its columns are aligned', async () => {
    const ended = await urlsieve(['plan', '--urls', '1e9', '--fpr', '1e-3'])
    expectQuiet(ended)
    const [head, rule, ...rest] = linesOf(ended.stdout)
    const rows = rest.slice(0, rest.indexOf(''))
    const columns = columnsOf(rule!)
    const cells = (line: string) => columns.map(([from, to]) => line.slice(from, to).trim())
    expect(cells(head!)).toEqual(['filter', 'bits/URL', 'memory', 'k', 'expected rate', 'can', 'what it is'])
    expect(rows.map((row) => cells(row)[0])).toEqual(filterNames)
    expect(rows.map((row) => cells(row)[6])).toEqual(filterNames.map((name) => filters[name].does))
    for (const row of [head!, ...rows]) {
      // Between two columns there are two blanks and nothing else, and nothing is behind the last.
      for (const [, to] of columns.slice(0, -1)) expect(row.slice(to, to + 2)).toBe('  ')
      expect(row.length).toBeLessThanOrEqual(columns.at(-1)![1])
      expect(row).toBe(row.trimEnd())
    }
    const bits = rows.map((row) => row.slice(...columns[1]!))
    for (const cell of bits) expect(cell).toMatch(/^ *\d+\.\d$/) // numbers end below each other
    expect(cells(rows[filterNames.indexOf('classic')]!).slice(1, 5)).toEqual([
      '14.4',
      '1.7 GiB',
      '10',
      '1.0e-3',
    ])
    expect(cells(rows[filterNames.indexOf('binary-fuse')]!).slice(1, 6)).toEqual([
      '18.0',
      '2.1 GiB',
      '3',
      '1.5e-5',
      'no add',
    ])
    expect(rows.filter((row) => cells(row)[5]!.includes('add'))).toHaveLength(1)
    expect(rest.at(-1)).toContain('10.0 bits per URL')
  })

  it('marks what needs more than the memory given', async () => {
    const ended = await urlsieve(['plan', '--urls', '10M', '--memory', '64M'])
    expectQuiet(ended)
    const row = (name: string) => linesOf(ended.stdout).find((line) => line.startsWith(name))
    expect(row('fingerprint')).toContain(' !')
    expect(row('classic')).not.toContain('!')
    expect(linesOf(ended.stdout).at(-1)).toBe('! needs more than the 64.0 MiB given.')
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
