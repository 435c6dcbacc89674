// What sizes and options every filter takes and refuses, and what the registry says of each: a new entry is covered with
// no edit here.
import { describe, expect, expectTypeOf, it } from 'vitest'
import { SieveError } from '../../src/errors.ts'
import {
  type DeletingFilterName,
  type FilterName,
  type FolderFilterName,
  filterNames,
} from '../../src/filters/registry.ts'
import {
  type DeletingSieve,
  type FolderSieve,
  Sieve,
  type SieveOf,
  type SieveOptions,
} from '../../src/sieve.ts'
import { create, make, plain } from './sieves.ts'
import { kinds, planOrNull } from './sizes.ts'

describe.each(kinds)('$name', (kind) => {
  describe('sizes', () => {
    it('is made by rate, by memory, and by m and k; the plan says what was made', async () => {
      for (const request of [
        { expectedUrls: 1000, falsePositiveRate: 0.001 },
        { expectedUrls: 1000, sizeBytes: 4096 },
        { bits: 32_768, hashes: 5 },
      ]) {
        const plan = planOrNull(kind, request)
        if (!plan) continue
        const sieve = await create(kind, request)
        expect(sieve.plan).toEqual(plan)
        expect(plan.filter).toBe(kind.name)
        if (request.expectedUrls) expect(plan.expectedUrls).toBe(request.expectedUrls)
        if (request.falsePositiveRate && plan.expectedRate !== null) {
          expect(plan.expectedRate).toBeLessThanOrEqual(request.falsePositiveRate)
        }
        if (!kind.can.grow) {
          if (request.sizeBytes) expect(plan.sizeBytes).toBeLessThanOrEqual(request.sizeBytes)
          if (request.bits) expect(plan.bits).toBeLessThanOrEqual(request.bits)
          if (request.hashes) expect(plan.hashes).toBe(request.hashes)
          expect(sieve.stats().sizeBytes).toBe(plan.sizeBytes)
        }
        sieve.addMany(plain.slice(0, 500))
        expect([...sieve.hasMany(plain.slice(0, 500))].indexOf(0)).toBe(-1)
      }
    })

    it('never takes more hashes than anyone could wait for, however much memory it is given', () => {
      for (const sizeBytes of [64, 4096, 2 ** 20, 2 ** 30]) {
        const plan = planOrNull(kind, { expectedUrls: 10, sizeBytes })
        if (plan?.hashes) expect(plan.hashes, `${sizeBytes} bytes for 10 URLs`).toBeLessThanOrEqual(64)
      }
      const tiny = planOrNull(kind, { expectedUrls: 10, falsePositiveRate: 1e-30 })
      if (tiny?.hashes) expect(tiny.hashes, 'one in 1e30').toBeLessThanOrEqual(64)
    })

    it('more memory never gives a worse rate, more URLs never a better one', () => {
      if (kind.noPromise) {
        const plan = planOrNull(kind, { expectedUrls: 2000, sizeBytes: 4096 })
        expect(plan).toMatchObject({ promisedRate: null, expectedRate: null, noPromise: kind.noPromise })
        return
      }
      let last = 1
      for (const sizeBytes of [1024, 2048, 4096, 8192, 65_536]) {
        const plan = planOrNull(kind, { expectedUrls: 2000, sizeBytes })
        if (!plan && (kind.refusesWhenFull || kind.can.grow)) continue
        const rate = plan!.expectedRate!
        expect(rate).toBeLessThanOrEqual(last)
        last = rate
      }
      last = 0
      for (const expectedUrls of [10, 100, 1000, 10_000]) {
        const rate = planOrNull(kind, { expectedUrls, sizeBytes: 4096 })?.expectedRate ?? 1
        expect(rate).toBeGreaterThanOrEqual(last)
        last = rate
      }
    })

    it.each([
      [{ expectedUrls: 0 }, 'expectedUrls 0'],
      [{ expectedUrls: -5 }, 'expectedUrls -5'],
      [{ expectedUrls: 1.5 }, 'expectedUrls 1.5'],
      [{ expectedUrls: Number.NaN }, 'expectedUrls NaN'],
      [{ expectedUrls: Number.POSITIVE_INFINITY }, 'expectedUrls Infinity'],
      [{ expectedUrls: '1000' }, "expectedUrls '1000'"],
      [{ falsePositiveRate: 0, expectedUrls: 10 }, 'falsePositiveRate 0'],
      [{ falsePositiveRate: 1, expectedUrls: 10 }, 'falsePositiveRate 1'],
      [{ falsePositiveRate: -0.1, expectedUrls: 10 }, 'falsePositiveRate -0.1'],
      [{ falsePositiveRate: Number.NaN, expectedUrls: 10 }, 'falsePositiveRate NaN'],
      [{ sizeBytes: 0, expectedUrls: 10 }, 'sizeBytes 0'],
      [{ sizeBytes: 63, expectedUrls: 10 }, 'sizeBytes 63'],
      [{ sizeBytes: 100.5, expectedUrls: 10 }, 'sizeBytes 100.5'],
      [{ bits: 7, hashes: 1 }, 'bits 7'],
      [{ bits: 2 ** 48, hashes: 1 }, `bits ${2 ** 48}`],
      [{ bits: 1000, hashes: 0 }, 'hashes 0'],
      [{ bits: 1000, hashes: 65 }, 'hashes 65'],
      [{ bits: 1000, hashes: 2.5 }, 'hashes 2.5'],
      [{ bits: 1000, sizeBytes: 1000, hashes: 1 }, 'both sizeBytes and bits'],
    ])('refuses %j in one line', async (options, got) => {
      const error = await create(kind, options as SieveOptions).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(SieveError)
      expect((error as SieveError).code).toBe('option')
      expect((error as SieveError).message).toMatch(/^[^\n]+$/)
      // A filter that grows takes no size at all, whatever it is; an option that is not the filter's own is named first.
      const takesNone = kind.can.grow && 'sizeBytes' in options
      const own = kind.options.map((option) => option.name as string)
      const foreign = Object.entries(options).find(([name]) => !own.includes(name))
      const named = foreign ? `${foreign[0]} ${foreign[1]}: filter '${kind.name}' does not take it` : got
      expect((error as SieveError).message).toContain(takesNone ? `sizeBytes ${options.sizeBytes}` : named)
      expect((error as SieveError).message).toMatch(
        takesNone ? 'grows as it needs; leave it out' : 'expected',
      )
    })

    if (!kind.can.grow) {
      it('says what is missing when its size does not follow', async () => {
        for (const options of [{}, { falsePositiveRate: 0.1 }]) {
          const made = Sieve.create({ filter: kind.name as FilterName, ...options })
          await expect(made).rejects.toThrow(/^filter '.*' has a fixed size: give [^\n]+$/)
          await expect(made).rejects.toMatchObject({ code: 'option' })
        }
      })
    }
  })
})

