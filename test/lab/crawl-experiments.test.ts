// The experiments about words, URL caches, hash functions and crawls: their counts recomputed in another way, the same
// numbers for the same seed, and findings that follow from the numbers.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { crawl } from '../../src/lab/crawl.ts'
import type { Cell, Experiment, Result, Table } from '../../src/lab/experiment.ts'
import { crawlLoss } from '../../src/lab/experiments/crawl-loss.ts'
import { hashes } from '../../src/lab/experiments/hashes.ts'
import { jiang } from '../../src/lab/experiments/jiang/experiment.ts'
import { sharma } from '../../src/lab/experiments/sharma/experiment.ts'
import {
  layerReadings,
  madeOfKnownWords,
  presentShare,
} from '../../src/lab/experiments/sharma/measurement.ts'
import { urlCache } from '../../src/lab/experiments/url-cache/experiment.ts'
import { clopperPearson } from '../../src/lab/interval.ts'
import { inLinks, linkGraph, reachable } from '../../src/lab/link-graph.ts'
import { shuffle } from '../../src/lab/shuffle.ts'
import { siteTemplates, unlikeUrls } from '../../src/lab/site-urls.ts'
import { largestSite, sitesOf } from '../../src/lab/sites.ts'
import { generatedTitles, readTitles, textColumn } from '../../src/lab/titles.ts'
import { Sieve } from '../../src/sieve.ts'
import { classicPlan } from '../../src/sizing/classic.ts'
import { randomFrom } from '../support/random.mjs'
import { listOf, smallLab } from './small-lab.ts'

const encoder = new TextEncoder()

