// The experiments about words and features: their counts recomputed in another way, the same numbers for the same seed, and
// findings that follow from the numbers.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jiang } from '../../src/lab/experiments/jiang/experiment.ts'
import { sharma } from '../../src/lab/experiments/sharma/experiment.ts'
import {
  layerReadings,
  madeOfKnownWords,
  presentShare,
} from '../../src/lab/experiments/sharma/measurement.ts'
import { shuffle } from '../../src/lab/shuffle.ts'
import { siteTemplates, unlikeUrls } from '../../src/lab/site-urls.ts'
import { largestSite, sitesOf } from '../../src/lab/sites.ts'
import { generatedTitles, readTitles, textColumn } from '../../src/lab/titles.ts'
import { classicPlan } from '../../src/sizing/classic.ts'
import { randomFrom } from '../support/random.mjs'
import {
  describeExperiments,
  encoder,
  fakeLab,
  jenkins,
  murmur3,
  plainFilter,
  records,
  results,
} from './experiment-suite.ts'
import { listOf } from './small-lab.ts'

describeExperiments([sharma, jiang])
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
