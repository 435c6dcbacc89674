// The experiments about URL caches, hash functions and crawls: their counts recomputed in another way, the same numbers for the
// same seed, and findings that follow from the numbers.
import { describe, expect, it } from 'vitest'
import { crawl } from '../../src/lab/crawl.ts'
import { crawlLoss } from '../../src/lab/experiments/crawl-loss.ts'
import { hashes } from '../../src/lab/experiments/hashes.ts'
import { urlCache } from '../../src/lab/experiments/url-cache/experiment.ts'
import { inLinks, linkGraph, reachable } from '../../src/lab/link-graph.ts'
import { sitesOf } from '../../src/lab/sites.ts'
import { Sieve } from '../../src/sieve.ts'
import { randomFrom } from '../support/random.mjs'
import {
  all,
  describeExperiments,
  djb2,
  encoder,
  plainFilter,
  poly31,
  records,
  results,
} from './experiment-suite.ts'
import { listOf } from './small-lab.ts'

describeExperiments([urlCache, hashes, crawlLoss])
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