/** Distinct URLs of 400 sites, a few of them large: number i is always the same. */
function seededUrls(count: number): string[] {
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

const all = seededUrls(100_000)
const fakeLab = (tables: readonly string[] = []) => smallLab(all, tables)

const column = ({ columns }: Table, name: string) => {
  const at = columns.findIndex((one) => one.name === name)
  expect(at, `column ${name}`).toBeGreaterThanOrEqual(0)
  return at
}

/** The rows of a table as objects by column. */
const records = (table: Table): Record<string, Cell>[] =>
  table.rows.map((row) => Object.fromEntries(table.columns.map(({ name }, i) => [name, row[i] ?? null])))

/** Everything that a seed decides: no times. */
const decided = ({ finding, tables }: Result) => ({
  finding,
  tables: tables.map(({ columns, rows }) => rows.map((row) => row.filter((_, i) => !columns[i]!.timing))),
})

/** A plain Bloom filter: the papers' functions modulo m. */
function plainFilter(bits: number, k: number, hash: (text: Uint8Array, start: number) => number) {
  const set = new Set<number>()
  const addresses = (text: string) => {
    const bytes = encoder.encode(text)
    return Array.from({ length: k }, (_, j) => hash(bytes, j) % bits)
  }
  return {
    add: (text: string) => {
      for (const at of addresses(text)) set.add(at)
    },
    has: (text: string) => addresses(text).every((at) => set.has(at)),
    ones: () => set.size,
  }
}

function jenkins(bytes: Uint8Array, start: number): number {
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

const poly31 = (bytes: Uint8Array, start: number) =>
  bytes.reduce((h, byte) => (Math.imul(h, 31) + byte) >>> 0, start)
const djb2 = (bytes: Uint8Array) => bytes.reduce((h, byte) => (Math.imul(h, 33) + byte) >>> 0, 5381)

function murmur3(bytes: Uint8Array, seed: number): number {
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

const results = new Map<string, Result>()
const experiments: readonly Experiment[] = [sharma, jiang, urlCache, hashes, crawlLoss]

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

describe('sharma', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'urlsieve-titles-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('counts by Algorithm 5 what a plain filter and a plain layer count', () => {
    const { titles } = generatedTitles(2000, fakeLab().random('sharma titles'))
    const half = 1000
    const { bits, hashes: k } = classicPlan({ urls: half, rate: 0.05 })
    let [single, layered] = [0, 0]
    for (let round = 0; round < 4; round++) {
      const random = fakeLab().random(`sharma generated titles ${round}`)
      const mixed = shuffle([...titles], random)
      const sample = shuffle([...mixed], random).slice(0, half)
      const halves = [mixed.slice(0, half), mixed.slice(half)].map((part) => {
        const filter = plainFilter(bits, k, murmur3)
        const words = plainFilter(bits, k, murmur3)
        const xors = new Set<number>()
        // One layer for all words, and the XOR of their addresses, modulo m where it leaves the array.
        const xorsOf = (title: string) =>
          Array.from({ length: k }, (_, j) => {
            const all = title.split(' ').map((word) => murmur3(encoder.encode(word), j) % bits)
            return all.reduce((x, at) => x ^ at, 0) % bits
          })
        for (const title of part) {
          filter.add(title)
          for (const word of title.split(' ')) words.add(word)
          for (const at of xorsOf(title)) xors.add(at)
        }
        return {
          filter,
          hasLayered: (title: string) =>
            title.split(' ').every(words.has) && xorsOf(title).every((at) => xors.has(at)),
        }
      })
      single += sample.filter((title) => halves.every(({ filter }) => filter.has(title))).length
      layered += sample.filter((title) => halves.every(({ hasLayered }) => hasLayered(title))).length
    }
    const rows = records(results.get('sharma')!.tables[0]!)
    expect(rows[0]).toMatchObject({ filter: 'single, same target', queries: 4000, 'false positives': single })
    expect(rows.find(({ layers }) => layers === 1)).toMatchObject({ 'false positives': layered })
    expect(rows[0]!.precision).toBe(4000 / (4000 + single))
  })

  it('finds that the claim fails, and that words in another order pass', () => {
    const { finding, tables } = results.get('sharma')!
    const gains = records(tables[0]!).map((row) => row['precision gained'] as number)
    expect(Math.max(...gains)).toBeLessThan(0.15)
    expect(finding).toContain('is not there')
    const swapped = records(tables[1]!).filter(
      (row) => row['absent title'] === 'two words of one layer swapped',
    )
    for (const row of swapped.filter(({ filter }) => String(filter).startsWith('layers')))
      expect(row.rate).toBe(1)
    for (const row of swapped.filter(({ filter }) => String(filter).startsWith('single')))
      expect(row.rate).toBeLessThan(0.1)
  })

  it('takes the title column, else the first of text', async () => {
    const path = join(folder, 'films.csv')
    const text = 'id,Title,year\r\n1,"One, two ""three""",1999\r\n2,Four\r\n3,"One, two ""three""",2001\r\n'
    writeFileSync(path, text)
    writeFileSync(`${path}.gz`, gzipSync(text))
    const expected = { column: 'Title', titles: ['One, two "three"', 'Four'] }
    expect(await readTitles(path, 10)).toMatchObject({ name: 'films.csv', ...expected })
    expect(await readTitles(`${path}.gz`, 10)).toMatchObject(expected)
    expect((await readTitles(path, 1)).titles).toEqual(['One, two "three"'])
    expect(textColumn(['n', 'original_title'], [])).toBe(1)
    expect(
      textColumn(
        ['n', 'name'],
        [
          ['1', 'a'],
          ['2', 'b'],
        ],
      ),
    ).toBe(1)
    await expect(readTitles(join(folder, 'none.csv'), 10)).rejects.toThrow(/ENOENT/)
  })

  it('runs over the tables it is given', async () => {
    const path = join(folder, 'many.csv')
    const { titles } = generatedTitles(300, randomFrom(3))
    writeFileSync(path, `n,title\n${titles.map((title, i) => `${i},${title}`).join('\n')}\n`)
    const { tables } = await sharma.run(fakeLab([path]))
    expect(new Set(records(tables[0]!).map(({ table }) => table))).toEqual(new Set(['many.csv']))
    expect(records(tables[0]!)[0]!.queries).toBe(4 * 150)
  })

  it('knows its readings of the layers, and the share of questions a gain needs', () => {
    const titles = ['a b c d e f g h', 'a b', 'c', 'x y z q']
    // 15 words in 4 titles are 4 each; the longest has 8; 12 distinct.
    expect(layerReadings(titles, 2)).toMatchObject([{ layers: 2 }, { layers: 4 }, { layers: 6 }])
    const share = presentShare(0.05, 0.005, 0.15)
    const precision = (rate: number) => share / (share + (1 - share) * rate)
    expect(precision(0.005) / precision(0.05)).toBeCloseTo(1.15, 10)
    const kinds = madeOfKnownWords(['a b c', 'c b a', 'd e'], 1, randomFrom(1))
    expect(kinds[0]!.absent).toEqual(['e d'])
    expect(kinds[1]!.absent).toEqual(['b a c', 'b c a', 'e d'])
  })
})

