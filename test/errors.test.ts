// SieveError: what it carries, and its message with the names of options as an edge spells them.
import { describe, expect, it } from 'vitest'
import { invalidOption, isAllocationFailure, option, SieveError, unreadable, wording } from '../src/errors.ts'
import { Sieve, type SieveOptions } from '../src/index.ts'

const upper = (name: string) => name.toUpperCase()

async function refusal(options: object): Promise<SieveError> {
  const error = await Sieve.create(options as SieveOptions).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(SieveError)
  return error as SieveError
}

describe('an invalid value', () => {
  it('carries the option, what was given and what is expected', () => {
    const error = invalidOption('layers', 0, 'a whole number from 1 to 64', 'leave it out')
    expect(error).toMatchObject({
      name: 'SieveError',
      code: 'option',
      option: 'layers',
      got: 0,
      expected: 'a whole number from 1 to 64',
      message: 'layers 0: expected a whole number from 1 to 64; leave it out',
    })
    expect(error.spell(upper)).toBe('LAYERS 0: expected a whole number from 1 to 64; leave it out')
  })

  it.each<[unknown, string]>([
    ['layers', "x 'layers': expected y"],
    [Number.NaN, 'x NaN: expected y'],
    [null, 'x null: expected y'],
    [undefined, 'x undefined: expected y'],
    [[1], 'x [1]: expected y'],
  ])('shows %j', (got, message) => {
    expect(invalidOption('x', got, 'y').message).toBe(message)
  })

  it('that holds the name of an option is not spelled', () => {
    expect(invalidOption('inner', 'inner', 'bits').spell(upper)).toBe("INNER 'inner': expected bits")
  })
})

describe('a wording', () => {
  it('keeps the names of options apart, also those of another wording in it', () => {
    const inside = wording`${option('a')} and 2`
    const whole = wording`(${inside}) a ${option('b')} ${3}`
    expect(whole.spell(upper)).toBe('(A and 2) a B 3')
    const error = new SieveError('network', whole)
    expect(error.message).toBe('(a and 2) a b 3')
    expect(new SieveError('disk', error.wording).spell(upper)).toBe('(A and 2) a B 3')
  })

  it('absent details are absent', () => {
    const error = new SieveError('memory', 'none left')
    for (const name of ['option', 'got', 'expected', 'operation']) expect(error).not.toHaveProperty(name)
  })
})

describe.each<[string, object, Partial<SieveError>, string]>([
  [
    'a rate',
    { filter: 'classic', expectedUrls: 10, falsePositiveRate: 2 },
    { option: 'falsePositiveRate', got: 2, expected: 'a number between 0 and 1' },
    'FALSEPOSITIVERATE 2: expected a number between 0 and 1',
  ],
  [
    'no size',
    { filter: 'classic' },
    { option: 'expectedUrls' },
    "filter 'classic' has a fixed size: give EXPECTEDURLS with FALSEPOSITIVERATE or SIZEBYTES, or BITS with HASHES",
  ],
  [
    'two sizes',
    { filter: 'classic', expectedUrls: 10, sizeBytes: 64, bits: 64 },
    { option: 'sizeBytes', got: 64 },
    'both SIZEBYTES and BITS are given: expected one of them',
  ],
  [
    'an unknown filter',
    { filter: 'sponge' },
    { option: 'filter', got: 'sponge', expected: expect.stringContaining('fingerprint, classic') },
    "unknown filter 'sponge': expected one of fingerprint",
  ],
  [
    'an unknown hash',
    { hash: 'crc' },
    { option: 'hash', got: 'crc', expected: expect.stringContaining('siphash') },
    "unknown hash 'crc': expected one of siphash",
  ],
  [
    'a window without a limit',
    { filter: 'window' },
    { option: 'windowUrls' },
    "filter 'window' has no limit: expected WINDOWURLS (a number of URLs) or WINDOWMS (a duration)",
  ],
])('%s', (_, options, details, spelled) => {
  it('is refused in one line, with its parts apart', async () => {
    const error = await refusal(options)
    expect(error).toMatchObject({ code: 'option', ...details })
    expect(error.spell(upper)).toContain(spelled)
    expect(error.message).not.toContain('\n')
  })
})

it('a disk error says whether reading failed', () => {
  expect(unreadable('a.sieve', 'no such file')).toMatchObject({
    code: 'disk',
    operation: 'read',
    message: 'cannot read a.sieve: no such file',
  })
})

it('an allocation that fails is told from other range errors', () => {
  expect(isAllocationFailure(new RangeError('Array buffer allocation failed'))).toBe(true)
  expect(isAllocationFailure(new RangeError('Invalid array length'))).toBe(false)
  expect(isAllocationFailure(new Error('Array buffer allocation failed'))).toBe(false)
})

it('new Sieve() says how a sieve is made', () => {
  const Made = Sieve as unknown as new (options: object) => Sieve
  expect(() => new Made({ filter: 'blocked' })).toThrow('new Sieve(): expected await Sieve.create(options)')
})
