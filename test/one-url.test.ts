// A single URL goes through all steps in one call of the kernel where it can: the same verdicts, counts and memory as in
// a batch, for every filter and profile, with lines that only the platform can key, and while the filter grows.
import { describe, expect, it } from 'vitest'
import { filterKinds } from '../src/filters/registry.ts'
import { Sieve, type SieveOptions } from '../src/sieve.ts'
import { STATE } from '../src/state.ts'
import { expectBytes } from './support/expect-is.ts'
import { randomFrom } from './support/random.mjs'

const key = new Uint8Array(16).fill(7)

/** Usual, unusual, unreadable and odd ones, with many repeats. */
function urls(count: number): string[] {
  const random = randomFrom(20)
  const forms = [
    (n: number) => `https://example.com/${n}`,
    (n: number) => `HTTP://Example.com:80/a/../${n}?q=${n}#top`,
    (n: number) => `http://user:word@example.org:8080/${n}/./x`,
    (n: number) => `https://bücher.example/straße/${n}`,
    (n: number) => `https://example.com/${n}/%7e'"`,
    (n: number) => `no url at all ${n}`,
    (n: number) => `mailto:${n}@example.com`,
    (n: number) => `https://example.com/${'long/'.repeat(60)}${n}`,
    (n: number) => ' '.repeat(n % 3),
  ]
  return Array.from({ length: count }, () =>
    forms[Math.floor(random() * forms.length)]!(Math.floor(random() * (count / 20))),
  )
}

const someUrls = urls(5000)
const manyUrls = urls(30_000)
const asked = [...manyUrls.slice(0, 2000), ...someUrls.map((url) => `${url}-other`)]

/** Every filter that takes hashes, in an instance of the sieve's own. */
const sizes: Record<string, SieveOptions> = Object.fromEntries(
  filterKinds
    .filter(({ takes, hasOwnInstances }) => takes !== 'keys' && !hasOwnInstances)
    .map(({ name, can }) => [name, can.grow ? {} : { expectedUrls: 20_000, falsePositiveRate: 1e-2 }]),
)

function joined(parts: readonly BigUint64Array[]): BigUint64Array {
  const all = new BigUint64Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** What a sieve remembers: its hashes, whose places in a table depend on the batches in which they came, or else its memory. */
const memoryOf = (sieve: Sieve) =>
  Buffer.concat(
    sieve[STATE].shards.all.flatMap(({ filter }) =>
      filter.hashes
        ? [Buffer.from(joined([...filter.hashes()]).sort().buffer)]
        : [...filter.pieces()].map(({ bytes }) => Buffer.from(bytes)),
    ),
  )

describe.each(Object.keys(sizes))('%s', (filter) => {
  it('takes a single URL in one call', async () => {
    const sieve = await Sieve.create({ filter, profile: 'raw', key, ...sizes[filter] } as SieveOptions)
    const { kernel } = sieve[STATE]
    const at = kernel.call.reserveUrls(1)
    kernel.refresh()
    kernel.bytes[at] = 0x61
    expect([kernel.call.hasOne(at, 1), kernel.call.addOne(at, 1), kernel.call.addOne(at, 1)]).toEqual([
      1, 1, 0,
    ])
  })

  it.each(['raw', 'whatwg', 'web', 'crawlee', 'aggressive'] as const)('profile %s', async (profile) => {
    const options = { filter, profile, key, ...sizes[filter] } as SieveOptions
    const [one, many] = await Promise.all([Sieve.create(options), Sieve.create(options)])
    const list = manyUrls
    expectBytes(
      Uint8Array.from(list, (url) => Number(one.add(url))),
      many.addMany(list),
    )
    expect(one.stats()).toEqual(many.stats())
    expect(memoryOf(one).equals(memoryOf(many))).toBe(true)
    expectBytes(
      Uint8Array.from(asked, (url) => Number(one.has(url))),
      many.hasMany(asked),
    )
    one.clear()
    expect(one.add(list[0]!)).toBe(true)
    expect(one.add(list[0]!)).toBe(false)
    expect(one.stats()).toMatchObject({ urls: 1, seen: 1 })
  })

  it.each(['xxh64', 'murmur3'] as const)('hash %s', async (hash) => {
    const options = { filter, hash, key, ...sizes[filter] } as SieveOptions
    const [one, many] = await Promise.all([Sieve.create(options), Sieve.create(options)])
    expectBytes(
      Uint8Array.from(someUrls, (url) => Number(one.add(url))),
      many.addMany(someUrls),
    )
    expect(memoryOf(one).equals(memoryOf(many))).toBe(true)
  })
})

it('fingerprint goes on when its instance is full, in several, one URL after another', async () => {
  const sieve = await Sieve.create({ profile: 'raw', key, instanceBytes: 2 * 2 ** 20 })
  const list = Array.from({ length: 200_000 }, (_, i) => `https://example.com/${i}`)
  for (const url of list) if (!sieve.add(url)) expect.fail(`${url} is answered seen`)
  for (const url of list) if (sieve.add(url)) expect.fail(`${url} is answered new again`)
  expect(sieve[STATE].shards.count).toBeGreaterThan(1)
  expect(sieve.stats()).toMatchObject({ urls: 200_000, seen: 200_000 })
})
