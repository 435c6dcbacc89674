// One filter over several kernel instances: the same answers as in one, also at the moment it divides itself.
import { freemem } from 'node:os'
import { afterAll, describe, expect, it } from 'vitest'
import { SieveError } from '../src/errors.ts'
import type { FilterKind } from '../src/filters/filter.ts'
import { planFor } from '../src/filters/plan.ts'
import type { FilterName } from '../src/filters/registry.ts'
import { clopperPearson, lowerBound } from '../src/lab/interval.ts'
import { type DeletingSieve, Sieve, type SieveOptions } from '../src/sieve.ts'
import { STATE } from '../src/state.ts'
import { ampleSize, forgets, isApproximate, isExactWhenAmple, kinds } from './conformance/sizes.ts'
import { expectIs } from './support/expect-is.ts'
import { newPaths } from './support/folders.ts'
import { expectNear } from './support/near.ts'
import { randomFrom } from './support/random.mjs'

const FULL = process.env.URLSIEVE_FULL === '1'
const MIB = 2 ** 20
const newFolder = newPaths()
const key = new Uint8Array(16).fill(5)
const encoder = new TextEncoder()

/** The URLs 0, 1, 2 … of each letter, as far as any test asked for them: making millions again takes as long as adding them. */
const made = new Map<string, string[]>()
function named(letter: string, from: number, to: number): string[] {
  const urls = made.get(letter) ?? []
  made.set(letter, urls)
  while (urls.length < to) urls.push(`https://example.com/${letter}/${urls.length}`)
  return urls.slice(from, to)
}

const create = (kind: FilterKind, options: SieveOptions) =>
  Sieve.create({ filter: kind.name as FilterName, profile: 'raw', key, ...options })

const instances = (sieve: Sieve) => sieve[STATE].shards.count

function sum(answers: ArrayLike<number>): number {
  let total = 0
  for (let i = 0; i < answers.length; i++) total += answers[i]!
  return total
}

const fixed = kinds.filter((kind) => !kind.can.grow && kind.takes !== 'keys')
const growing = kinds.filter((kind) => kind.can.grow && kind.takes !== 'keys')
const onKeys = kinds.filter((kind) => kind.takes === 'keys')

describe.each(fixed)('$name, of a fixed size', (kind) => {
  const [urls, rate] = [400_000, 1e-3]
  const size = { expectedUrls: urls, falsePositiveRate: rate }

  it('spread over instances, it knows all that was added and keeps its rate', async () => {
    const sieve = await create(kind, { ...size, instanceBytes: MIB })
    const { bits, sizeBytes } = sieve.plan
    expect(instances(sieve)).toBe(Math.ceil(sizeBytes / (MIB / 2)))
    expect(instances(sieve)).toBeGreaterThan(1)
    const all = named('a', 0, urls)
    for (let from = 0; from < urls; from += 50_000) sieve.addMany(all.slice(from, from + 50_000))
    expect(sieve.hasMany(all).indexOf(0)).toBe(-1)
    const trials = 300_000
    const hits = sum(sieve.hasMany(named('b', 0, trials)))
    const said = `${hits} of ${trials} wrong`
    expect(lowerBound({ hits, trials, confidence: 1 - 1e-6 }), said).toBeLessThanOrEqual(rate)
    const { upper } = clopperPearson({ hits, trials, confidence: 1 - 1e-6 })
    expect(sieve.plan.expectedRate, said).toBeLessThanOrEqual(upper)
    const stats = sieve.stats()
    // Bits of k hashes, or a slot for each URL: those that are alike count once.
    const cells = sum(sieve[STATE].shards.all.flatMap(({ filter }) => filter.cells!().map((a) => a.cells)))
    const fill = kind.can.delete ? urls / cells : -Math.expm1((-sieve.plan.hashes! * urls) / bits!)
    expectNear(stats.fill!, fill, 0.01)
    expectNear(stats.expectedRate!, sieve.plan.expectedRate!, 0.1)
    expect(stats.sizeBytes).toBeGreaterThanOrEqual(sizeBytes)
    expect(stats.sizeBytes).toBeLessThan(sizeBytes + 64 * instances(sieve))
  })

  it('answers as it does in one instance, by every way in', async () => {
    const small = { expectedUrls: 40_000, falsePositiveRate: 1e-9, profile: 'web' } as const
    const one = await create(kind, small)
    const spread = await create(kind, { ...small, instanceBytes: 2 * MIB, sizeBytes: 6 * MIB })
    expect(instances(one)).toBe(1)
    expect(instances(spread)).toBe(6)
    const rng = randomFrom(1)
    for (let step = 0; step < 60; step++) {
      const urls = Array.from(
        { length: 1 + Math.floor(rng() * (step % 5 === 0 ? 5000 : 50)) },
        () => `https://example.com/${Math.floor(rng() * 30_000)}`,
      )
      const way = step % 4
      if (way === 0) expect([...spread.hasMany(urls)]).toEqual([...one.hasMany(urls)])
      else if (way === 1) expect([...spread.addMany(urls)]).toEqual([...one.addMany(urls)])
      else if (way === 2) {
        const lines = encoder.encode(urls.join('\n'))
        expect([...spread.addLines(lines)]).toEqual([...one.addLines(lines)])
      } else expect(urls.map((url) => spread.add(url))).toEqual(urls.map((url) => one.add(url)))
    }
    expect(spread.stats()).toMatchObject({ urls: one.stats().urls, seen: one.stats().seen })
  })
})

