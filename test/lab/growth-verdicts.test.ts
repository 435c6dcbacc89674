// Verdicts on growth: from counted keys, so that times cannot change them, and each able to fail.
import { describe, expect, it } from 'vitest'
import { BareUrls } from '../../src/lab/bare-urls.ts'
import { claims, comparisonsPerMiss, type Outcome, prefixBytes } from '../../src/lab/experiments/baselines.ts'
import { listOf } from './small-lab.ts'

const list = listOf(Array.from({ length: 4096 }, (_, i) => `site.example/${(i * 2654435761) % 4096}/${i}`))
const urls = new BareUrls(list.bytes, list.starts, list.ends)

it('keys compared with a new URL: n by linear search, log n by binary search', () => {
  expect(comparisonsPerMiss('linear', urls, 1000)).toBe(1000)
  expect(comparisonsPerMiss('linear', urls, 4000)).toBe(4000)
  expect(comparisonsPerMiss('sorted-array', urls, 1024)).toBeCloseTo(10, 0)
  expect(comparisonsPerMiss('sorted-array', urls, 4096)).toBeCloseTo(12, 0)
  expect(comparisonsPerMiss('hash-set', urls, 1000)).toBeNull()
})

it('bytes of distinct prefixes: those of a radix trie', () => {
  const few = listOf(['a.com/x', 'a.com/xy', 'b.com', 'a.com/z'])
  expect(prefixBytes(new BareUrls(few.bytes, few.starts, few.ends), 4)).toEqual({
    all: 27 / 4,
    distinct: 14 / 4,
  })
})

describe('the verdicts', () => {
  const prefixes = { all: 60, distinct: 20 }
  const outcome = (
    structure: Outcome['structure'],
    n: number,
    comparisons: number | null,
    nsMiss: number,
  ) => ({
    ...{ structure, urls: n, comparisons, nsMiss },
    ...{ bytesPerUrl: 100, wrong: 0, nsAdd: 100, nsHit: 100 },
  })
  const verdicts = (linear: number, binary: number, nsMiss: number) =>
    claims(
      [
        ...[outcome('linear', 1e3, 1e3, 100), outcome('linear', 1e4, linear, nsMiss)],
        ...[outcome('sorted-array', 1e3, 10, 100), outcome('sorted-array', 1e5, binary, nsMiss)],
        ...[outcome('hash-set', 1e3, null, 100), outcome('hash-set', 1e5, null, nsMiss)],
        ...[outcome('trie', 1e3, null, 100), outcome('trie', 1e5, null, nsMiss)],
        ...[outcome('fingerprint', 1e3, null, 100), outcome('fingerprint', 1e5, null, nsMiss)],
      ],
      prefixes,
    )
      .filter(({ claim }) => /linear|binary/.test(claim))
      .map(({ verdict }) => verdict)

  it('the trie has one, at the largest n that both were measured at', () => {
    const all = [
      ...[outcome('linear', 1e3, 1e3, 1), outcome('linear', 1e4, 1e4, 1)],
      ...[outcome('sorted-array', 1e3, 10, 1), outcome('sorted-array', 1e5, 17, 1)],
      ...[outcome('hash-set', 1e3, null, 1), outcome('hash-set', 3e6, null, 1)],
      ...[outcome('trie', 1e3, null, 1), outcome('trie', 1e5, null, 1), outcome('trie', 1e6, null, 1)],
      outcome('fingerprint', 3e6, null, 1),
    ]
    expect(claims(all, prefixes).find(({ claim }) => claim.includes('trie'))?.number).toBe(
      '100 bytes per URL at 100,000; the keys in a sorted array 100. A radix trie would save: distinct prefixes have 20.0 of 60.0 bytes per URL',
    )
  })

  it('do not depend on times', () => {
    for (const nsMiss of [1, 86, 100, 1e6])
      expect(verdicts(1e4, 17, nsMiss)).toEqual(['confirmed', 'confirmed'])
  })

  it('can fail', () => {
    expect(verdicts(2e3, 17, 1e3)).toEqual(['not reproduced', 'confirmed'])
    expect(verdicts(1e4, 1e3, 170)).toEqual(['confirmed', 'not reproduced'])
  })
})
