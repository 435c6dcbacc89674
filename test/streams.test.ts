// Feeds: however the bytes are cut, what comes out is what splitting the whole on newlines and a Set would give.
import { describe, expect, it } from 'vitest'
import { keyOf, profiles } from '../src/canonical/profiles.ts'
import type { FeedOptions } from '../src/lines/feed.ts'
import { Sieve, type SieveOptions } from '../src/sieve.ts'
import { generateUrls, type Random } from './canonical/urls.ts'
import { randomFrom } from './support/random.mjs'

const key = new Uint8Array(16).fill(9)
const encoder = new TextEncoder()
const bytesOf = (text: string) => encoder.encode(text)
/** Bytes as text of one character each, so that bytes that are no UTF-8 compare as they are. */
const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')

const ways = (['new', 'seen', 'none'] as const).flatMap((keep) =>
  (['line', 'key'] as const).map((as) => ({ keep, as })),
)

interface Sifted {
  /** What was kept. */
  readonly out: Buffer
  /** One of each line. */
  readonly verdicts: Buffer
}

/** Compares as bytes, and as texts only to say what differs: that takes longer than what is tested. */
function expectSifted(got: Sifted, expected: Sifted, what?: string): void {
  if (got.out.equals(expected.out) && got.verdicts.equals(expected.verdicts)) return
  expect([...got.verdicts], what).toEqual([...expected.verdicts])
  expect(latin1(got.out), what).toBe(latin1(expected.out))
}

const itself = (line: string) => line

interface Judged {
  /** One character a byte. */
  readonly lines: string[]
  readonly keys: string[]
  readonly verdicts: Buffer
}

/** What the oracle says of bytes that it was asked about before, whatever is kept of them. */
const judged = new WeakMap<(line: string) => string, WeakMap<Uint8Array, Judged>>()

/** The oracle: lines end with a newline, a last line may lack it. */
function judge(bytes: Uint8Array, keyed: (line: string) => string): Judged {
  const lines = latin1(bytes).split('\n')
  if (lines.at(-1) === '') lines.pop()
  const keys = keyed === itself ? lines : lines.map(keyed)
  const known = new Set<string>()
  const verdicts = Buffer.alloc(lines.length)
  for (const [i, key] of keys.entries()) {
    if (known.has(key)) continue
    known.add(key)
    verdicts[i] = 1
  }
  return { lines, keys, verdicts }
}

/** What a feed is to make of bytes; each line is its own key unless `keyed` says other. */
function siftPlainly(bytes: Uint8Array, { keep, as }: FeedOptions, keyed = itself): Sifted {
  const before = judged.get(keyed) ?? new WeakMap<Uint8Array, Judged>()
  judged.set(keyed, before)
  const known = before.get(bytes) ?? judge(bytes, keyed)
  before.set(bytes, known)
  const { lines, keys, verdicts } = known
  const wanted = keep === 'new' ? 1 : keep === 'seen' ? 0 : 2
  const kept = (as === 'key' ? keys : lines).filter((_, i) => verdicts[i] === wanted)
  return { out: Buffer.from(kept.length === 0 ? '' : `${kept.join('\n')}\n`, 'latin1'), verdicts }
}

/** The feed, given the bytes in pieces of the sizes that `cuts` yields until there are no more. */
async function sift(bytes: Uint8Array, cuts: Iterable<number>, way: FeedOptions, options: SieveOptions = {}) {
  const sieve = await Sieve.create({ profile: 'raw', key, ...options })
  const batches: Buffer[] = []
  const feed = sieve.feed(way, (some) => batches.push(Buffer.from(some)))
  const parts: Buffer[] = []
  let at = 0
  for (const size of cuts) {
    const piece = bytes.subarray(at, at + size)
    feed.reserve(piece.length).set(piece)
    const kept = feed.push(piece.length)
    if (kept.length > 0) parts.push(Buffer.from(kept))
    at += piece.length
    if (at >= bytes.length && size > 0) break
  }
  parts.push(Buffer.from(feed.end()))
  expect(feed.end().length, 'a second end gives nothing').toBe(0)
  const verdicts = Buffer.concat(batches)
  expect(feed.lines).toBe(verdicts.length)
  const { urls, seen } = sieve.stats()
  expect([urls, urls + seen]).toEqual([verdicts.reduce((sum, verdict) => sum + verdict, 0), verdicts.length])
  return { sifted: { out: Buffer.concat(parts), verdicts } satisfies Sifted, batches: batches.length, sieve }
}