describe.each(growing)('$name, which grows', (kind) => {
  // Small instances, so that it divides itself (or begins new ones) many times; batches that end before, at and after.
  it.each([
    { pages: 24, batch: 1, urls: FULL ? 200_000 : 100_000 },
    { pages: 33, batch: 128, urls: 250_000 },
    { pages: 40, batch: 129, urls: 250_000 },
    { pages: 64, batch: 5000, urls: 500_000 },
    ...(FULL
      ? [
          { pages: 32, batch: 100, urls: 250_000 },
          { pages: 48, batch: 2048, urls: 300_000 },
          { pages: 77, batch: 20_000, urls: 500_000 },
          { pages: 128, batch: 2047, urls: 600_000 },
        ]
      : []),
  ])('in instances of $pages pages, $urls URLs in batches of $batch', async ({ pages, batch, urls }) => {
    const size = isApproximate(kind) || forgets(kind) ? ampleSize(kind, forgets(kind) ? urls : 5000) : {}
    const sieve = await create(kind, { ...size, instanceBytes: pages * 65_536 })
    const rng = randomFrom(pages)
    let known = 0
    while (known < urls) {
      // Three quarters new, the rest seen before, in any order; each at most once in a batch.
      const fresh = Math.max(1, Math.ceil(batch * 0.75))
      const list = named('a', known, known + fresh)
      const old = new Set(Array.from({ length: batch - fresh }, () => Math.floor(rng() * known)))
      if (known > 0) for (const i of old) list.push(made.get('a')![i]!)
      known += fresh
      const verdicts = batch === 1 ? [Number(sieve.add(list[0]!))] : sieve.addMany(list)
      for (let i = 0; i < list.length; i++) {
        const expected = i < fresh ? 1 : 0
        if (verdicts[i] === expected) continue
        expect.fail(`${list[i]} after ${known}: got ${verdicts[i]}, expected ${expected}`)
      }
    }
    expect(sieve.stats().urls).toBe(known)
    for (let from = 0; from < known; from += 50_000) {
      const some = named('a', from, Math.min(known, from + 50_000))
      const missing = batch === 1 ? some.findIndex((url) => !sieve.has(url)) : sieve.hasMany(some).indexOf(0)
      if (missing >= 0) expect.fail(`number ${from + missing} was added and is not there`)
    }
    expect(named('b', 0, 20_000).filter((url) => sieve.has(url))).toEqual([])
  })
})

