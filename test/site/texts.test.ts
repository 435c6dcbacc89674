// What the page writes: numbers as people read them, and what changed between two spellings of a URL.
import { describe, expect, test } from 'vitest'
import { roundUp } from '../../site/src/chart.ts'
import { difference } from '../../site/src/difference.ts'
import { bytes, compact, count, oneIn, plural, rate, share } from '../../site/src/format.ts'
import { History } from '../../site/src/history.ts'

describe('numbers', () => {
  test.each([
    [count(1234567), '1,234,567'],
    [compact(0), '0'],
    [compact(9876), '9,880'],
    [compact(12_345), '12.3 k'],
    [compact(999_999), '1 M'],
    [compact(1_234_567), '1.23 M'],
    [bytes(999), '999 B'],
    [bytes(16_448), '16.4 kB'],
    [bytes(999_999), '1 MB'],
    [bytes(4.1e9), '4.1 GB'],
    [share(null), '–'],
    [share(0), '0 %'],
    [share(0.00042), '0.042 %'],
    [share(0.5), '50 %'],
    [share(1), '100 %'],
    [rate(null), '–'],
    [rate(0), '0'],
    [rate(0.0123), '0.012'],
    [rate(1e-6), '10⁻⁶'],
    [rate(9.96e-7), '10⁻⁶'],
    [rate(2.7e-15), '2.7 × 10⁻¹⁵'],
    [oneIn(1e-6), '1 in 1 M'],
    [plural(1, 'try', 'tries'), '1 try'],
    [plural(1200, 'try', 'tries'), '1,200 tries'],
  ])('%s', (got, expected) => expect(got).toBe(expected))

  test.each([
    [0, 1],
    [1, 1],
    [1.2, 2],
    [3100, 5000],
    [70, 100],
  ])('a chart up to %d ends at %d', (most, top) => expect(roundUp(most)).toBe(top))
})

describe('difference', () => {
  const shown = (before: string, after: string) => {
    const parts = difference(before, after)
    const mark = (list: readonly { text: string; changed: boolean }[]) =>
      list.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('')
    return [mark(parts.before), mark(parts.after)]
  }
  test.each([
    ['https://a.example/x#top', 'https://a.example/x', 'https://a.example/x[#top]', 'https://a.example/x'],
    ['http://a.example/', 'https://a.example/', 'http://a.example/', 'http[s]://a.example/'],
    ['HTTP://a.example:80/', 'http://a.example/', '[HTTP]://a.example[:80]/', '[http]://a.example/'],
    ['same', 'same', 'same', 'same'],
    ['', 'a', '', '[a]'],
    ['a?b=2&a=1', 'a?a=1&b=2', 'a?[b=2&]a=1', 'a?a=1[&b=2]'],
  ])('%s → %s', (before, after, ...expected) => expect(shown(before, after)).toEqual(expected))

  test('is quick, and loses no letter, for the longest URLs', () => {
    const before = `https://a.example/${'ab/../'.repeat(10_000)}`
    const parts = difference(before, 'https://a.example/x')
    expect(parts.before.map(({ text }) => text).join('')).toBe(before)
    expect(parts.after.map(({ text }) => text).join('')).toBe('https://a.example/x')
  })
})

describe('history', () => {
  const sieve = (adds: number, seen: number) => ({
    ...{ name: 'a', kind: 'sieve', filter: 'classic', profile: 'web', fresh: adds - seen, asks: 0, urls: 0 },
    ...{ adds, seen, sizeBytes: 8, fill: 0, expectedRate: 0.1, promisedRate: null, pastCapacity: false },
  })

  test('rates follow from two samples; a server that starts anew leaves a gap', () => {
    const history = new History()
    history.take(0, sieve(100, 50))
    history.take(2000, sieve(300, 200))
    history.take(3000, sieve(300, 200))
    history.take(4000, sieve(10, 10))
    expect(history.track.addsPerSecond).toEqual([null, 100, 0, null])
    expect(history.track.repeats).toEqual([null, 0.75, null, null])
    expect(history.latest('sizeBytes')).toBe(8)
  })

  test('two minutes are kept, and no more', () => {
    const history = new History()
    for (let i = 0; i < 500; i++) history.take(i * 1000, sieve(i, 0))
    expect(history.track.addsPerSecond.length).toBe(120)
  })
})