function* always(size: number): Generator<number> {
  for (;;) yield size
}

function* randomCuts(rng: Random, most: number): Generator<number> {
  for (;;) yield Math.floor(rng() ** 3 * most)
}

/** Random lines, many of them repeated, of bytes that are hard on a parser. */
function randomLines(seed: number, count: number, { most = 60, lastNewline = true } = {}): Uint8Array {
  const rng = randomFrom(seed)
  const alphabet = [0, 0, 9, 13, 13, 32, 47, 65, 97, 97, 98, 127, 128, 0xc3, 0xa9, 0xed, 0xa0, 0xfe, 0xff]
  const pool = Array.from({ length: Math.ceil(count / 3) }, () =>
    Uint8Array.from({ length: Math.floor(rng() ** 2 * most) }, () =>
      rng() < 0.8 ? alphabet[Math.floor(rng() * alphabet.length)]! : (11 + rng() * 245) & 255,
    ).map((byte) => (byte === 10 ? 11 : byte)),
  )
  const lines = Array.from({ length: count }, () => Buffer.from(pool[Math.floor(rng() * pool.length)]!))
  const all = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]))
  return Uint8Array.from(lastNewline ? all : all.subarray(0, -1))
}

const texts: Record<string, Uint8Array> = {
  nothing: bytesOf(''),
  'one newline': bytesOf('\n'),
  'one line without newline': bytesOf('a'),
  'CRLF and LF': bytesOf('a\r\na\nb\r\nb\r\n\r\n\na'),
  'empty lines': bytesOf('\n\na\n\n\nb\n\n'),
  'a NUL, a lone CR, broken UTF-8': Uint8Array.of(
    0,
    10,
    13,
    10,
    0xff,
    10,
    0xc3,
    10,
    0xc3,
    0x28,
    10,
    0,
    10,
    0xff,
    10,
    0,
  ),
  'all empty': bytesOf('\n'.repeat(5000)),
  'random, last newline': randomLines(1, 3000),
  'random, no last newline': randomLines(2, 3000, { lastNewline: false }),
  'very short': randomLines(3, 9000, { most: 3 }),
  'around 64 bytes': randomLines(4, 3000, { most: 140 }),
  'one batch of lines': bytesOf(Array.from({ length: 2048 }, (_, i) => `${i % 1500}\n`).join('')),
  'one line more than a batch': bytesOf(Array.from({ length: 2049 }, (_, i) => `${i % 1500}\n`).join('')),
  'three batches, no last newline': bytesOf(Array.from({ length: 6144 }, (_, i) => `${i % 4000}`).join('\n')),
}

describe.each(Object.entries(texts))('%s', (_, bytes) => {
  it.each(ways)('keep $keep as $as: whole, byte by byte and in random cuts', async (way) => {
    const expected = siftPlainly(bytes, way)
    expectSifted((await sift(bytes, always(bytes.length || 1), way)).sifted, expected, 'whole')
    expectSifted((await sift(bytes, always(1), way)).sifted, expected, 'byte by byte')
    for (let seed = 0; seed < 4; seed++) {
      const cuts = randomCuts(randomFrom(seed), 10 ** (1 + seed))
      expectSifted((await sift(bytes, cuts, way)).sifted, expected, `cuts of seed ${seed}`)
    }
  })

  it('addLines and hasLines see the same lines', async () => {
    const { verdicts } = siftPlainly(bytes, { keep: 'none' })
    const sieve = await Sieve.create({ profile: 'raw', key })
    const all = (verdict: number) => Array.from(verdicts, () => verdict)
    expect([...sieve.hasLines(bytes)]).toEqual(all(0))
    expect([...sieve.addLines(bytes)]).toEqual([...verdicts])
    expect([...sieve.hasLines(bytes)]).toEqual(all(1))
  })
})

