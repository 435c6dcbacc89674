// The experiments about layered filters, equal memory, growth and baselines: their counts recomputed in another way,
// the same numbers for the same seed, and findings that say what the numbers say.
import { describe, expect, it } from 'vitest'
import { xorHitRates } from '../../src/filters/xor-layer.ts'
import { bareUrls } from '../../src/lab/bare-urls.ts'
import type { Cell, Experiment, Lab, Result, Table, UrlList } from '../../src/lab/experiment.ts'
import { baselines } from '../../src/lab/experiments/baselines.ts'
import { cen2010 } from '../../src/lab/experiments/cen2010/experiment.ts'
import { equalMemory } from '../../src/lab/experiments/equal-memory.ts'
import { growth } from '../../src/lab/experiments/growth.ts'
import { termProject } from '../../src/lab/experiments/term-project.ts'
import { clopperPearson } from '../../src/lab/interval.ts'
import { keptLines, LineWriter } from '../../src/lab/line-writer.ts'
import { numberedLines, orderBlindLines, Pieces, recombinedLines } from '../../src/lab/negatives.ts'
import { count, factor, listed, percent } from '../../src/lab/wording.ts'
import { ClassicOracle } from '../oracles/classic.ts'
import { siphash13 } from '../oracles/siphash.ts'
import { randomFrom } from '../support/random.mjs'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function nameNumber(name: string): number {
  let h = 17
  for (let i = 0; i < name.length; i++) h = (Math.imul(h, 31) + name.charCodeAt(i)) >>> 0
  return h
}

function listOf(urls: readonly string[]): UrlList {
  const bytes = encoder.encode(`${urls.join('\n')}\n`)
  const ends = new Uint32Array(urls.length)
  const starts = new Uint32Array(urls.length)
  let at = 0
  urls.forEach((url, i) => {
    starts[i] = at
    at += encoder.encode(url).length
    ends[i] = at++
  })
  return {
    count: urls.length,
    bytes,
    starts,
    ends,
    at: (i) => urls[i]!,
    lines: (from, to) => encoder.encode(urls.slice(from, to).join('\n')),
  }
}

/** Distinct URLs of many sites whose folders come in any order: number i is always the same. */
function seededUrls(length: number): string[] {
  const random = randomFrom(11)
  const words = Array.from({ length: 60 }, (_, i) => `w${i}`)
  const word = () => words[Math.floor(random() * words.length)]!
  return Array.from({ length }, (_, i) => {
    const host = `${random() < 0.5 ? 'http' : 'https'}://site${Math.floor(random() ** 3 * 500)}.example`
    const shape = random()
    if (shape < 0.05) return `${host}/y${i}/y${i}`
    if (shape < 0.3) return `${host}/page${i}`
    return `${host}/${word()}/${word()}/${i.toString(36)}${shape < 0.4 ? '/' : ''}`
  })
}

const urls = seededUrls(100_000)

function fakeLab(most: number): Lab {
  return {
    quick: true,
    seed: 1,
    tables: [],
    urls: async (wanted) => listOf(urls.slice(0, Math.min(most, wanted))),
    random: (name) => randomFrom(nameNumber(name)),
    key: (name) => Uint8Array.from({ length: 16 }, (_, i) => nameNumber(`${name} ${i}`) & 255),
    progress: () => {},
  }
}

const results = new Map<Experiment, Promise<Result>>()
const sizes = new Map<Experiment, number>([
  [cen2010, 20_000],
  [termProject, 20_000],
  [equalMemory, 12_000],
  [growth, 20_000],
  [baselines, 12_000],
])

function resultOf(experiment: Experiment): Promise<Result> {
  const known = results.get(experiment) ?? experiment.run(fakeLab(sizes.get(experiment)!))
  results.set(experiment, known)
  return known
}

const column = (table: Table, name: string) => {
  const at = table.columns.findIndex((one) => one.name === name)
  if (at < 0) throw new Error(`no column '${name}' in '${table.title}'`)
  return at
}
const cell = (table: Table, row: readonly Cell[], name: string) => row[column(table, name)]!
const number = (table: Table, row: readonly Cell[], name: string) => Number(cell(table, row, name))

/** The table without its times. */
const untimed = ({ title, columns, rows }: Table) => ({
  title,
  rows: rows.map((row) => row.filter((_, i) => !columns[i]!.timing)),
})

const everyExperiment = [...sizes.keys()].map((experiment) => ({ name: experiment.name, experiment }))

