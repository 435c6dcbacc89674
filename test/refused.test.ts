// After a call that was refused a sieve answers and counts as if the call had not been made: every verb, every kind of
// argument that cannot be, URLs that do not fit, and calls from inside another call.
import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SieveError } from '../src/errors.ts'
import type { FilterName } from '../src/filters/registry.ts'
import { Commands } from '../src/run/commands.ts'
import { type DeletingSieve, type FolderSieve, Sieve } from '../src/sieve.ts'
import { ampleSize, kinds } from './conformance/sizes.ts'
import { newPaths } from './support/folders.ts'
import { itemsOf } from './support/items.mjs'

const key = new Uint8Array(16).fill(3)
const encoder = new TextEncoder()
const named = (letter: string, count: number) =>
  Array.from({ length: count }, (_, i) => `https://example.com/${letter}/${i}`)
const lines = (urls: readonly string[]) => encoder.encode(`${urls.join('\n')}\n`)

/** Longer than what is left in an instance of these bytes. */
const INSTANCE_BYTES = 3 * 2 ** 20
const LONG = `https://example.com/${'x/'.repeat(2 ** 21)}`

function refusal(act: () => unknown): SieveError {
  try {
    act()
  } catch (error) {
    expect(error).toBeInstanceOf(SieveError)
    expect((error as Error).message).toMatch(/^[^\n]+$/)
    return error as SieveError
  }
  throw new Error('expected a refusal')
}

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
  for (const size of [-1, 0.5, Number.NaN, '1', 2 ** 32, 2 ** 40]) calls.push(() => feed.room(size as number))
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
    () => sieve.addItems(itemsOf(one)),
    () => sieve.hasItems(itemsOf(one)),
    () => sieve.addLines(lines(one)),
    () => sieve.hasLines(lines(one)),
    () => sieve.explain(LONG),
  ]
  if ('delete' in sieve) calls.push(() => (sieve as DeletingSieve).delete(LONG))
  if ('hasUnder' in sieve) calls.push(() => (sieve as FolderSieve).hasUnder(LONG))
  return calls
}

const newFolder = newPaths()

describe.each(kinds)('$name', (kind) => {
  const options = { filter: kind.name as FilterName, key, ...ampleSize(kind, 2000) }

  // Answers and counts of two sieves that were given the same, apart from calls that were refused.
  const expectAlike = (one: Sieve, twin: Sieve, round: number) => {
    const known = named('a', 400)
    const fresh = [...named(`b${round}`, 100), 'no url', 'https://ü.example/']
    expect(one.hasMany(known)).toEqual(twin.hasMany(known))
    expect(one.hasMany(known).indexOf(0)).toBe(-1)
    expect(one.addMany(fresh)).toEqual(twin.addMany(fresh))
    expect(one.addLines(lines(fresh))).toEqual(twin.addLines(lines(fresh)))
    expect(fresh.slice(0, 5).map((url) => one.add(`${url}/x`))).toEqual(
      fresh.slice(0, 5).map((url) => twin.add(`${url}/x`)),
    )
    expect(one.addItems(itemsOf(named('c', 50)))).toEqual(twin.addItems(itemsOf(named('c', 50))))
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
    one.addMany(named('a', 400))
    twin.addMany(named('a', 400))
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
      one.addMany(named('a', 400))
      twin.addMany(named('a', 400))
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
    one.addMany(named('a', 400))
    twin.addMany(named('a', 400))
    const urls = [...named('d', 2100), 'no url', LONG, ...named('e', 10)]
    for (const act of [
      () => one.addMany(urls),
      () => one.addLines(lines(urls)),
      () => one.addItems(itemsOf(urls)),
    ]) {
      const { answered } = refusal(act)
      expect(answered!.length).toBeGreaterThanOrEqual(2048)
      expect(answered).toEqual(twin.addMany(urls.slice(0, answered!.length)))
      expect(one.hasMany(named('e', 10))).toEqual(twin.hasMany(named('e', 10)))
      expectAlike(one, twin, 0)
    }
  })
})