describe('jiang', () => {
  it('counts what a plain filter with Jenkins’ hash counts', () => {
    const template = siteTemplates(fakeLab().random('jiang sites')).counter
    const filter = plainFilter(32 * 1000, 3, jenkins)
    for (let i = 0; i < 1000; i++) filter.add(template(i))
    let hits = 0
    for (let i = 1000; i < 21_000; i++) hits += filter.has(template(i)) ? 1 : 0
    const row = records(results.get('jiang')!.tables[0]!)[0]
    expect(row).toMatchObject({ URLs: 'counter', hash: 'jenkins', depth: 1000, queries: 20_000 })
    expect(row).toMatchObject({ filter: 'classic, m, k = 3', 'false positives': hits })
  })

  it('finds the second region idle on one site, and the same memory better', () => {
    const { finding, tables } = results.get('jiang')!
    const counter = records(tables[0]!).filter(
      ({ URLs, hash, depth }) => URLs === 'counter' && hash === 'jenkins' && depth === 5000,
    )
    const of = (filter: string) => counter.find((row) => row.filter === filter)!['false positives'] as number
    expect(of('eigenvalue, 4m/3, host-initials')).toBe(of('classic, m, k = 3'))
    expect(of('classic, 4m/3, k = 4')).toBeLessThan(of('classic, m, k = 3'))
    expect(finding).toMatch(/the extension is [\d.,]+ times worse/)
    expect(finding).toMatch(/it wins 0 and loses [1-9]/)
    expect(records(tables[0]!).some(({ URLs }) => URLs === 'www.site0.example')).toBe(true)
  })

  it('has templates that never repeat a URL', () => {
    const templates = { ...siteTemplates(randomFrom(5)), unlike: unlikeUrls(randomFrom(5)) }
    for (const template of Object.values(templates)) {
      expect(new Set(Array.from({ length: 20_000 }, (_, i) => template(i))).size).toBe(20_000)
    }
  })

  it('finds the largest site of a list', () => {
    const list = listOf(['http://a/1', 'https://B.c?x', 'http://b.c/2', 'ftp://b.c#f', 'mailto:x', 'A/b'])
    expect(sitesOf(list).names).toEqual(['a', 'b.c', 'mailto:x'])
    expect(largestSite(list)).toEqual({ name: 'b.c', urls: Uint32Array.of(1, 2, 3) })
  })
})

describe('url-cache', () => {
  it('counts what a plain filter with the rolling hash counts', () => {
    const urls = 12_000
    const filter = plainFilter(8 * urls, 3, poly31)
    for (const url of all.slice(0, urls)) filter.add(url)
    const hits = all.slice(urls, 30_000).filter(filter.has).length
    const rows = records(results.get('url-cache')!.tables[1]!)
    const row = rows.find((one) => one.hash === 'k of poly31' && one['m/n'] === '8' && one.k === 3)
    expect(row).toMatchObject({ queries: 18_000, 'false positives': hits })
  })

  it('marks one optimum of each kind for each hash and size, and finds the default half full', () => {
    const { finding, tables } = results.get('url-cache')!
    const rows = records(tables[1]!)
    for (const name of new Set(rows.map(({ hash }) => hash))) {
      for (const ratio of ['3 / ln 2', '8']) {
        const same = rows.filter(({ hash, 'm/n': of }) => hash === name && of === ratio)
        const lowest = same.filter(({ optimum }) => String(optimum).includes('lowest'))
        expect(lowest.length).toBe(1)
        expect(lowest[0]!['false positives']).toBe(
          Math.min(...same.map((row) => Number(row['false positives']))),
        )
        expect(same.filter(({ optimum }) => String(optimum).includes('ln 2')).length).toBe(1)
      }
    }
    const paper = rows.find(({ hash, k, 'm/n': of }) => hash === 'siphash' && k === 3 && of === '3 / ln 2')!
    expect(Math.abs((paper.formula as number) - 0.125)).toBeLessThan(1e-4)
    expect(Math.abs((paper.rate as number) - 0.125)).toBeLessThan(0.015)
    expect(finding).toMatch(/lose 1[1-4]\.\d % of new URLs/)
    const held = records(tables[2]!)
    expect(held.at(-1)).toMatchObject({ structure: 'hash set of strings', 'false positives': 0 })
    expect(held.at(-1)!['bytes/URL']).toBeGreaterThan(50)
    expect(held[0]!['bytes/URL']).toBeLessThan(0.55)
  })
})