describe.each(everyExperiment)('$name', ({ experiment }) => {
  it('gives whole tables, and every rate lies within its interval', async () => {
    const { tables, plots, finding } = await resultOf(experiment)
    expect(finding.length).toBeGreaterThan(40)
    expect(finding).not.toMatch(/NaN|undefined|Infinity|null/)
    for (const table of tables) {
      expect(table.rows.length).toBeGreaterThan(0)
      for (const row of table.rows) expect(row).toHaveLength(table.columns.length)
      expect(
        table.rows.flat().filter((value) => typeof value === 'number' && !Number.isFinite(value)),
      ).toEqual([])
      if (!table.columns.some(({ name }) => name === 'low')) continue
      for (const row of table.rows) {
        const [asked, hits] = [number(table, row, 'asked'), number(table, row, 'false positives')]
        if (asked === 0) continue
        const { lower, upper } = clopperPearson({ hits, trials: asked })
        expect(number(table, row, 'rate')).toBe(hits / asked)
        expect(number(table, row, 'low')).toBe(lower)
        expect(number(table, row, 'high')).toBe(upper)
      }
    }
    for (const { series, x, y, alt } of plots) {
      expect(alt).not.toBe('')
      expect(series.length).toBeGreaterThan(0)
      for (const { points } of series) {
        for (const point of points) {
          expect(Number.isFinite(point.x) && Number.isFinite(point.y)).toBe(true)
          if (x.log) expect(point.x).toBeGreaterThan(0)
          if (y.log) expect(point.y).toBeGreaterThan(0)
        }
      }
    }
  })

  it('gives the same counts for the same seed', async () => {
    const again = await experiment.run(fakeLab(sizes.get(experiment)!))
    expect(again.tables.map(untimed)).toEqual((await resultOf(experiment)).tables.map(untimed))
  })
})