describe('fingerprint', () => {
  // The tests from here on need few: large filters make V8 collect garbage often, and go over all of them each time.
  afterAll(() => made.clear())

  const open = (instanceBytes: number, options: SieveOptions = {}) =>
    Sieve.create({ profile: 'raw', key, instanceBytes, ...options }) as Promise<DeletingSieve>

  it('divides itself, stays small, and its numbers add up over all instances', async () => {
    const sieve = await open(4 * MIB)
    const urls = 1_000_000
    for (let from = 0; from < urls; from += 10_000) {
      const verdicts = sieve.addMany(named('a', from, from + 10_000))
      if (verdicts.includes(0)) expect.fail(`a new URL after ${from} is answered seen`)
    }
    expect(instances(sieve)).toBeGreaterThan(3)
    const stats = sieve.stats()
    expect(stats.urls).toBe(urls)
    expect(stats.sizeBytes / urls).toBeLessThanOrEqual(12)
    expectNear(stats.fill!, ((64 / 9) * urls) / stats.sizeBytes, 0.02)
    // The chance is that of one table of all hashes, however many instances they are in.
    expectNear(stats.expectedRate!, urls / 2 ** 64, 0.005)
    const alone = await Sieve.create({ profile: 'raw', key })
    alone.addMany(named('a', 0, 100_000))
    expectNear(alone.stats().expectedRate!, 100_000 / 2 ** 64, 0.005)
  })

  it('deletes in every instance, and adds again', async () => {
    const sieve = await open(2 * MIB)
    const urls = 400_000
    const all = named('a', 0, urls)
    sieve.addMany(all)
    expect(instances(sieve)).toBeGreaterThan(2)
    const gone = all.filter((_, i) => i % 3 === 0)
    const kept = all.filter((_, i) => i % 3 !== 0)
    for (const url of gone) if (!sieve.delete(url)) expect.fail(`${url} was not there`)
    for (const url of gone.slice(0, 1000)) expectIs(sieve.delete(url), false, url)
    expect(sieve.stats().urls).toBe(kept.length)
    expect(sieve.hasMany(gone).indexOf(1)).toBe(-1)
    expect(sieve.hasMany(kept).indexOf(0)).toBe(-1)
    expect(sieve.addMany(gone).indexOf(0)).toBe(-1)
    expect(sieve.addMany(kept).indexOf(1)).toBe(-1)
    expect(sieve.stats().urls).toBe(urls)
  })

  it('random adds, deletes and questions through many divisions are a Set’s', async () => {
    const rng = randomFrom(3)
    const sieve = await open(1.5 * MIB)
    const truth = new Set<string>()
    let next = 0
    for (let step = 0; step < 400; step++) {
      const urls = Array.from({ length: 1 + Math.floor(rng() * 1500) }, () =>
        rng() < 0.7
          ? `https://example.com/${next++}`
          : `https://example.com/${Math.floor(rng() * (next + 1))}`,
      )
      if (step % 5 === 4) {
        for (const url of urls) expectIs(sieve.delete(url), truth.delete(url), url)
        continue
      }
      const expected = urls.map((url) => {
        const isNew = !truth.has(url)
        truth.add(url)
        return Number(isNew)
      })
      const got = step % 2 === 0 ? sieve.addMany(urls) : sieve.addLines(encoder.encode(urls.join('\n')))
      expect(Buffer.compare(Buffer.from(got), Buffer.from(expected)), `step ${step}`).toBe(0)
    }
    expect(instances(sieve)).toBeGreaterThan(2)
    expect(sieve.stats().urls).toBe(truth.size)
    const asked = Array.from({ length: next }, (_, i) => `https://example.com/${i}`)
    expect(sieve.hasMany(asked).findIndex((answer, i) => answer !== Number(truth.has(asked[i]!)))).toBe(-1)
  })

  it.each([
    [2, 300_000],
    [3, 500_000],
    ...(FULL
      ? [
          [2, 200_000],
          [2, 500_000],
          [3, 100_000],
        ]
      : []),
  ] as [number, number][])(
    'of %i MiB, planned for %i URLs, it begins with several instances and goes on to divide them',
    async (mib, expectedUrls) => {
      const sieve = await open(mib * MIB, { expectedUrls })
      expect(instances(sieve)).toBe(Math.ceil(sieve.plan.sizeBytes / ((mib * MIB) / 2)))
      for (let from = 0; from < 600_000; from += 7000) {
        const verdicts = sieve.addMany(named('a', from, from + 7000))
        if (verdicts.includes(0)) expect.fail(`a new URL after ${from} is answered seen`)
      }
      expect(sieve.hasMany(named('a', 0, 600_000)).indexOf(0)).toBe(-1)
      expect(sum(sieve.hasMany(named('b', 0, 50_000)))).toBe(0)
      expect(sieve.stats().urls).toBe(86 * 7000)
      const froms = sieve[STATE].shards.all.map(({ from }) => from)
      expect(froms.findIndex((from, i) => i > 0 && from <= froms[i - 1]!)).toBe(-1)
      const counts = sieve[STATE].shards.all.map(({ kernel }) => kernel.call.fingerprintCount())
      expect(Math.min(...counts)).toBeGreaterThan(0)
      const path = newFolder()
      await sieve.save(path)
      const back = await Sieve.load(path)
      expect(back.hasMany(named('a', 0, 600_000)).indexOf(0)).toBe(-1)
      expect(back.addMany(named('c', 0, 5000)).indexOf(0)).toBe(-1)
    },
  )
})

