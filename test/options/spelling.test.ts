// Options as people write them: read by flag or word, and spelled back.
import { describe, expect, it } from 'vitest'
import { bySpelling, readOption, spellWith } from '../../src/options/spelling.ts'
import { filterOptions, sharedNames } from '../../src/sieve-options.ts'

const flags = bySpelling(filterOptions, ({ flag }) => flag)
const read = (flag: string, text: string) => readOption(flag, flags.get(flag)!, text)

it('flags and words are unambiguous: options that share one differ by what is written', () => {
  const words = bySpelling(filterOptions, ({ word }) => word)
  expect([...flags.values()].filter((group) => group.length > 1)).toHaveLength(1)
  expect(words.size).toBe(flags.size)
  for (const [flag] of flags) expect(flag).toMatch(/^--[a-z]+(-[a-z]+)*$/)
  for (const [word] of words) expect(word).toMatch(/^[A-Z]+$/)
  for (const { flag, word } of sharedNames) {
    expect(flags.has(flag)).toBe(false)
    expect(words.has(word)).toBe(false)
  }
})

describe('a text', () => {
  it.each([
    ['--urls', '10M', 'expectedUrls', 1e7],
    ['--fpr', '0.1%', 'falsePositiveRate', 0.001],
    ['--memory', '64M', 'sizeBytes', 64 * 1024 ** 2],
    ['--window', '30d', 'windowMs', 30 * 86_400_000],
    ['--window', '1.5h', 'windowMs', 5_400_000],
    ['--window', '1e6', 'windowUrls', 1e6],
    ['--depth', 'grow', 'depth', 'grow'],
  ])('%s %s is %s', (flag, text, name, value) => {
    expect(read(flag, text)).toEqual({ name, value })
  })

  it('that cannot be read is refused with what is expected', () => {
    expect(() => read('--window', 'long')).toThrow(
      "--window 'long': expected a time such as 30s, 5min or 1h, or a whole number such as 1000000, 1e6 or 10M",
    )
    expect(() => read('--layers', 'x')).toThrow(
      "--layers 'x': expected a whole number such as 1000000, 1e6 or 10M",
    )
  })
})

it('names are spelled by their description, others as given', () => {
  const spell = spellWith(filterOptions, ({ word }) => word, { keepKeys: 'KEEP' })
  expect(['expectedUrls', 'windowMs', 'keepKeys', 'name'].map(spell)).toEqual([
    'URLS',
    'WINDOW',
    'KEEP',
    'name',
  ])
})