describe('the registry', () => {
  it('names each filter as its entry does, and says what it is in one line each', () => {
    expect(kinds.map((kind) => kind.name)).toEqual(filterNames)
    for (const { does, source, errs } of kinds) {
      for (const line of [does, source, errs]) expect(line).toMatch(/^[^\n]+$/)
    }
  })

  it('its types name just the filters that can delete, and those that know folders', () => {
    expectTypeOf<Extract<FilterName, DeletingFilterName>>().toEqualTypeOf<DeletingFilterName>()
    expectTypeOf<
      Extract<'fingerprint' | 'hash-set' | 'blocked' | 'window', DeletingFilterName>
    >().toEqualTypeOf<'fingerprint' | 'hash-set'>()
    expectTypeOf<Extract<'prefix-layers' | 'multilayer', FolderFilterName>>().toEqualTypeOf<'prefix-layers'>()
  })

  it.each(kinds)('$name has just the verbs that its type says', async (kind) => {
    const sieve = await make(kind, 10)
    expect('delete' in sieve).toBe(kind.can.delete)
    expect('hasUnder' in sieve).toBe(kind.can.under)
  })

  it('a filter that cannot delete has none by type either', async () => {
    type Deleting = { [F in FilterName]: SieveOf<F> extends DeletingSieve ? F : never }[FilterName]
    expectTypeOf<Deleting>().toEqualTypeOf<DeletingFilterName>()
    type Knowing = { [F in FilterName]: SieveOf<F> extends FolderSieve ? F : never }[FilterName]
    expectTypeOf<Knowing>().toEqualTypeOf<FolderFilterName>()
    const blocked = await Sieve.create({ filter: 'blocked', bits: 512, hashes: 1 })
    // @ts-expect-error: blocked cannot forget
    expect(blocked.delete).toBeUndefined()
    const fingerprint = await Sieve.create()
    expectTypeOf(fingerprint.delete).toEqualTypeOf<(url: string) => boolean>()
    // @ts-expect-error: no such filter
    await expect(Sieve.create({ filter: 'bloom' })).rejects.toThrow(
      `unknown filter 'bloom': expected one of ${filterNames.join(', ')}`,
    )
  })

  it('what is no filter, hash, profile or key is refused in one line', async () => {
    const refuse = async (options: object, message: string | RegExp) => {
      const made = Sieve.create(options as SieveOptions)
      await expect(made).rejects.toThrow(message)
      await expect(made).rejects.toMatchObject({ name: 'SieveError', code: 'option' })
    }
    await refuse({ filter: 'toString' }, /^unknown filter 'toString': expected one of [^\n]+$/)
    await refuse({ hash: 'crc32' }, /^unknown hash 'crc32': expected one of siphash, xxh64[^\n]*$/)
    await refuse({ profile: 'none' }, /^unknown profile 'none': expected one of raw, [^\n]+$/)
    await refuse({ key: new Uint8Array(15) }, /^key of 15 bytes: expected 16 bytes$/)
  })
})