describe('no more room', () => {
  it.each([
    ['a long URL', (sieve: Sieve) => sieve.add(`https://example.com/${'x'.repeat(100_000)}`)],
    ['a first batch', (sieve: Sieve) => sieve.addMany(named('b', 0, 5000)).includes(1)],
    [
      'first lines',
      (sieve: Sieve) => sieve.addLines(encoder.encode(named('c', 0, 50_000).join('\n'))).includes(1),
    ],
  ])('a filter that has filled its instance leaves room for %s', async (_, add) => {
    const sieve = await Sieve.create({ key, instanceBytes: 4 * MIB })
    // One at a time, until it has divided itself: the buffer for one short URL is all it ever needed.
    for (let i = 0; instances(sieve) < 2; i++) sieve.add(`https://example.com/a/${i}`)
    expect(add(sieve)).toBe(true)
    expect(sieve.hasMany(named('a', 0, 10_000)).indexOf(0)).toBe(-1)
  })

  it('fingerprint in an instance too small to divide: one clear line, again and again, and nothing is lost', async () => {
    const sieve = await Sieve.create({ profile: 'raw', key, instanceBytes: 13 * 65_536 })
    const added: string[] = []
    const fill = () => {
      for (let from = added.length; from < 200_000; from += 500) {
        const urls = named('a', from, from + 500)
        sieve.addMany(urls)
        added.push(...urls)
      }
    }
    for (let turn = 0; turn < 3; turn++) {
      expect(fill).toThrow(SieveError)
      expect(fill).toThrow(/^filter 'fingerprint' is full and cannot grow further: no memory left$/)
    }
    expect(() => {
      for (let i = 0; i < 200_000; i++) sieve.add(`https://example.com/one/${i}`)
    }).toThrow(/^filter 'fingerprint' is full/)
    expect(added.length).toBeGreaterThan(10_000)
    expect(sieve.hasMany(added).indexOf(0)).toBe(-1)
  })

  it.each(onKeys.filter(isApproximate))(
    '$name, which lives in one instance, says when it does not fit',
    async (kind) => {
      const made = create(kind, { sizeBytes: 20 * MIB, hashes: 3, instanceBytes: 8 * MIB })
      await expect(made).rejects.toThrow(/^filter '.*' of \d+ bytes does not fit: expected at most \d+$/)
      await expect(made).rejects.toMatchObject({ name: 'SieveError', code: 'memory' })
    },
  )

  it.each(fixed)('$name of 16 TiB is refused in one line', async (kind) => {
    // A filter of slots has a capacity too, and takes whole slots.
    const size = kind.refusesWhenFull ? { bits: 2 ** 47, expectedUrls: 1000 } : { bits: 2 ** 47, hashes: 1 }
    const made = create(kind, size as SieveOptions)
    await expect(made).rejects.toThrow(
      kind.refusesWhenFull
        ? /^filter '.*' of 1759218604\d{4} bytes does not fit: expected at most \d+$/
        : /^filter '.*' of 17592186044416 bytes does not fit: expected at most \d+$/,
    )
    await expect(made).rejects.toMatchObject({ name: 'SieveError', code: 'memory' })
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 1.5, 65_535, 2 ** 33, '1000000'])(
    'instanceBytes %s is refused in one line',
    async (instanceBytes) => {
      const made = Sieve.create({ instanceBytes: instanceBytes as number })
      await expect(made).rejects.toThrow(/^instanceBytes [^\n]+: expected [^\n]+$/)
      await expect(made).rejects.toMatchObject({ name: 'SieveError', code: 'option' })
    },
  )
})

