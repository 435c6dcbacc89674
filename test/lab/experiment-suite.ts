// What every experiment of the lab must give, and plain versions of the filters and hashes that their counts are checked with.
import { describe, expect, it } from 'vitest'
import type { Cell, Experiment, Result, Table } from '../../src/lab/experiment.ts'
import { clopperPearson } from '../../src/lab/interval.ts'
import { randomFrom } from '../support/random.mjs'
import { smallLab } from './small-lab.ts'

export const encoder = new TextEncoder()

/** Distinct URLs of 400 sites, a few of them large: number i is always the same. */
export function seededUrls(count: number): string[] {
  const random = randomFrom(7)
  const words = 'news shop item archive tag page user story photo video about help list'.split(' ')
  return Array.from({ length: count }, (_, i) => {
    const share = random()
    const site = Math.floor(share * share * share * 400)
    const path = Array.from(
      { length: 1 + Math.floor(random() * 3) },
      () => words[Math.floor(random() * words.length)],
    )
    return `https://www.site${site}.example/${path.join('/')}/${i.toString(36)}${random() < 0.3 ? `?id=${i}` : ''}`
  })
}

export const all = seededUrls(100_000)
export const fakeLab = (tables: readonly string[] = []) => smallLab(all, tables)

export const column = ({ columns }: Table, name: string) => {
  const at = columns.findIndex((one) => one.name === name)
  expect(at, `column ${name}`).toBeGreaterThanOrEqual(0)
  return at
}

/** The rows of a table as objects by column. */
export const records = (table: Table): Record<string, Cell>[] =>
  table.rows.map((row) => Object.fromEntries(table.columns.map(({ name }, i) => [name, row[i] ?? null])))

/** Everything that a seed decides: no times. */
export const decided = ({ finding, tables }: Result) => ({
  finding,
  tables: tables.map(({ columns, rows }) => rows.map((row) => row.filter((_, i) => !columns[i]!.timing))),
})

/** A plain Bloom filter: the papers' functions modulo m. */
export function plainFilter(bits: number, k: number, hash: (text: Uint8Array, start: number) => number) {
  const set = new Set<number>()
  const addresses = (text: string) => {
    const bytes = encoder.encode(text)
    const found: number[] = []
    for (let j = 0; j < k; j++) found.push(hash(bytes, j) % bits)
    return found
  }
  return {
    add: (text: string) => {
      for (const at of addresses(text)) set.add(at)
    },
    has: (text: string) => addresses(text).every((at) => set.has(at)),
    ones: () => set.size,
  }
}

export function jenkins(bytes: Uint8Array, start: number): number {
  let h = start
  for (const byte of bytes) {
    h = (h + byte) | 0
    h = (h + (h << 10)) | 0
    h ^= h >>> 6
  }
  h = (h + (h << 3)) | 0
  h ^= h >>> 11
  return (h + (h << 15)) >>> 0
}

function polynomial(bytes: Uint8Array, factor: number, start: number): number {
  let h = start
  for (let i = 0; i < bytes.length; i++) h = (Math.imul(h, factor) + bytes[i]!) >>> 0
  return h
}
export const poly31 = (bytes: Uint8Array, start: number) => polynomial(bytes, 31, start)
export const djb2 = (bytes: Uint8Array) => polynomial(bytes, 33, 5381)

export function murmur3(bytes: Uint8Array, seed: number): number {
  const rotated = (x: number, by: number) => (x << by) | (x >>> (32 - by))
  const scrambled = (x: number) => Math.imul(rotated(Math.imul(x, 0xcc9e2d51), 15), 0x1b873593)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let h = seed
  let at = 0
  for (; at + 4 <= bytes.length; at += 4) {
    h ^= scrambled(view.getUint32(at, true))
    h = (Math.imul(rotated(h, 13), 5) + 0xe6546b64) | 0
  }
  let tail = 0
  for (let i = bytes.length - 1; i >= at; i--) tail = (tail << 8) | bytes[i]!
  if (at < bytes.length) h ^= scrambled(tail)
  h ^= bytes.length
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** The results of the experiments that were run. */
export const results = new Map<string, Result>()

/** Runs each experiment twice: the same for the same seed, with rates that follow from its counts. */
export function describeExperiments(experiments: readonly Experiment[]): void {
  describe.each(experiments)('$name', (experiment) => {
    it('gives tables, plots and a finding, the same for the same seed', async () => {
      const lab = fakeLab()
      const result = await experiment.run(lab)
      results.set(experiment.name, result)
      expect(lab.shares.at(-1)).toBe(1)
      expect(lab.shares.every((share, i) => share >= (lab.shares[i - 1] ?? 0) && share <= 1)).toBe(true)
      expect(result.finding).toMatch(/\d.*\.$/s)
      expect(result.finding).not.toMatch(/NaN|undefined|Infinity|null/)
      expect(decided(await experiment.run(fakeLab()))).toEqual(decided(result))
    })

    it('states rates that follow from its counts', () => {
      for (const table of results.get(experiment.name)!.tables) {
        expect(table.rows.length).toBeGreaterThan(0)
        for (const row of table.rows) expect(row.length).toBe(table.columns.length)
        if (!table.columns.some(({ name }) => name === 'low')) continue
        const hits = table.columns.findIndex(
          ({ name }) => name === 'false positives' || name === 'lost directly',
        )
        const trials = table.columns.findIndex(({ name }) => name === 'queries' || name === 'pages queried')
        for (const row of table.rows) {
          const [hit, asked] = [row[hits] as number, row[trials] as number]
          const { lower, upper } = clopperPearson({ hits: hit, trials: asked })
          expect(row[column(table, 'rate')]).toBe(hit / asked)
          expect(row[column(table, 'low')]).toBe(lower)
          expect(row[column(table, 'high')]).toBe(upper)
        }
      }
    })

    it('has plots that their axes can show', () => {
      const { plots } = results.get(experiment.name)!
      expect(plots.length).toBeGreaterThan(0)
      for (const { x, y, series, alt } of plots) {
        expect(alt).not.toBe('')
        expect(series.length).toBeGreaterThan(0)
        for (const point of series.flatMap(({ points }) => points)) {
          if (x.log) expect(point.x).toBeGreaterThan(0)
          if (y.log) expect(point.y).toBeGreaterThan(0)
          if (point.low !== undefined) expect(point.low).toBeLessThanOrEqual(point.y)
          if (point.high !== undefined) expect(point.high).toBeGreaterThanOrEqual(point.y)
        }
      }
    })
  })
}
