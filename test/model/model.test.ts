// Any sequence of calls, refused ones, crashes and reopenings among them, answers as a plain Set does: for every filter and
// backend. Seeded; a failure names its seed and step. The long run is behind URLSIEVE_FULL=1.
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyOf, type Profile, profiles } from '../../src/canonical/profiles.ts'
import type { FilterName } from '../../src/filters/registry.ts'
import { Sieve } from '../../src/sieve.ts'
import { storedKeys } from '../../src/store/stored-keys.ts'
import { ampleSize, isExactWhenAmple, kinds } from '../conformance/sizes.ts'
import { type RedisNode, startNode, whyNoRedis } from '../redis/servers.ts'
import { newPaths } from '../support/folders.ts'
import { itemsOf } from '../support/items.mjs'
import { type Step, stepsOf } from './plan.ts'
import { exactSubject, redisSubject, type Subject, sieveSubject } from './subjects.ts'

const isFull = process.env.URLSIEVE_FULL === '1'
const SEEDS = isFull ? 6 : 1
const STEPS = isFull ? 300 : 70

const newFolder = newPaths()
const encoder = new TextEncoder()
const decoder = new TextDecoder()
const key = new Uint8Array(16).fill(11)

const linesOf = (urls: readonly string[]) => encoder.encode(urls.map((url) => `${url}\n`).join(''))

/** The Set, and the counts that follow from it. */
class Model {
  readonly known = new Set<string>()
  seen = 0
  invalid = 0
  readonly #profile: Profile

  constructor(profile: Profile) {
    this.#profile = profile
  }

  #keyOf(url: string): string {
    const found = keyOf(this.#profile, url)
    if (found === null) this.invalid++
    return found ?? url
  }

  add(url: string): number {
    const key = this.#keyOf(url)
    const isNew = !this.known.has(key)
    this.known.add(key)
    if (!isNew) this.seen++
    return Number(isNew)
  }