describe('a thousand million URLs', () => {
  const request = { expectedUrls: 1e9, falsePositiveRate: 1e-3 }

  it.each(kinds)('$name can be planned', (kind) => {
    const plan = planFor(kind, request, ['siphash'])
    expect(plan.expectedUrls).toBe(1e9)
    if (kind.noPromise) expect(plan.expectedRate).toBeNull()
    else expect(plan.expectedRate).toBeLessThanOrEqual(1e-3)
    expect(plan.sizeBytes).toBeGreaterThan(1e9)
    if (isApproximate(kind)) expect(plan.bitsPerUrl).toBeGreaterThan(Math.log2(1000))
  })

  // Memory is only taken where it is touched, but address space and the right to it must be there.
  const enough = freemem() >= 6 * 1024 * MIB
  it.skipIf(!enough).each([...fixed, ...growing])(
    '$name can be made and asked (with 6 GiB free)',
    async (kind) => {
      const sieve = await create(kind, request)
      const urls = named('a', 0, 2000)
      expect([...sieve.addMany(urls)]).toEqual(urls.map(() => 1))
      expect([...sieve.addMany(urls)]).toEqual(urls.map(() => 0))
      expect(sieve.add('https://example.com/one')).toBe(true)
      expect(sieve.has('https://example.com/one')).toBe(true)
      expect([...sieve.hasMany(named('b', 0, 2000))]).toEqual(urls.map(() => 0))
      expect(sieve.stats().urls).toBe(2001)
      if (!isExactWhenAmple(kind)) return
      expect(sieve.stats().pastCapacity).toBe(false)
    },
  )
})

describe('a division', () => {
  it('moves little at a time, while all is answered, and a file written meanwhile is whole', {
    timeout: 120_000,
  }, async () => {
    const sieve = await Sieve.create({ profile: 'raw', key, instanceBytes: 64 * MIB })
    const { shards } = sieve[STATE]
    const bytes = new Uint8Array(8 * 2048)
    const view = new DataView(bytes.buffer)
    const starts = Uint32Array.from({ length: 2048 }, (_, i) => 8 * i)
    const ends = starts.map((start) => start + 8)
    const batch = (number: number) => {
      for (let i = 0; i < 2048; i++) view.setUint32(8 * i, 2048 * number + i, true)
      return { bytes, starts, ends }
    }
    const held = () => shards.all[0]!.filter.measure().sizeBytes
    let number = 0
    let before = held()
    const add = () => {
      expectIs(sum(sieve.addItems(batch(number++))), 2048, 'all are new')
      expect(before - held()).toBeLessThanOrEqual(40 * (256 * 1024 + 64))
      before = held()
    }
    while (shards.count === 1) add()
    // It is not over: there is more to move.
    const { divisions } = shards
    for (let i = 0; i < number; i += 7) expectIs(sum(sieve.hasItems(batch(i))), 2048, `batch ${i}`)
    const path = `${newFolder()}.sieve`
    const saved = sieve.save(path)
    add()
    await saved
    expect(shards.divisions).toBeGreaterThan(divisions)
    expect(shards.moveSome()).toBe(false)
    const loaded = await Sieve.load(path)
    for (let i = 0; i < number - 1; i++) expectIs(sum(loaded.hasItems(batch(i))), 2048, `batch ${i}, loaded`)
    for (let i = 0; i < number; i++) expectIs(sum(sieve.hasItems(batch(i))), 2048, `batch ${i}`)
    for (let i = number; i < number + 300; i++) expectIs(sum(sieve.hasItems(batch(i))), 0, `batch ${i}`)
  })
})