describe('hashes', () => {
  it('agrees with a plain DJB2 on collisions, evenness and fill', () => {
    const words = all.slice(0, 60_000).map((url) => djb2(encoder.encode(url)))
    const { tables } = results.get('hashes')!
    const row = records(tables[1]!).find(({ hash }) => hash === 'djb2')!
    expect(row.collisions).toBe(words.length - new Set(words).size)
    const buckets = new Array<number>(65536).fill(0)
    for (const word of words) buckets[word % 65536]!++
    const mean = words.length / 65536
    const chi = buckets.reduce((sum, n) => sum + (n - mean) ** 2 / mean, 0)
    expect(row['z of low bits']).toBeCloseTo((chi - 65535) / Math.sqrt(2 * 65535), 6)
    const bits = Math.ceil((3 * 30_000) / Math.LN2)
    const filter = plainFilter(bits, 3, poly31)
    for (const url of all.slice(0, 30_000)) filter.add(url)
    const filled = records(tables[0]!).find(({ hash, k }) => hash === 'poly31' && k === 3)!
    expect(filled.fill).toBe(filter.ones() / bits)
  })

  it('finds the good functions even and as full as the formula says', () => {
    const { tables } = results.get('hashes')!
    const good = ['siphash', 'xxh64', 'murmur3', 'md5']
    for (const row of records(tables[1]!).filter(({ hash }) => good.includes(String(hash)))) {
      expect(Math.abs(row['z of low bits'] as number)).toBeLessThan(5)
      expect(Math.abs(row['z of high bits'] as number)).toBeLessThan(5)
    }
    for (const row of records(tables[0]!).filter(({ hash }) => good.includes(String(hash)))) {
      expect(Math.abs(row.z as number)).toBeLessThan(5)
    }
    expect(tables[1]!.columns.find(({ name }) => name === 'ns/URL')?.timing).toBe(true)
  })
})

describe('crawl-loss', () => {
  const urls = all.slice(0, 3000)
  const list = listOf(urls)
  const graph = linkGraph({ siteOf: sitesOf(list).of, repeats: 0.86, random: randomFrom(11) })

  it('makes a graph whose pages are all within reach, with as many repeats as asked', () => {
    expect(reachable(graph)).toBe(3000)
    expect(1 - 2999 / graph.targets.length).toBeCloseTo(0.86, 3)
    const counts = inLinks(graph)
    expect(counts.reduce((sum, n) => sum + n, 0)).toBe(graph.targets.length)
    expect(Math.max(...counts)).toBeGreaterThan(100)
    expect(counts.filter((n) => n <= 1).length / 3000).toBeGreaterThan(0.3)
    expect(reachable({ ...graph, targets: new Uint32Array(graph.targets.length) })).toBe(1)
  })

  it('loses nothing with an exact filter', async () => {
    const done = crawl(graph, list, await Sieve.create({ filter: 'hash-set', profile: 'raw' }))
    expect(done).toEqual({ fetched: 3000, queried: 3000, links: graph.targets.length, expectedLosses: 0 })
  })

  it('loses the same pages as a crawl of one link at a time', async () => {
    const options = {
      filter: 'classic',
      profile: 'raw',
      key: new Uint8Array(16),
      bits: 12_000,
      hashes: 3,
    } as const
    const done = crawl(graph, list, await Sieve.create(options))
    const sieve = await Sieve.create(options)
    const queue = [0]
    const asked = new Set(queue)
    let links = 0
    sieve.add(urls[0]!)
    for (const page of queue) {
      for (const target of graph.targets.subarray(graph.starts[page], graph.starts[page + 1])) {
        links++
        asked.add(target)
        if (sieve.add(urls[target]!)) queue.push(target)
      }
    }
    expect(done).toMatchObject({ fetched: queue.length, queried: asked.size, links })
    expect(queue.length).toBeLessThan(asked.size)
    expect(asked.size).toBeLessThan(3000)
    const losses = asked.size - queue.length
    expect(Math.abs(losses - done.expectedLosses)).toBeLessThan(5 * Math.sqrt(done.expectedLosses))
  })

  it('adds up, and loses less with more memory', () => {
    const { finding, tables } = results.get('crawl-loss')!
    const rows = records(tables[0]!)
    for (const row of rows) {
      expect((row['lost directly'] as number) + (row['lost behind'] as number)).toBe(row['lost in all'])
    }
    expect(rows.find(({ filter }) => filter === 'fingerprint')!['lost in all']).toBe(0)
    for (const name of ['classic', 'multilayer', 'keyword-layers']) {
      const [least, , most] = rows
        .filter(({ filter }) => filter === name)
        .map((row) => Number(row['lost in all']))
      expect(most).toBeLessThan(least!)
    }
    expect(finding).toMatch(/fingerprint \(\d+ bits per URL\) loses 0/)
  })
})