const bare = (url: string) => url.replace(/^https?:\/\//, '')

describe('cen2010', () => {
  it('counts what Bloom’s filter, written plainly, counts', async () => {
    const lab = fakeLab(3000)
    const { tables } = await cen2010.run(lab)
    const all = [...new Set(urls.slice(0, 3000).map(bare))]
    const scale = all.length / 3.5e6
    const key = lab.key('cen2010')
    const oracle = new ClassicOracle(Math.round(16_829_152 * scale), 3)
    const hash = (text: string) => siphash13(key, encoder.encode(text))
    const rows = tables[0]!.rows.filter((row) => row[1] === 'classic')
    let added = 0
    for (const [i, n] of [1e6, 1.5e6, 2e6, 2.5e6, 3e6, 3.5e6].map((n) => Math.round(n * scale)).entries()) {
      for (; added < n; added++) oracle.add(hash(all[added]!))
      const known = new Set(all.slice(0, n))
      const negatives = all.slice(0, n).map((url, at) => `${url}${at + 1}`)
      const asked = negatives.filter((url) => !known.has(url))
      expect(rows[i]![0]).toBe(n)
      expect(number(tables[0]!, rows[i]!, 'asked')).toBe(asked.length)
      expect(number(tables[0]!, rows[i]!, 'false positives')).toBe(
        asked.filter((url) => oracle.has(hash(url))).length,
      )
      const ones = oracle.bits.reduce((sum, bit) => sum + bit, 0)
      expect(number(tables[0]!, rows[i]!, 'fill')).toBeCloseTo(ones / oracle.bits.length, 12)
    }
  })

  it('finds every swapped and repeated negative in multilayer, and says so', async () => {
    const { tables, finding } = await resultOf(cen2010)
    const left = tables.find(({ title }) => title.startsWith('Negatives that the paper left out'))!
    for (const kind of ['swapped', 'repeated']) {
      const row = left.rows.find((one) => one[0] === kind && one[1] === 'multilayer')!
      expect(number(left, row, 'asked')).toBeGreaterThan(100)
      expect(cell(left, row, 'rate')).toBe(1)
      expect(finding).toContain(`${kind} segments 100 %`)
      for (const filter of ['classic', 'prefix-layers']) {
        const other = left.rows.find((one) => one[0] === kind && one[1] === filter)!
        expect(number(left, other, 'rate')).toBeLessThan(0.01)
      }
    }
  })

  it('names the filters that err less with the same memory', async () => {
    const { tables, finding } = await resultOf(cen2010)
    const same = tables.find(({ title }) => title.startsWith('The same memory'))!
    const last = same.rows.slice(-4)
    const wrong = (filter: string) => number(same, last.find((row) => row[1] === filter)!, 'false positives')
    expect(wrong('classic')).toBeLessThan(wrong('multilayer'))
    expect(finding).toContain(`classic ${count(wrong('classic'))}`)
    expect(finding).toContain('err less')
  })

  it('predicts what the recombined segments do', async () => {
    const { tables } = await resultOf(cen2010)
    const left = tables.find(({ title }) => title.startsWith('Negatives that the paper left out'))!
    const row = left.rows.find((one) => one[0] === 'recombined' && one[1] === 'multilayer')!
    const ratio = number(left, row, 'predicted rate') / number(left, row, 'rate')
    expect(ratio).toBeGreaterThan(0.75)
    expect(ratio).toBeLessThan(1.25)
  })
})

describe('term-project', () => {
  it('keeps the 5 % target in BF, and no error in the hash table', async () => {
    const { tables, finding } = await resultOf(termProject)
    const [table] = tables as [Table]
    for (const row of table.rows) {
      if (row[1] === 'hash table') expect(cell(table, row, 'false positives')).toBe(0)
      if (row[1] !== 'BF') continue
      // Whole k: the target is kept at the number of URLs that the filter was made for.
      expect(number(table, row, 'low')).toBeLessThan(0.0505)
      expect(number(table, row, 'high')).toBeGreaterThan(0.0495)
    }
    const last = table.rows.slice(-4)
    const [bf, mlbf] = ['BF', 'MLBF'].map((name) => last.find((row) => row[1] === name)!) as [Cell[], Cell[]]
    const fewer = number(table, mlbf, 'false positives') < number(table, bf, 'false positives')
    expect(finding).toContain(fewer ? ': fewer, with' : ': not fewer, with')
  })

  it('marks what is extrapolated', async () => {
    const { tables, finding } = await resultOf(termProject)
    const names = tables[1]!.columns.map(({ name }) => name)
    expect(names.filter((name) => name.startsWith('extrapolated'))).toHaveLength(2)
    expect(finding).toContain('Extrapolated')
  })
})

describe('equal-memory', () => {
  it('has the layered filters err more on recombined segments, and says so', async () => {
    const { tables, finding } = await resultOf(equalMemory)
    const at = (table: Table, filter: string) => table.rows.find((row) => row[0] === 12 && row[1] === filter)!
    const [natural, recombined] = tables as [Table, Table]
    const rate = (table: Table, filter: string) => number(table, at(table, filter), 'rate')
    expect(rate(recombined, 'multilayer')).toBeGreaterThan(2 * rate(natural, 'multilayer'))
    expect(finding).toMatch(/On recombined segments .*multilayer errs for/)
    // The classic filter does not know what a segment is.
    const low = number(recombined, at(recombined, 'classic'), 'low')
    expect(low).toBeLessThan(number(natural, at(natural, 'classic'), 'high'))
  })

  it('never wastes less than nothing', async () => {
    const [table] = (await resultOf(equalMemory)).tables as [Table]
    for (const row of table.rows) {
      expect(number(table, row, 'waste at most, bits')).toBeGreaterThan(0)
      const rate = number(table, row, 'rate')
      if (rate > 0) {
        expect(number(table, row, 'waste, bits')).toBeCloseTo(
          number(table, row, 'bits used/URL') + Math.log2(rate),
          9,
        )
      }
    }
  })
})

describe('growth', () => {
  it('counts every URL, and says whether its memory stays flat', async () => {
    const { tables, finding } = await resultOf(growth)
    const [table] = tables as [Table]
    expect(table.rows.map((row) => row[0])).toEqual([1e4, 3e4, 1e5, 3e5, 1e6])
    const bytes = table.rows.map((row) => number(table, row, 'bytes/URL'))
    const flat = Math.max(...bytes) / Math.min(...bytes) <= 2
    expect(finding).toContain(`its memory ${flat ? 'stays' : 'does not stay'} flat`)
  })
})

describe('baselines', () => {
  it('gives no wrong answer, and keeps each structure where it is bearable', async () => {
    const { tables, finding } = await resultOf(baselines)
    const [table] = tables as [Table]
    for (const row of table.rows) expect(cell(table, row, 'wrong answers')).toBe(0)
    const largest = (name: string) =>
      Math.max(...table.rows.filter((row) => row[0] === name).map((row) => Number(row[1])))
    expect(largest('linear')).toBeLessThanOrEqual(10_000)
    expect(finding).toContain('None gave a wrong answer.')
  })
})

describe('negatives', () => {
  const text = (lines: Uint8Array) => decoder.decode(lines).split('\n').slice(0, -1)

  it('takes every scheme off, and what is then the same only once', async () => {
    const some = ['http://a/1', 'https://a/1', 'http://http://b/2', 'a:80/x', 'c/d', 'ftp://e//f']
    const lab: Lab = { ...fakeLab(0), urls: async () => listOf(some) }
    const list = await bareUrls(lab, 10)
    expect(Array.from({ length: list.count }, (_, i) => list.at(i))).toEqual([
      'a/1',
      'b/2',
      'a:80/x',
      'c/d',
      'e//f',
    ])
    expect(text(numberedLines(list, 1, 3))).toEqual(['b/22', 'a:80/x3'])
  })

  it('makes each kind as it is described', async () => {
    const some = ['h/a/b', 'h/b/c', 'h/c/a/x', 'g/y/y', 'k/a', 'k/z', 'h/b/y', 'm/y/b']
    const lab: Lab = { ...fakeLab(0), urls: async () => listOf(some) }
    const pieces = new Pieces(await bareUrls(lab, 10), 4)
    expect([...pieces.counts]).toEqual([3, 3, 4, 3, 2, 2, 3, 3])
    const { swapped, repeated } = await orderBlindLines(lab, pieces, 100)
    // Layer 2 knows a b c y z; layer 3 knows b c a y.
    expect(text(swapped)).toEqual(['h/b/a', 'h/c/b', 'h/a/c/x', 'h/y/b', 'm/b/y'])
    expect(text(repeated)).toEqual(['g/a/a', 'g/b/b', 'g/c/c', 'g/y/y'])
    const layers = [0, 1, 2, 3].map((layer) => new Set(some.map((url) => url.split('/')[layer])))
    const mixed = text(recombinedLines(pieces, 50, randomFrom(3)))
    expect(mixed).toHaveLength(50)
    for (const url of mixed) {
      for (const [layer, piece] of url.split('/').entries()) expect(layers[layer]!.has(piece)).toBe(true)
    }
  })

  it('writes and keeps lines whatever their length', () => {
    const writer = new LineWriter(1)
    for (let i = 0; i < 300; i++)
      writer
        .copy(encoder.encode('x'.repeat(i)), 0, i)
        .slash()
        .number(i)
        .end()
    const lines = text(writer.lines)
    expect(lines[299]).toBe(`${'x'.repeat(299)}/299`)
    const { lines: kept, count: left } = keptLines(
      writer.lines,
      Uint8Array.from(lines, (_, i) => i % 2),
    )
    expect(text(kept)).toEqual(lines.filter((_, i) => i % 2))
    expect(left).toBe(150)
  })
})

describe('the XOR layer’s addresses', () => {
  it.each([{ bits: 65_536 }, { bits: 70_000 }, { bits: 52_590 }, { bits: 100_003 }])(
    'hit as often as drawn ones do, m = $bits',
    ({ bits }) => {
      const random = randomFrom(bits)
      const depths = [500, 4000, 6000, 7000]
      const draw = (pieces: number) => {
        let x = 0
        for (let i = 0; i < pieces; i++) x ^= Math.floor(random() * bits)
        return x % bits
      }
      const set = new Uint8Array(bits)
      depths.forEach((n, c) => {
        for (let i = 0; i < 3 * n; i++) set[draw(c + 1)] = 1
      })
      const fill = set.reduce((sum, bit) => sum + bit, 0) / bits
      const rates = xorHitRates({ bits, fill, depths })
      const trials = 100_000
      depths.forEach((_, c) => {
        let hits = 0
        for (let i = 0; i < trials; i++) hits += set[draw(c + 1)]!
        // The array itself is one draw of many: its own spread is in the bound.
        expect(Math.abs(hits / trials - rates[c]!)).toBeLessThan(0.012)
      })
      if (bits === 65_536) for (const rate of rates) expect(rate).toBeCloseTo(fill, 9)
    },
  )

  it('is never hit when empty, always when full', () => {
    expect(xorHitRates({ bits: 1000, fill: 0, depths: [1, 2] })).toEqual([0, 0])
    expect(xorHitRates({ bits: 1000, fill: 1, depths: [1, 2] })).toEqual([1, 1])
    expect(xorHitRates({ bits: 1000, fill: 0.5, depths: [0, 0] })).toEqual([0, 0])
  })
})

describe('wording', () => {
  it('shows numbers as people read them', () => {
    expect(count(3_500_000.4)).toBe('3,500,000')
    expect([0, 1, 0.05, 0.1234, 0.000431, 0.99988, 3e-9].map(percent)).toEqual([
      '0 %',
      '100 %',
      '5 %',
      '12.3 %',
      '0.043 %',
      '99.99 %',
      '3.0e-7 %',
    ])
    expect([1.274, 43.2, 10_345].map(factor)).toEqual(['1.27', '43', '10,345'])
    expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(listed)).toEqual(['', 'a', 'a and b', 'a, b and c'])
  })
})
