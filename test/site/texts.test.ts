// What the page writes: numbers as people read them, and what changed between two spellings of a URL.
import { describe, expect, test } from 'vitest'
import { nearest, paths, roundUp, scaleOf } from '../../site/src/chart-scale.ts'
import { difference } from '../../site/src/difference.ts'
import { bytes, compact, count, duration, oneIn, plural, rate, share, uptime } from '../../site/src/format.ts'
import { History } from '../../site/src/history.ts'
import { ticks } from '../../site/src/time-axis.ts'

describe('numbers', () => {
  test.each([
    [count(1234567), '1,234,567'],
    [compact(0), '0'],
    [compact(9876), '9,880'],
    [compact(12_345), '12.3 k'],
    [compact(999_999), '1 M'],
    [compact(1_234_567), '1.23 M'],
    [bytes(999), '999 B'],
    [bytes(16_448), '16.1 KiB'],
    [bytes(1_048_575), '1.0 MiB'],
    [bytes(4.1e9), '3.8 GiB'],
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
    [duration(0.00012), '120 µs'],
    [duration(0.0035), '3.5 ms'],
    [duration(0.9999), '1 s'],
    [uptime(59), '59 s'],
    [uptime(3599), '59 min'],
    [uptime(90_000), '1 d 1 h'],
    [uptime(7500), '2 h 5 min'],
  ])('%s', (got, expected) => expect(got).toBe(expected))

  test.each([
    [0, 1],
    [1, 1],
    [1.2, 2],
    [3100, 5000],
    [70, 100],
  ])('a chart up to %d ends at %d', (most, top) => expect(roundUp(most)).toBe(top))
})

describe('charts', () => {
  const HOUR = 3_600_000
  test('a line with a gap where there is no value, and where two samples are too far apart', () => {
    const { line, area } = paths([0, 1, 2, 3, 9], [1, 2, null, 4, 5], (value) => value, 2)
    expect(line).toBe('M0.00 1.00h.01L1.00 2.00M3.00 4.00h.01M9.00 5.00h.01')
    expect(area.match(/Z/g)!.length).toBe(3)
  })

  test('powers of ten around the values, up to the most there can be', () => {
    expect(scaleOf('log', [2e-6, 3e-4]).marks).toEqual([1e-3, 1e-7])
    expect(scaleOf('log', [0.5], 1).marks).toEqual([1, 0.1])
    expect(scaleOf('log', [5]).marks[0]).toBe(100)
    expect(scaleOf('zero', [30]).marks).toEqual([50, 25])
    expect(scaleOf('bytes', [176 * 1024]).marks).toEqual([256 * 1024, 128 * 1024])
    expect(scaleOf('bytes', [4096]).marks).toEqual([4096, 2048])
    expect(scaleOf('bytes', []).marks).toEqual([2, 1])
    expect(scaleOf('log', []).y(0)).toBe(60)
  })

  test('the sample nearest to a time', () => {
    expect([-5, 4, 5, 6, 14, 16, 99].map((at) => nearest([0, 10, 20], at))).toEqual([0, 0, 0, 1, 1, 2, 2])
    expect(nearest([], 3)).toBe(-1)
  })

  test('round times of the local clock', () => {
    const from = Date.UTC(2026, 0, 1, 10, 7)
    const places = (most: number, span: number, offset: number) =>
      ticks(from, from + span, most, offset).map(({ at }) => (from + at * span - Date.UTC(2026, 0, 1)) / HOUR)
    expect(places(4, HOUR, 0)).toEqual([10.25, 10.5, 10.75, 11])
    expect(places(4, 24 * HOUR, 0)).toEqual([12, 18, 24, 30])
    // A zone that is half an hour ahead: other instants are round there.
    expect(places(4, 24 * HOUR, HOUR / 2)).toEqual([17.5, 23.5, 29.5])
  })
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