it('cut once at every place', async () => {
  const bytes = Uint8Array.from([
    ...texts['CRLF and LF']!,
    10,
    ...texts['empty lines']!,
    ...randomLines(7, 12),
  ])
  const way = { keep: 'new', as: 'line' } as const
  const expected = siftPlainly(bytes, way)
  for (let at = 0; at <= bytes.length; at++) {
    expectSifted((await sift(bytes, [at, bytes.length - at], way)).sifted, expected, `cut at ${at}`)
  }
})

describe('long lines', () => {
  const long = Uint8Array.from({ length: 3_000_000 }, (_, i) => 97 + (i % 23))
  const among = Buffer.concat([bytesOf('a\n'), long, bytesOf('\na\nb\n'), long, bytesOf('\nb')])
  const cuts: Record<string, () => Iterable<number>> = {
    whole: () => always(among.length),
    'by 64 KiB': () => always(65_536),
    'by 1 MiB': () => always(1 << 20),
    'in random cuts': () => randomCuts(randomFrom(8), 300_000),
  }

  it.each(Object.entries(cuts))('one of 3 MB, twice, %s', async (_, pieces) => {
    for (const way of ways) {
      expectSifted((await sift(among, pieces(), way)).sifted, siftPlainly(among, way))
    }
  })

  it('lengths around every growth of the buffers, in one feed and shuffled', async () => {
    const rng = randomFrom(10)
    const sizes = [16, 32, 64, 128, 256, 512].flatMap((kib) =>
      [-129, -128, -17, -16, -1, 0, 1, 15, 16, 127, 128, 129].map((extra) => kib * 1024 + extra),
    )
    const lines = [...sizes, ...sizes].map((size) => [rng(), Buffer.alloc(size, `${size}.`)] as const)
    const shuffled = lines.sort(([a], [b]) => a - b).map(([, line]) => line)
    const bytes = Buffer.concat(shuffled.flatMap((line) => [line, bytesOf('\n')]))
    for (const profile of ['raw', 'web'] as const) {
      for (const way of [ways[0]!, ways[3]!]) {
        const expected = siftPlainly(bytes, way)
        for (const pieces of [always(bytes.length), always(65_536), randomCuts(rng, 400_000)]) {
          expect((await sift(bytes, pieces, way, { profile })).sifted.out.equals(expected.out)).toBe(true)
        }
      }
    }
  })
})

describe('the web profile', () => {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  /** The key of a line by the platform alone; what is no UTF-8, or no URL, is its own. */
  const keyed = (line: string) => {
    const bytes = Buffer.from(line, 'latin1')
    let text: string
    try {
      text = decoder.decode(bytes)
    } catch {
      return line
    }
    return latin1(bytesOf(keyOf(profiles.web, text) ?? text))
  }

  const rng = randomFrom(11)
  const urls = generateUrls(12, 3000).filter((url) => !/\/\.[^/]*\/.*\/\.\.?(\/|$)/.test(url))
  const lines = Array.from({ length: 7000 }, () => Buffer.from(urls[Math.floor(rng() * urls.length)]!))
  for (let i = 0; i < lines.length; i += 50) lines[i] = Buffer.from([...lines[i]!.subarray(0, 9), 0xff, 47])
  const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]))

  it.each(ways)('keep $keep as $as, with usual, unusual and broken lines mixed', async (way) => {
    const expected = siftPlainly(bytes, way, keyed)
    for (const pieces of [always(bytes.length), always(1), always(997), randomCuts(rng, 100_000)]) {
      const { sifted, sieve } = await sift(bytes, pieces, way, { profile: 'web' })
      expectSifted(sifted, expected)
      expect(sieve.stats().invalid).toBeGreaterThan(lines.length / 50)
    }
  })

  it('a batch full of unusual lines, each longer as a key, makes the memory grow in the middle', async () => {
    // Nine bytes of key for each of three bytes of line: the keys' buffer grows several times over.
    const line = (i: number, size: number) => `http://bücher.example/${i}/${'ü€'.repeat(size)}`
    for (const size of [1, 40, 800, ...(process.env.URLSIEVE_FULL ? [3000] : [])]) {
      const text = Array.from({ length: 2500 }, (_, i) => line(i % 2300, size)).join('\n')
      const bytes = bytesOf(text)
      const way = { keep: 'new', as: 'key' } as const
      const { sifted } = await sift(bytes, always(bytes.length), way, { profile: 'web' })
      const expected = siftPlainly(bytes, way, keyed)
      expect(sifted.out.equals(expected.out), `${size}`).toBe(true)
      expectSifted(sifted, expected, `${size}`)
    }
  })
})

