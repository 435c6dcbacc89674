// A sieve that was closed refuses every verb but `stats`, and one that was opened read-only every verb that changes it: with
// one line, and nothing is changed. The verbs are those that the classes have: one that is new must be in the table here.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { DiskSieve } from '../../src/disk/index.ts'
import { ExactSieve } from '../../src/exact/index.ts'
import { type AnySieve, freeze, Sieve, SieveError, siftLines } from '../../src/index.ts'
import { connectRedis, LayeredRedisSieve, RedisSieve } from '../../src/redis/index.ts'
import { LimitedSieve } from '../../src/shapes/limited-sieve.ts'
import { startNode, whyNoRedis } from '../redis/servers.ts'

const root = mkdtempSync(join(tmpdir(), 'closed-'))
const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
  rmSync(root, { recursive: true })
})

let count = 0
const folder = () => join(root, String(count++))
const url = 'https://example.com/a/b'
const bytes = new TextEncoder().encode(`${url}\n`)
const items = { bytes, starts: Uint32Array.of(0), ends: Uint32Array.of(url.length) }

let node: Promise<Awaited<ReturnType<typeof connectRedis>>> | undefined
const client = async () => {
  node ??= (async () => {
    const redis = await startNode()
    ends.push(() => redis.kill())
    const connection = await connectRedis(redis.url)
    ends.push(() => connection.close())
    return connection
  })()
  return (await node).client
}
const small = { expectedUrls: 1000, falsePositiveRate: 0.01 }
const memory = { maxMemory: 32 * 1024 ** 2 }

type Closing = Pick<AnySieve, 'close'> & object
const sieves: Readonly<Record<string, () => Promise<Closing>>> = {
  'Sieve.create': () => Sieve.create(),
  'Sieve.create of keys': () => Sieve.create({ filter: 'prefix-layers', ...small }),
  'Sieve.open': () => Sieve.open(folder()),
  'Sieve.open, read-only': async () => Sieve.open(await written(), { readOnly: true }),
  'DiskSieve.open': () => DiskSieve.open(folder(), memory),
  'ExactSieve.open': () => ExactSieve.open(folder()),
  'LimitedSieve of a Sieve': async () => new LimitedSieve(await Sieve.create(), { maxRepeats: 3 }),
  'RedisSieve.open': async () => RedisSieve.open({ client: await client(), name: `closed-${count++}` }),
  'LayeredRedisSieve.open': async () =>
    LayeredRedisSieve.open({ client: await client(), name: `closed-${count++}`, form: 'prefix-layers' }),
}

/** What a verb is called with; null: it answers after `close` too, or ends it. */
const calls: Readonly<Record<string, readonly unknown[] | null>> = {
  add: [url],
  has: [url],
  addMany: [[url]],
  hasMany: [[url]],
  addLines: [bytes],
  hasLines: [bytes],
  addItems: [items],
  hasItems: [items],
  delete: [url],
  deleteMany: [[url]],
  deleteItems: [items],
  hasUnder: ['example.com/a/'],
  forgetUnder: ['example.com/a/'],
  addInParts: [[url]],
  hasInParts: [[url]],
  confirm: [],
  ticket: [],
  unconfirmed: [],
  explain: [url],
  feed: [{ keep: 'new' }],
  clear: [],
  merge: [await Sieve.create()],
  sync: [],
  save: ['never.sieve'],
  keys: [],
  keyBytes: [],
  filled: [],
  moreTags: [8],
  drop: [],
  stats: null,
  close: null,
  isCurrent: null, // whether the cluster still has it
  forget: null, // of `delete`
  findUnder: null, // of `hasUnder`
}

/** Verbs that a sieve that was opened read-only refuses; the others go on answering. */
const changing =
  /^(add|addMany|addLines|addItems|addInParts|delete|deleteMany|deleteItems|forgetUnder|feed|clear|merge|moreTags|drop)$/

function verbsOf(sieve: object): string[] {
  const names = new Set<string>()
  for (let at = sieve; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value === 'function' && name !== 'constructor') names.add(name)
    }
  }
  return [...names].sort()
}

// A verb throws, rejects, or is an iterator that does.
async function call(sieve: object, verb: string, args = calls[verb]!): Promise<unknown> {
  const answer = (sieve as Record<string, (...args: readonly unknown[]) => unknown>)[verb]!(...args)
  if (typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer) {
    return (answer as AsyncGenerator<unknown>).next()
  }
  return answer
}

async function expectRefused(run: () => Promise<unknown>, words: RegExp, verb: string): Promise<void> {
  const error = await run().then(
    (answer) => `answered ${String(answer)}`,
    (error: unknown) => error,
  )
  expect(error, verb).toBeInstanceOf(SieveError)
  expect((error as SieveError).message, verb).toMatch(words)
}

const CLOSED = /^[^\n]* is closed: open it again$/
const READ_ONLY = /^[^\n]* is open read-only: open it without readOnly to change it$/

