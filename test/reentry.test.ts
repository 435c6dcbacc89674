// Calls from inside a call of the same sieve, and feeds that were left in the middle: refused in one line, and nothing has
// changed.
import { describe, expect, it } from 'vitest'
import type { SieveError } from '../src/errors.ts'
import { Commands } from '../src/run/commands.ts'
import { Sieve } from '../src/sieve.ts'
import { lines, named, refusal } from './support/refusal.ts'

const encoder = new TextEncoder()
const key = new Uint8Array(16).fill(3)

/** Longer than what is left in an instance of these bytes. */
const INSTANCE_BYTES = 3 * 2 ** 20
const LONG = `https://example.com/${'x/'.repeat(2 ** 21)}`

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
      inside.push(refusal(() => feed.reserve(1)))
    })
    const bytes = lines(named('a', 10))
    feed.reserve(bytes.length).set(bytes)
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
  const put = (feed: { reserve(n: number): Uint8Array; push(n: number): Uint8Array }, text: string) => {
    const bytes = encoder.encode(text)
    feed.reserve(bytes.length).set(bytes)
    return new TextDecoder().decode(feed.push(bytes.length))
  }

  it('half a line stays with its feed through clear, other feeds and lines that do not fit', async () => {
    const sieve = await Sieve.create({ key, profile: 'raw', instanceBytes: INSTANCE_BYTES })
    const feed = sieve.feed({ keep: 'new' })
    expect(put(feed, 'one\ntw')).toBe('one\n')
    sieve.clear()
    expect(put(feed, 'o\none\nthr')).toBe('two\none\n')
    sieve.addLines(encoder.encode('four\nfive'))
    expect(refusal(() => feed.reserve(2 ** 23)).code).toBe('memory')
    expect(put(feed, 'ee\nfour\n')).toBe('three\n')
    expect(sieve.stats()).toMatchObject({ urls: 5, seen: 1 })
  })

  it('what came between room and push is refused, and nothing is marked', async () => {
    const sieve = await Sieve.create({ key, profile: 'raw' })
    for (const between of [() => void sieve.addLines(encoder.encode('x\n')), () => sieve.clear()]) {
      const feed = sieve.feed({ keep: 'new' })
      feed.reserve(4).set(encoder.encode('abc\n'))
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
    feed.reserve(text.length).set(encoder.encode(text))
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