describe('a feed and its sieve', () => {
  it('URLs added, asked for and explained between two pushes disturb no half line', async () => {
    const sieve = await Sieve.create({ profile: 'web', key })
    const feed = sieve.feed({ keep: 'new' })
    const out: string[] = []
    const push = (text: string) => {
      const bytes = bytesOf(text)
      feed.reserve(bytes.length).set(bytes)
      out.push(latin1(feed.push(bytes.length)))
    }
    push('https://a.example/1\nhttps://a.exam')
    expect(sieve.add('https://b.example/a/very/much/longer/one/than/what/waits')).toBe(true)
    expect(sieve.has('https://a.example/1')).toBe(true)
    push('ple/2\nhttps://bücher.ex')
    expect([...sieve.addMany(['https://c.example/', 'https://ü.example/', 'https://c.example/'])]).toEqual([
      1, 1, 0,
    ])
    expect(sieve.explain('https://c.example/').verdict).toBe('seen')
    expect(sieve.add(`https://d.example/${'x'.repeat(500_000)}`)).toBe(true)
    push('ample/3\nhttps://c.example/\nhttps://a.example/2')
    out.push(latin1(feed.end()))
    expect(out.join('')).toBe(
      latin1(bytesOf('https://a.example/1\nhttps://a.example/2\nhttps://bücher.example/3\n')),
    )
    expect(sieve.stats().seen).toBe(3)
  })

  it('a second feed goes on where the first ended', async () => {
    const sieve = await Sieve.create({ profile: 'raw', key })
    for (const [text, expected] of [
      ['a\nb', 'a\nb\n'],
      ['b\nc\n', 'c\n'],
      ['', ''],
      ['c\nd', 'd\n'],
    ] as const) {
      const feed = sieve.feed({ keep: 'new' })
      const bytes = bytesOf(text)
      feed.reserve(bytes.length).set(bytes)
      const kept = latin1(feed.push(bytes.length)) + latin1(feed.end())
      expect(kept).toBe(expected)
    }
  })

  it('a feed that holds no half line goes on after clear', async () => {
    const sieve = await Sieve.create({ profile: 'raw', key })
    const feed = sieve.feed({ keep: 'new' })
    const push = (text: string) => {
      const bytes = bytesOf(text)
      feed.reserve(bytes.length).set(bytes)
      return latin1(feed.push(bytes.length))
    }
    expect(push('a\nb\n')).toBe('a\nb\n')
    sieve.clear()
    expect(push('b\nc\nb\n')).toBe('b\nc\n')
    expect(sieve.has('c')).toBe(true)
    expect(sieve.has('a')).toBe(false)
    expect(sieve.stats()).toMatchObject({ urls: 2, seen: 1 })
  })

  it('room may be larger than what is pushed, and asked for again', async () => {
    const sieve = await Sieve.create({ profile: 'raw', key })
    const feed = sieve.feed({ keep: 'new' })
    const bytes = bytesOf('one\ntwo\nthr')
    feed.reserve(1_000_000).set(bytes)
    feed.reserve(1000).set(bytes)
    expect(latin1(feed.push(bytes.length))).toBe('one\ntwo\n')
    feed.reserve(5_000_000).set(bytesOf('ee\n'))
    expect(latin1(feed.push(3))).toBe('three\n')
  })

  it('grows the filter in the middle of a push without losing a line', async () => {
    const bytes = bytesOf(
      Array.from({ length: 300_000 }, (_, i) => `https://example.com/${i % 200_000}\n`).join(''),
    )
    const { sifted, batches } = await sift(bytes, always(bytes.length), { keep: 'seen' })
    const expected = siftPlainly(bytes, { keep: 'seen' })
    expect(sifted.out.equals(expected.out)).toBe(true)
    expect(batches).toBe(Math.ceil(300_000 / 2048))
  })
})