async function written(): Promise<string> {
  const path = folder()
  await using sieve = await Sieve.open(path)
  sieve.add(url)
  return path
}

describe.each(Object.keys(sieves))('%s, closed', (name) => {
  it.skipIf(name.includes('Redis') && whyNoRedis)('refuses every verb but stats', async () => {
    const sieve = await sieves[name]!()
    const verbs = verbsOf(sieve)
    expect(Object.keys(calls)).toEqual(expect.arrayContaining(verbs))
    const stats = 'stats' in sieve ? JSON.stringify(await (sieve.stats as () => unknown)()) : ''
    await sieve.close()
    for (const verb of verbs.filter((verb) => calls[verb] !== null)) {
      await expectRefused(() => call(sieve, verb), CLOSED, verb)
    }
    for (const verb of verbs.filter((verb) => /Many$|InParts$/.test(verb))) {
      await expectRefused(() => call(sieve, verb, [[]]), CLOSED, `${verb} of nothing`)
    }
    if ('addLines' in sieve) {
      await expectRefused(() => siftLines(sieve as AnySieve, [bytes]).next(), CLOSED, 'siftLines')
    }
    await sieve.close()
    if ('stats' in sieve) expect(JSON.stringify(await (sieve.stats as () => unknown)())).toBe(stats)
  })
})

describe('a Sieve that was closed', () => {
  it('is not merged, and not frozen', async () => {
    const closed = await Sieve.create()
    await closed.close()
    await expectRefused(async () => freeze(closed), CLOSED, 'freeze')
    const other = await Sieve.create()
    await expectRefused(() => other.merge(closed), CLOSED, 'merge')
    await expectRefused(() => closed.merge(closed), CLOSED, 'merge of itself')
  })

  it('ends its feeds', async () => {
    const sieve = await Sieve.create()
    const [feed, other] = [sieve.feed({ keep: 'new' }), sieve.feed({ keep: 'new' })]
    other.reserve(bytes.length).set(bytes)
    await sieve.close()
    await expectRefused(async () => feed.reserve(1), CLOSED, 'reserve')
    await expectRefused(async () => feed.end(), CLOSED, 'end')
    await expectRefused(async () => other.push(bytes.length), CLOSED, 'push')
    expect(sieve.stats().urls).toBe(0)
  })

  it('refuses from the call of close on, also when it closes inside a call', async () => {
    const stored = await Sieve.open(folder())
    const closing = stored.close()
    await expectRefused(async () => stored.add(url), CLOSED, 'add')
    await closing
    const sieve = await Sieve.create()
    const feed = sieve.feed({ keep: 'new' }, () => void sieve.close())
    feed.reserve(bytes.length).set(bytes)
    feed.push(bytes.length)
    await expectRefused(async () => sieve.add(url), CLOSED, 'add')
  })

  it('with `using`', async () => {
    const outside: Sieve[] = []
    {
      using sieve = await Sieve.create()
      outside.push(sieve)
    }
    await expectRefused(async () => outside[0]!.has(url), CLOSED, 'has')
  })
})

const readers: Readonly<Record<string, () => Promise<Closing>>> = {
  'Sieve.open': async () => Sieve.open(await written(), { readOnly: true }),
  'Sieve.open of keys': async () => {
    const path = folder()
    await (await Sieve.open(path, { filter: 'prefix-layers', ...small })).close()
    return Sieve.open(path, { readOnly: true })
  },
  'DiskSieve.open': async () => {
    const path = folder()
    await (await DiskSieve.open(path, memory)).close()
    return DiskSieve.open(path, { ...memory, readOnly: true })
  },
}

describe.each(Object.keys(readers))('%s, read-only', (name) => {
  it('refuses every verb that changes it, and answers the others', async () => {
    const sieve = (await readers[name]!()) as Sieve
    const state = async () => [
      (await sieve.stats()).urls,
      await sieve.has(url),
      await sieve.has(`${url}/new`),
    ]
    const before = await state()
    const verbs = verbsOf(sieve).filter((verb) => calls[verb] !== null)
    for (const verb of verbs.filter((verb) => changing.test(verb))) {
      await expectRefused(() => call(sieve, verb), READ_ONLY, verb)
    }
    for (const verb of verbs.filter((verb) => /^(add|delete)Many$/.test(verb))) {
      await expectRefused(() => call(sieve, verb, [[]]), READ_ONLY, `${verb} of nothing`)
    }
    if ('save' in sieve) await expectRefused(() => sieve.save(), READ_ONLY, 'save')
    const copy = join(root, 'copy.sieve')
    for (const verb of verbs.filter((verb) => !changing.test(verb))) {
      await call(sieve, verb, verb === 'save' ? [copy] : calls[verb]!)
    }
    expect(await state()).toEqual(before)
    await sieve.close()
  })
})
