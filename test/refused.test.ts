// After a call that was refused a sieve answers and counts as if the call had not been made: every verb, every kind of
// argument that cannot be, URLs that do not fit, and calls from inside another call.
import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { SieveError } from '../src/errors.ts'
import type { FilterName } from '../src/filters/registry.ts'
import { type DeletingSieve, type FolderSieve, Sieve } from '../src/sieve.ts'
import { ampleSize, kinds } from './conformance/sizes.ts'
import { expectBytes } from './support/expect-is.ts'
import { newPaths } from './support/folders.ts'
import { itemsOf } from './support/items.mjs'
import { lines, named, refusal } from './support/refusal.ts'

const key = new Uint8Array(16).fill(3)
/** What all sieves here know, and what they are given as items. */
const known = named('a', 400)
const items = itemsOf(named('c', 50))

/** Longer than what is left in an instance of these bytes. */
const INSTANCE_BYTES = 3 * 2 ** 20
const LONG = `https://example.com/${'x/'.repeat(2 ** 21)}`
const longItems = itemsOf([LONG])
const longLines = lines([LONG])

const wrong = [
  undefined,
  null,
  5,
  1n,
  true,
  {},
  ['https://a.example/'],
  Symbol('s'),
  () => 'x',
  new Uint8Array(3),
]

/** Every call that a sieve must refuse for what it is given. */
function badCalls(sieve: Sieve): (() => unknown)[] {
  const any = sieve as never as Record<string, ((...args: unknown[]) => unknown) | undefined>
  const good = itemsOf(named('g', 3))
  const u32 = (...numbers: number[]) => Uint32Array.from(numbers)
  const lists = [
    ...wrong.filter((value) => !Array.isArray(value)),
    'https://a.example/',
    new Set(['x']),
    { 0: 'x', length: 1 },
  ]
  const withHole = ['a', 'b', 'c']
  delete withHole[1]
  const inLists = [...wrong.map((value) => ['https://g.example/', value]), [['x']], withHole, new Array(3)]
  const late = [...named('g', 5000), 7]
  const bytes = [...wrong.slice(0, -1), 'x\ny', new Uint16Array(4), new ArrayBuffer(8), [1, 2]]
  const items = [
    ...wrong.slice(0, -1),
    {},
    { ...good, bytes: 'x' },
    { ...good, starts: [0, 1, 2] },
    { ...good, ends: new Float64Array(3) },
    { ...good, ends: u32(1, 2) },
    { ...good, ends: u32(1, 2, good.bytes.length + 1) },
    { ...good, starts: u32(0, 5, 4), ends: u32(6, 7, 8) },
    { ...good, starts: u32(0, 1, 2), ends: u32(9, 8, 10) },
    { ...good, starts: u32(0, 7, 9), ends: u32(3, 6, 10) },
    { bytes: good.bytes, starts: u32(0), ends: u32(0xffffffff) },
    { bytes: good.bytes, starts: u32(0xfffffff0), ends: u32(0xffffffff) },
  ]
  const calls: (() => unknown)[] = []
  const each = (verbs: string[], values: readonly unknown[]) => {
    for (const verb of verbs) {
      if (any[verb]) for (const value of values) calls.push(() => any[verb]!.call(sieve, value))
    }
  }
  each(['add', 'has', 'delete', 'hasUnder', 'explain'], wrong)
  each(['addMany', 'hasMany'], [...lists, ...inLists, late])
  each(['addLines', 'hasLines'], bytes)
  each(['addItems', 'hasItems'], items)
  each(['feed'], [{ keep: 'all' }, { keep: 'new', as: 'url' }])
  const feed = sieve.feed({ keep: 'new' })
  for (const size of [-1, 0.5, Number.NaN, '1', 2 ** 32, 2 ** 40])
    calls.push(() => feed.reserve(size as number))
  for (const size of [-1, 1, 2 ** 32, Number.NaN]) calls.push(() => feed.push(size as number))
  return calls
}

/** Calls with a URL that does not fit. */
function longCalls(sieve: Sieve): (() => unknown)[] {
  const one = [LONG]
  const calls = [
    () => sieve.add(LONG),
    () => sieve.has(LONG),
    () => sieve.addMany(one),
    () => sieve.hasMany(one),
    () => sieve.addItems(longItems),
    () => sieve.hasItems(longItems),
    () => sieve.addLines(longLines),
    () => sieve.hasLines(longLines),
    () => sieve.explain(LONG),
  ]
  if ('delete' in sieve) calls.push(() => (sieve as DeletingSieve).delete(LONG))
  if ('hasUnder' in sieve) calls.push(() => (sieve as FolderSieve).hasUnder(LONG))
  return calls
}

/** A list that does not fit at its 2102nd URL, in every form. */
const failing = (() => {
  const urls = [...named('d', 2100), 'no url', LONG, ...named('e', 10)]
  return { urls, lines: lines(urls), items: itemsOf(urls) }
})()

const newFolder = newPaths()

