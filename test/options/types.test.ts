// The options of a filter as types: those of another filter are type errors. Checked by `tsc`, which the tests run.
import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  type DeletingSieve,
  type FolderSieve,
  Sieve,
  SieveError,
  type SieveOptions,
} from '../../src/index.ts'

const refused = async (made: Promise<Sieve>) =>
  expect(await made.catch((error: unknown) => error)).toBeInstanceOf(SieveError)

describe('an option of another filter', () => {
  it('is a type error, and refused at run time', async () => {
    // @ts-expect-error windowMs is an option of the filter window
    await refused(Sieve.create({ filter: 'classic', expectedUrls: 10, windowMs: 5 }))
    // @ts-expect-error a filter that grows takes no size
    await refused(Sieve.create({ sizeBytes: 1024 }))
    // @ts-expect-error layers is an option of layered filters
    await refused(Sieve.create({ filter: 'blocked', expectedUrls: 10, layers: 3 }))
    // @ts-expect-error there is no such option
    await refused(Sieve.create({ expectedUrl: 10 }))
    // @ts-expect-error scalable has no fingerprints inside
    await refused(Sieve.create({ filter: 'scalable', inner: 'fingerprint' }))
    // @ts-expect-error the default filter is fingerprint
    await refused(Sieve.create({ bits: 64, hashes: 1 }))
  })

  it('is a type error in an object of options', () => {
    // @ts-expect-error generations is an option of the filter window
    const options: SieveOptions = { filter: 'classic', expectedUrls: 10, generations: 5 }
    expect(options).toBeDefined()
  })
})

describe('types of a sieve and its options', () => {
  it('follow from the filter', async () => {
    expectTypeOf(await Sieve.create()).toEqualTypeOf<DeletingSieve>()
    expectTypeOf(await Sieve.create({ profile: 'raw' })).toEqualTypeOf<DeletingSieve>()
    const folders = await Sieve.create({ filter: 'prefix-layers', expectedUrls: 10, layers: 2 })
    expectTypeOf(folders).toEqualTypeOf<FolderSieve>()
    expectTypeOf(await Sieve.create({ filter: 'classic', expectedUrls: 10 })).toEqualTypeOf<Sieve>()
  })

  it('have the values of each option', () => {
    expectTypeOf<SieveOptions<'multilayer'>['depth']>().toEqualTypeOf<'join' | 'grow' | undefined>()
    expectTypeOf<SieveOptions<'scalable'>['inner']>().toEqualTypeOf<'blocked' | 'classic' | undefined>()
    expectTypeOf<SieveOptions<'window'>['windowMs']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<SieveOptions<'classic'>>().not.toHaveProperty('windowMs')
    expectTypeOf<SieveOptions<'fingerprint'>>().not.toHaveProperty('sizeBytes')
  })

  it('take a function where the filter does', async () => {
    const sieve = await Sieve.create({
      filter: 'eigenvalue',
      expectedUrls: 10,
      features: (key) => key.slice(0, 3),
    })
    expect(sieve.add('https://a.example/')).toBe(true)
  })
})
