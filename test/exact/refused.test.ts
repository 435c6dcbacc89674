// After a refused call an exact sieve answers and counts as if the call had not been made, and so it does when it is
// opened again.
import { describe, expect, it } from 'vitest'
import { SieveError } from '../../src/errors.ts'
import { ExactSieve } from '../../src/exact/index.ts'
import { newPaths } from '../support/folders.ts'

const newFolder = newPaths()
const encoder = new TextEncoder()
const named = (letter: string, count: number) =>
  Array.from({ length: count }, (_, i) => `https://example.com/${letter}/${i}`)

async function refusal(act: () => Promise<unknown>): Promise<SieveError> {
  const error = await act().then(
    () => new Error('expected a refusal'),
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(SieveError)
  expect((error as SieveError).message).toMatch(/^[^\n]+$/)
  expect((error as SieveError).answered).toBeUndefined()
  return error as SieveError
}

const countsOf = (sieve: ExactSieve) => {
  const { urls, seen, invalid, answers } = sieve.stats()
  return { urls, seen, invalid, answers }
}

const wrong: unknown[] = [undefined, null, 5, {}, ['x'], new Uint8Array(2)]
const withHole = ['a', 'b', 'c']
delete withHole[1]

describe('refused calls', () => {
  it('arguments that cannot be', async () => {
    const folder = newFolder()
    const sieve = await ExactSieve.open(folder, { profile: 'web' })
    await sieve.addMany([...named('a', 100), 'no url'])
    const before = countsOf(sieve)
    const lists = [
      ...wrong.filter((value) => !Array.isArray(value)),
      'abc',
      [['x']],
      withHole,
      [...named('b', 3000), 1],
    ]
    for (const value of wrong) {
      for (const verb of ['add', 'has', 'delete', 'forgetUnder'] as const) {
        expect((await refusal(async () => sieve[verb](value as string))).code).toBe('option')
      }
    }
    for (const value of lists) {
      expect((await refusal(() => sieve.addMany(value as string[]))).code).toBe('option')
      expect((await refusal(() => sieve.hasMany(value as string[]))).code).toBe('option')
    }
    for (const value of [null, 'x\n', [1]]) {
      expect((await refusal(() => sieve.addLines(value as never))).code).toBe('option')
    }
    expect(countsOf(sieve)).toEqual(before)
    expect([...(await sieve.addMany(named('b', 10)))]).toEqual(new Array(10).fill(1))
    await sieve.close()
  })

  it('a URL that does not fit, alone, in lists and beside others; nothing is lost after a reopening', async () => {
    const folder = newFolder()
    let sieve = await ExactSieve.open(folder)
    await sieve.addMany([...named('a', 100), 'no url'])
    const before = countsOf(sieve)
    // Longer than the memory of one instance takes: three bytes are kept free for each letter.
    const long = `https://example.com/${'x'.repeat(400_000_000)}`
    expect((await refusal(() => sieve.add(long))).code).toBe('memory')
    expect((await refusal(() => sieve.has(long))).code).toBe('memory')
    expect((await refusal(() => sieve.addMany([...named('b', 3000), 'no url 2', long]))).code).toBe('memory')
    expect((await refusal(() => sieve.hasMany([...named('b', 3000), 'no url 2', long]))).code).toBe('memory')
    expect((await refusal(() => sieve.delete(long))).code).toBe('memory')
    expect(countsOf(sieve)).toEqual(before)
    const [one, refused, two] = await Promise.allSettled([
      sieve.add('https://example.com/one'),
      sieve.add(long),
      sieve.add('https://example.com/two'),
    ])
    expect([one, two]).toEqual([
      { status: 'fulfilled', value: true },
      { status: 'fulfilled', value: true },
    ])
    expect(refused.status).toBe('rejected')
    expect([...(await sieve.addMany(named('b', 100)))]).toEqual(new Array(100).fill(1))
    await sieve.close()
    sieve = await ExactSieve.open(folder)
    expect(sieve.stats()).toMatchObject({ urls: 203, invalid: 1 })
    expect((await sieve.hasMany([...named('a', 100), ...named('b', 100)])).indexOf(0)).toBe(-1)
    expect(await sieve.has('https://example.com/two')).toBe(true)
    await sieve.close()
  })

  it('what the caller changes while a call waits for its turn is not used', async () => {
    const sieve = await ExactSieve.open(newFolder())
    const urls = named('a', 3)
    const bytes = encoder.encode('https://example.com/l\n')
    const added = [sieve.addMany(urls), sieve.addLines(bytes)]
    urls.fill('https://example.com/changed')
    bytes.fill(0x78, 0, bytes.length - 1)
    expect((await Promise.all(added)).map((verdicts) => [...verdicts])).toEqual([[1, 1, 1], [1]])
    expect([
      ...(await sieve.hasMany([...named('a', 3), 'https://example.com/l', 'https://example.com/changed'])),
    ]).toEqual([1, 1, 1, 1, 0])
    await sieve.close()
  })
})
