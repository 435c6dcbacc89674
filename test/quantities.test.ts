// Values of options, as people write them.
import { describe, expect, it } from 'vitest'
import { formatBytes, formatCount, formatShort, parseCount, parseRate, parseSize } from '../src/quantities.ts'

describe.each<[string, (text: string) => number, [string, number][], string[]]>([
  [
    'a count',
    parseCount('--n'),
    [
      ['1', 1],
      ['1000000', 1e6],
      ['1e6', 1e6],
      ['1E6', 1e6],
      ['10M', 1e7],
      ['10B', 1e10],
      ['1.5k', 1500],
      ['2g', 2e9],
      ['1_000_000', 1e6],
    ],
    ['0', '-5', '1.5', '0.0001k', '1e30', '0x10', 'many', '', ' ', '_', '1.2.3M', '1e-3', '10T'],
  ],
  [
    'a rate',
    parseRate('--n'),
    [
      ['0.001', 0.001],
      ['.5', 0.5],
      ['1e-6', 1e-6],
      ['0.1%', 0.001],
      ['99%', 0.99],
    ],
    ['0', '1', '1.5', '-0.1', '0%', '100%', '1e-400', '1e999', 'half', '', '.', '0.1.5', '0,1', '1%%', '%'],
  ],
  [
    'a size',
    parseSize('--n'),
    [
      ['64', 64],
      ['1048576', 1024 ** 2],
      ['64K', 65536],
      ['64kb', 65536],
      ['64 KiB', 65536],
      ['1.5G', 1.5 * 1024 ** 3],
      ['2t', 2 * 1024 ** 4],
      ['100B', 100],
    ],
    ['0', '1', '63', '-64', '1P', '99999999T', '1e30', 'much', '', 'M', '1.2.3M', '64i'],
  ],
])('%s', (_, read, good, bad) => {
  it.each(good)('%s is %d', (text, value) => {
    expect(read(text)).toBeCloseTo(value, 12)
  })

  it.each(bad)('refuses %j, and says what it expects', (text) => {
    expect(() => read(text)).toThrow(`--n '${text}': expected a`)
    try {
      read(text)
    } catch (error) {
      expect(error).toMatchObject({ name: 'SieveError', code: 'option' })
    }
  })
})

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [102_400, '100 KiB'],
  [1.75 * 1024 ** 3, '1.8 GiB'],
  [5 * 1024 ** 4, '5.0 TiB'],
])('%d bytes read %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

describe('formatShort', () => {
  it.each([
    [0, '0'],
    [12, '12'],
    [9999, '9,999'],
    [10_000, '10 k'],
    [12_345, '12.3 k'],
    [999_999, '1 M'],
    [3_670_000, '3.67 M'],
    [5_700_000, '5.7 M'],
    [1.234e9, '1.23 G'],
  ])('%d is %s', (value, text) => {
    expect(formatShort(value)).toBe(text)
  })
})

it.each([
  [0, '0'],
  [7, '7'],
  [-1234, '-1,234'],
  [999, '999'],
  [1000, '1,000'],
  [123_456, '123,456'],
  [1_234_567, '1,234,567'],
  [1234.5678, '1,234.568'],
  [0.12345, '0.123'],
  [Number.MAX_SAFE_INTEGER, '9,007,199,254,740,991'],
])('the count %d is written %s', (count, text) => {
  expect(formatCount(count)).toBe(text)
})