describe('calls from inside a call', () => {
  it('a getter in a list may use the sieve, clear it too', async () => {
    const sieve = await Sieve.create({ key })
    const list = (inside: () => void) => {
      const urls = named('a', 3)
      let isFirst = true
      Object.defineProperty(urls, 1, {
        get() {
          if (isFirst) {
            isFirst = false
            inside()
          }
          return 'https://example.com/got'
        },
      })
      return urls
    }
    expect([...sieve.addMany(list(() => sieve.addMany(named('b', 300))))]).toEqual([1, 1, 1])
    expect(sieve.hasMany(named('b', 300)).indexOf(0)).toBe(-1)
    expect([
      ...sieve.hasMany(['https://example.com/a/0', 'https://example.com/got', 'https://example.com/a/2']),
    ]).toEqual([1, 1, 1])
    expect([...sieve.addMany(list(() => sieve.clear()))]).toEqual([1, 1, 1])
    expect(sieve.stats().urls).toBe(3)
    expect(sieve.has('https://example.com/b/1')).toBe(false)
  })

  it('a getter that gives a string once: what was answered before is marked, no more', async () => {
    const sieve = await Sieve.create({ key })
    const urls = named('a', 5000)
    let reads = 0
    Object.defineProperty(urls, 4500, { get: () => (reads++ === 0 ? 'https://example.com/x' : 5) })
    const { answered, code } = refusal(() => sieve.addMany(urls))
    expect(code).toBe('option')
    expect(sieve.stats().urls).toBe(answered!.length)
    expect([...sieve.hasMany(named('a', 5000))].lastIndexOf(1)).toBe(answered!.length - 1)
  })

  it('a rule, a feature function and onBatch may not: the call inside is refused, the one around it stands', async () => {
    const inside: SieveError[] = []
    let use: (() => void) | null = null
    const run = () => {
      if (use) inside.push(refusal(use))
    }
    const rule = {
      name: 'own',
      does: 'nothing',
      lossy: false,
      apply(url: string) {
        run()
        return url
      },
    }
    const byRule = await Sieve.create({ key, profile: [rule] })
    const byFeature = await Sieve.create({
      key,
      filter: 'eigenvalue',
      expectedUrls: 10_000,
      falsePositiveRate: 1e-9,
      features: (text: string) => {
        run()
        return text
      },
    })
    for (const sieve of [byRule, byFeature]) {
      for (const act of [
        () => sieve.add('https://example.com/in'),
        () => sieve.has('https://example.com/in'),
        () => sieve.addMany(['https://example.com/in']),
        () => sieve.addLines(lines(['https://example.com/in'])),
        () => sieve.clear(),
        () => sieve.explain('https://example.com/in'),
        () => sieve.feed({ keep: 'new' }),
      ]) {
        use = act
        const url = `https://example.com/${Math.random()}`
        const before = sieve.stats().urls
        const count = inside.length
        expect(sieve.add(url)).toBe(true)
        expect(inside.length).toBeGreaterThan(count)
        use = null
        expect(sieve.stats().urls).toBe(before + 1)
        expect(sieve.has(url)).toBe(true)
        expect(sieve.has('https://example.com/in')).toBe(false)
      }
    }
    const sieve = await Sieve.create({ key })
    const feed = sieve.feed({ keep: 'new' }, () => {
      inside.push(refusal(() => sieve.add('https://example.com/in')))
      inside.push(refusal(() => feed.room(1)))
    })
    const bytes = lines(named('a', 10))
    feed.room(bytes.length).set(bytes)
    expect(feed.push(bytes.length)).toEqual(bytes)
    expect(sieve.stats().urls).toBe(10)
    for (const { code, message } of inside) {
      expect([code, message]).toEqual([
        'option',
        'the sieve is in the middle of another call: use it after that call',
      ])
    }
  })
})

describe('feeds', () => {
  const put = (feed: { room(n: number): Uint8Array; push(n: number): Uint8Array }, text: string) => {
    const bytes = encoder.encode(text)
    feed.room(bytes.length).set(bytes)
    return new TextDecoder().decode(feed.push(bytes.length))
  }

  it('half a line stays with its feed through clear, other feeds and lines that do not fit', async () => {
    const sieve = await Sieve.create({ key, profile: 'raw', instanceBytes: INSTANCE_BYTES })
    const feed = sieve.feed({ keep: 'new' })
    expect(put(feed, 'one\ntw')).toBe('one\n')
    sieve.clear()
    expect(put(feed, 'o\none\nthr')).toBe('two\none\n')
    sieve.addLines(encoder.encode('four\nfive'))
    expect(refusal(() => feed.room(2 ** 23)).code).toBe('memory')
    expect(put(feed, 'ee\nfour\n')).toBe('three\n')
    expect(sieve.stats()).toMatchObject({ urls: 5, seen: 1 })
  })

  it('what came between room and push is refused, and nothing is marked', async () => {
    const sieve = await Sieve.create({ key, profile: 'raw' })
    for (const between of [() => void sieve.addLines(encoder.encode('x\n')), () => sieve.clear()]) {
      const feed = sieve.feed({ keep: 'new' })
      feed.room(4).set(encoder.encode('abc\n'))
      between()
      expect(refusal(() => feed.push(4)).code).toBe('option')
      expect(sieve.has('abc')).toBe(false)
      expect(put(feed, 'def\n')).toBe('def\n')
    }
  })

  it('keys that do not fit: nothing of that batch is marked', async () => {
    const sieve = await Sieve.create({ key, profile: 'raw', instanceBytes: 2 ** 20 })
    const feed = sieve.feed({ keep: 'new', as: 'key' })
    const text = `${'y'.repeat(600_000)}\n`
    feed.room(text.length).set(encoder.encode(text))
    expect(feed.push(text.length).length).toBe(0)
    expect(refusal(() => feed.end()).code).toBe('memory')
    expect(sieve.stats().urls).toBe(0)
  })

  it('commands: half a line through clear, and the first of a batch that is refused are answered', async () => {
    const sieve = await Sieve.create({ key, profile: 'web', instanceBytes: INSTANCE_BYTES })
    const program = new Commands(sieve)
    expect(put(program, 'ADD https://a.example/1\nCHECK https://a.ex')).toBe('added https://a.example/1\n')
    sieve.clear()
    expect(put(program, 'ample/1\n')).toBe('not-present https://a.example/1\n')
    const { urls } = sieve.stats()
    const out = put(
      program,
      `ADD https://a.example/2\nADD ${LONG.slice(0, 1_400_000)}\nADD https://a.example/3\n`,
    )
    const done = out.split('\n').length - 1
    expect(sieve.stats().urls).toBe(urls + done)
    expect(sieve.has('https://a.example/3')).toBe(done > 2)
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
