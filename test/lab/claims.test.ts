// The verdicts: every experiment has some, the table has them all, and the parts that they rest on are right.
import { describe, expect, it, test } from 'vitest'
import { BareUrls } from '../../src/lab/bare-urls.ts'
import { claimTable, memoryVerdict, verdict } from '../../src/lab/claims.ts'
import { jenkinsAsPrinted } from '../../src/lab/experiments/jiang/more-hashes.ts'
import { replicaTable, replicate } from '../../src/lab/experiments/term-project/procedure.ts'
import { partLines, SplitFilter } from '../../src/lab/split-filter.ts'
import { clustered, measuredRate } from '../../src/lab/trial.ts'
import { unboundedHits } from '../../src/lab/unbounded.ts'
import { listOf, smallLab } from './small-lab.ts'

const encoder = new TextEncoder()

describe('verdicts', () => {
  test('the first case that holds', () => {
    expect(verdict([false, 'confirmed'], [true, 'not reproduced'])).toBe('not reproduced')
    expect(verdict([false, 'confirmed'])).toBe('wrong')
    expect(memoryVerdict(true, true)).toBe('confirmed')
    expect(memoryVerdict(true, false)).toBe('confirmed only with more memory')
    expect(memoryVerdict(false, true)).toBe('not reproduced')
  })

  test('an empty run has an empty table', () => expect(claimTable([]).rows).toEqual([]))
})

describe('parts of keys in one filter', () => {
  it('cuts at slashes, or at what is in no word', () => {
    const lines = encoder.encode('a.com//b/c\n\nx\n')
    const text = (split: 'segments' | 'words') => {
      const { lines: parts, counts } = partLines(lines, split)
      return [new TextDecoder().decode(parts), counts]
    }
    expect(text('segments')).toEqual(['a.com\n\nb\nc\n\nx\n', [4, 1, 1]])
    expect(text('words')).toEqual(['a\ncom\nb\nc\nx\n', [4, 0, 1]])
  })

  it('has every key, and every combination of its parts', async () => {
    const filter = await SplitFilter.create({ filter: 'classic', expectedUrls: 100 }, 'segments')
    filter.addMany(['a/b', 'c/d'])
    expect([...filter.hasMany(['a/b', 'c/d', 'a/d', 'd/a/a', 'a/x', 'x'])]).toEqual([1, 1, 1, 1, 0, 0])
    expect(filter.hasMany([]).length).toBe(0)
  })
})

describe('the procedure of term-project', () => {
  const urls = Array.from({ length: 2000 }, (_, i) => `site${i % 40}.example/p/${i}`)
  const list = listOf(urls)
  const bare = new BareUrls(list.bytes, list.starts, list.ends)

  it('queries half of the lines, divides by all, and finds the repeats rightly', async () => {
    const printed = { lines: 1001, repeats: 50, counts: { BF: [10, 20] as [number, number] } }
    const replicated = await replicate(smallLab(urls), bare, 1001, printed)
    expect(replicated.map(({ structure }) => structure)).toEqual(['BF', 'MLBF', 'segments in one filter'])
    for (const { queries, repeats, found } of replicated) {
      expect(queries).toBe(501)
      // Each of the 50 URLs has two rows, of which half are queried.
      expect(repeats).toBeGreaterThan(25)
      expect(repeats).toBeLessThan(75)
      expect(found).toBeGreaterThanOrEqual(repeats)
    }
    const { rows } = replicaTable(replicated)
    expect(rows[0]![5]).toBe(replicated[0]!.found / 1001)
    expect(rows[0]!.at(-2)).toBe('10 … 20')
    expect(rows[2]!.at(-1)).toBeNull()
  })
})

test('clustered counts: what comes together counts once', () => {
  const alone = Array.from({ length: 1000 }, (_, i) => ({ hits: i % 10 === 0 ? 1 : 0, trials: 1 }))
  const pooled = measuredRate(100, 1000)
  expect(clustered(alone).low).toBeCloseTo(pooled.low, 12)
  expect(clustered(alone).high).toBeCloseTo(pooled.high, 12)
  const together = Array.from({ length: 100 }, (_, i) => ({ hits: i % 10 === 0 ? 10 : 0, trials: 10 }))
  const wide = clustered(together)
  expect(wide.rate).toBe(pooled.rate)
  expect((wide.high - wide.rate) / (pooled.high - pooled.rate)).toBeCloseTo(Math.sqrt(10), 9)
  expect(clustered([{ hits: 0, trials: 10 }])).toEqual(measuredRate(0, 10))
})

test('Jenkins’ function as printed depends on the length, and on nothing else', () => {
  const values = Array.from({ length: 100 }, (_, length) => jenkinsAsPrinted(length, 0))
  expect(new Set(values).size).toBeGreaterThan(95)
  expect(jenkinsAsPrinted(12, 3)).toBe(jenkinsAsPrinted(12, 3))
  expect(jenkinsAsPrinted.length).toBe(2)
})

test('integers without bounds: as the exact functions give', () => {
  const urls = Array.from({ length: 300 }, (_, i) => `https://example.org/${i * 7919}/page?x=${i}`)
  const list = listOf(urls)
  const bits = 900
  const places = (url: string) => {
    let [one, two, three] = [0n, 5381n, 17n]
    for (const byte of encoder.encode(url)) {
      const c = BigInt(byte)
      one = one * 31n + c
      two = two * 33n + c
      three ^= (three << 5n) + (three >> 2n) + c
    }
    return [one, two, three].map((hash) => Number(hash % BigInt(bits)))
  }
  const set = new Set(urls.slice(0, 200).flatMap(places))
  const hits = urls.slice(200).filter((url) => places(url).every((at) => set.has(at))).length
  expect(unboundedHits(list, 200, [bits / 200])).toEqual([hits])
  expect(hits).toBeGreaterThan(0)
})