describe.each(kinds)('$name', (kind) => {
  const options = { filter: kind.name as FilterName, key, ...ampleSize(kind, 2000) }

  // Answers and counts of two sieves that were given the same, apart from calls that were refused.
  const expectAlike = (one: Sieve, twin: Sieve, round: number) => {
    const fresh = [...named(`b${round}`, 100), 'no url', 'https://ü.example/']
    expectBytes(one.hasMany(known), twin.hasMany(known))
    expect(one.hasMany(known).indexOf(0)).toBe(-1)
    expectBytes(one.addMany(fresh), twin.addMany(fresh))
    const freshLines = lines(fresh)
    expectBytes(one.addLines(freshLines), twin.addLines(freshLines))
    expect(fresh.slice(0, 5).map((url) => one.add(`${url}/x`))).toEqual(
      fresh.slice(0, 5).map((url) => twin.add(`${url}/x`)),
    )
    expectBytes(one.addItems(items), twin.addItems(items))
    const { urls, seen, invalid } = one.stats()
    expect({ urls, seen, invalid }).toEqual(
      (({ urls, seen, invalid }) => ({ urls, seen, invalid }))(twin.stats()),
    )
  }

  it.each(['in memory', 'in a folder'])('%s: arguments that cannot be leave it as it was', async (place) => {
    const make = () =>
      place === 'in memory'
        ? Sieve.create(options)
        : Sieve.open(newFolder(), { ...options, keepKeys: true, durability: 'never' })
    const [one, twin] = [await make(), await make()]
    one.addMany(known)
    twin.addMany(known)
    for (const call of badCalls(one)) expect(refusal(call).code).toMatch(/^(option|memory)$/)
    expectAlike(one, twin, 0)
    for (const call of badCalls(one)) expect(refusal(call).answered?.length ?? 0).toBe(0)
    expectAlike(one, twin, 1)
    await Promise.all([one.close(), twin.close()])
  })

  it.each(['web', 'raw', 'aggressive'] as const)(
    'a URL that does not fit leaves it as it was: %s',
    async (profile) => {
      const sized = { ...options, profile, instanceBytes: INSTANCE_BYTES }
      const [one, twin] = [await Sieve.create(sized), await Sieve.create(sized)]
      one.addMany(known)
      twin.addMany(known)
      for (const [round, call] of longCalls(one).entries()) {
        expect(refusal(call).code).toBe('memory')
        expectAlike(one, twin, round)
      }
    },
  )

  it('a list that fails on the way: exactly what is answered is marked and counted', async () => {
    const size = kind.refusesWhenFull ? ampleSize(kind, 4000) : {}
    const sized = { ...options, ...size, instanceBytes: INSTANCE_BYTES }
    const [one, twin] = [await Sieve.create(sized), await Sieve.create(sized)]
    one.addMany(known)
    twin.addMany(known)
    const { urls } = failing
    for (const act of [
      () => one.addMany(urls),
      () => one.addLines(failing.lines),
      () => one.addItems(failing.items),
    ]) {
      const { answered } = refusal(act)
      expect(answered!.length).toBeGreaterThanOrEqual(2048)
      expectBytes(answered!, twin.addMany(urls.slice(0, answered!.length)))
      expect(one.hasMany(named('e', 10))).toEqual(twin.hasMany(named('e', 10)))
      expectAlike(one, twin, 0)
    }
  })
})

describe('a filter that is full', () => {
  it('fingerprint in instances too small to divide: what is answered is marked, no more', async () => {
    for (const pages of [13, 14, 16]) {
      const sieve = await Sieve.create({ profile: 'raw', key, instanceBytes: pages * 65_536 })
      const urls = named('f', 60_000)
      const marked = new Set<string>()
      for (let from = 0; from < urls.length; from += 3000) {
        const some = urls.slice(from, from + 3000)
        try {
          sieve.addMany(some)
          for (const url of some) marked.add(url)
        } catch (error) {
          const { answered } = error as SieveError
          for (const url of some.slice(0, answered!.length)) marked.add(url)
        }
      }
      expect(marked.size).toBeLessThan(urls.length)
      expect(sieve.stats().urls).toBe(marked.size)
      const has = sieve.hasMany(urls)
      expect(urls.findIndex((url, i) => has[i] !== Number(marked.has(url)))).toBe(-1)
    }
  })
})

describe('merge and clear that fail', () => {
  it.each(kinds.filter(({ name }) => name !== 'scalable' && name !== 'window'))(
    '$name: a store whose folder is gone answers as before',
    async (kind) => {
      const options = { filter: kind.name as FilterName, key, ...ampleSize(kind, 2000) }
      const folder = newFolder()
      const stored = await Sieve.open(folder, { ...options, durability: 'never' })
      const other = await Sieve.create(options)
      stored.addMany([...named('a', 300), 'no url'])
      other.addMany([...named('b', 300), 'no url'])
      const before = stored.stats()
      rmSync(folder, { recursive: true })
      await expect(stored.merge(other)).rejects.toMatchObject({ name: 'SieveError', code: 'disk' })
      expect(refusal(() => stored.clear()).code).toBe('disk')
      const { urls, seen, invalid } = stored.stats()
      expect({ urls, seen, invalid }).toEqual({
        urls: before.urls,
        seen: before.seen,
        invalid: before.invalid,
      })
      expect(stored.hasMany(named('a', 300)).indexOf(0)).toBe(-1)
      expect(stored.hasMany(named('b', 300)).indexOf(1)).toBe(-1)
      await stored.close().catch(() => {})
    },
  )

  it('another kind, itself and no sieve at all', async () => {
    const sieve = await Sieve.create({ key })
    sieve.addMany(named('a', 10))
    const before = sieve.stats()
    await expect(sieve.merge(await Sieve.create())).rejects.toThrow('secret keys')
    await expect(sieve.merge({} as Sieve)).rejects.toThrow(/^other is a Object: expected a Sieve$/)
    await sieve.merge(sieve)
    expect(sieve.stats()).toEqual(before)
  })
})