  has(url: string): number {
    return Number(this.known.has(this.#keyOf(url)))
  }

  delete(url: string): boolean {
    return this.known.delete(this.#keyOf(url))
  }

  /** What `explain` says, which counts nothing. */
  verdict(url: string): string {
    const { invalid } = this
    const isKnown = this.has(url) === 1
    this.invalid = invalid
    return isKnown ? 'seen' : 'new'
  }

  clear(): void {
    this.known.clear()
    this.seen = 0
    this.invalid = 0
  }
}

interface Trust {
  /** Every verdict is that of a Set. Else only "seen" for what was added is. */
  readonly isExact: boolean
  /** `urls` is the size of the Set also after a merge. */
  readonly countsMerges: boolean
  /** `seen` and `invalid` are those of the model. */
  readonly keepsCounts: boolean
}

async function run(subject: Subject, profile: Profile, trust: Trust, seed: number): Promise<void> {
  const model = new Model(profile)
  let countsUrls = trust.isExact
  let countsRest = trust.isExact && trust.keepsCounts
  const check = (got: ArrayLike<number>, expected: readonly number[], wrongWay: number) => {
    expect(got.length).toBe(expected.length)
    const wrong = expected.findIndex((answer, i) =>
      trust.isExact ? answer !== got[i] : answer !== got[i] && got[i] === wrongWay,
    )
    if (wrong >= 0) expect.fail(`number ${wrong}: got ${got[wrong]}, expected ${expected[wrong]}`)
  }
  const adds = async (urls: readonly string[], act: () => unknown) =>
    check(
      (await act()) as Uint8Array,
      urls.map((url) => model.add(url)),
      1,
    )
  const asks = async (urls: readonly string[], act: () => unknown) =>
    check(
      (await act()) as Uint8Array,
      urls.map((url) => model.has(url)),
      0,
    )

  async function take(step: Step): Promise<void> {
    switch (step.verb) {
      case 'add':
        return adds([step.url], async () => [Number(await subject.add(step.url))])
      case 'has':
        return asks([step.url], async () => [Number(await subject.has(step.url))])
      case 'delete':
        if (subject.delete) expect(await subject.delete(step.url)).toBe(model.delete(step.url))
        return
      case 'explain':
        if (!subject.explain) return
        if (trust.isExact || model.verdict(step.url) === 'seen')
          expect((await subject.explain(step.url)).verdict).toBe(model.verdict(step.url))
        return
      case 'addMany':
        return adds(step.urls, () => subject.addMany(step.urls))
      case 'hasMany':
        return asks(step.urls, () => subject.hasMany(step.urls))
      case 'addLines':
        return adds(step.urls, () => subject.addLines(linesOf(step.urls)))
      case 'hasLines':
        if (subject.hasLines) await asks(step.urls, () => subject.hasLines!(linesOf(step.urls)))
        return
      case 'addItems':
        if (subject.addItems) await adds(step.urls, () => subject.addItems!(itemsOf(step.urls)))
        return
      case 'hasItems':
        if (subject.hasItems) await asks(step.urls, () => subject.hasItems!(itemsOf(step.urls)))
        return
      case 'feed': {
        if (!subject.feed) return
        const kept = decoder.decode(subject.feed(linesOf(step.urls)))
        const fresh = step.urls.filter((url) => model.add(url) === 1)
        if (trust.isExact) expect(kept).toBe(fresh.map((url) => `${url}\n`).join(''))
        return
      }
      case 'merge': {
        if (!subject.merge) return
        await subject.merge(step.urls)
        const { seen, invalid } = model
        const other = new Model(profile)
        for (const url of step.urls) other.add(url)
        for (const known of other.known) model.known.add(known)
        model.seen = seen + other.seen
        model.invalid = invalid + other.invalid
        countsUrls &&= trust.countsMerges
        return
      }
      case 'refused':
        return subject.refuse(step.number)
      case 'clear':
        await subject.clear()
        model.clear()
        countsUrls = trust.isExact
        countsRest = trust.isExact && trust.keepsCounts
        return
      case 'fold':
        return subject.fold?.()
      case 'saveLoad':
        return subject.saveLoad?.()
      case 'reopen':
      case 'crash': {
        const act = subject[step.verb]
        if (!act) return
        await act()
        return
      }
    }
  }

  let number = 0
  for (const step of stepsOf(seed, STEPS)) {
    try {
      await take(step)
      const { urls, seen, invalid } = await subject.counts()
      if (countsUrls) expect(urls).toBe(model.known.size)
      if (countsRest) expect({ seen, invalid }).toEqual({ seen: model.seen, invalid: model.invalid })
    } catch (error) {
      throw new Error(`seed ${seed}, step ${number}, ${step.verb}: ${(error as Error).message}`, {
        cause: error,
      })
    }
    number++
  }
  if (subject.keys) {
    const keys = (await subject.keys()).sort()
    if (trust.isExact) expect(keys).toEqual([...model.known].sort())
    else expect(keys.filter((one) => !model.known.has(one))).toEqual([])
  }
  await subject.close()
}

const seeds = Array.from({ length: SEEDS }, (_, i) => i + 1)
const timeout = isFull ? 1_200_000 : 120_000

describe.each(kinds)('$name', (kind) => {
  const isExact = isExactWhenAmple(kind)
  const trust = { isExact, countsMerges: kind.can.delete, keepsCounts: true }

  it.each([
    ['in memory', undefined],
    ['in a folder', { durability: 'never', foldBytes: 4096 }],
    ['in a folder that keeps keys', { durability: 'interval', foldBytes: 20_000, keepKeys: true }],
  ] as const)('%s', { timeout }, async (place, store) => {
    for (const seed of seeds) {
      const profile = (seed + place.length) % 2 === 0 ? profiles.web : profiles.raw
      const options = { filter: kind.name as FilterName, profile, key, ...ampleSize(kind, 3000) }
      const subject = await sieveSubject({ options, ...(store && { store }), newFolder })
      await run(subject, profile, trust, seed * 1000 + place.length)
    }
  })
})

it('a store that keeps keys and is cleared while a snapshot is written has the keys of after', async () => {
  const folder = newFolder()
  const sieve = await Sieve.open(folder, { profile: 'raw', keepKeys: true })
  sieve.addMany(['a', 'b'])
  const saved = sieve.save()
  sieve.clear()
  sieve.addMany(['c', 'd'])
  await saved
  await sieve.close()
  expect([...storedKeys(folder)].map(String)).toEqual(['c', 'd'])
})

describe('exact', () => {
  it.each([
    ['as it comes', {}],
    ['with a cache of one and a filter that knows nothing', { filterBytes: 64, cacheEntries: 1 }],
  ] as const)('%s', { timeout }, async (name, options) => {
    for (const seed of seeds) {
      const subject = await exactSubject({ ...options, durability: 'never' }, newFolder)
      const trust = { isExact: true, countsMerges: true, keepsCounts: true }
      await run(subject, profiles.web, trust, seed * 1000 + name.length)
    }
  })
})

describe.skipIf(whyNoRedis)('on Redis', () => {
  let node: RedisNode
  let client: ReturnType<typeof createClient>
  beforeAll(async () => {
    node = await startNode()
    client = createClient({ url: node.url })
    await client.connect()
  }, 60_000)
  afterAll(async () => {
    await client?.close()
    await node?.kill()
  })

  it.each(['fingerprint', 'compact'] as const)('%s', { timeout }, async (mode) => {
    for (const seed of seeds) {
      const size = mode === 'compact' ? { expectedUrls: 1_000_000 } : {}
      const options = { client: client as never, name: `${mode}-${seed}`, mode, tags: 4, ...size }
      const trust = { isExact: true, countsMerges: true, keepsCounts: false }
      await run(await redisSubject(options), profiles.web, trust, seed)
    }
  })
})
