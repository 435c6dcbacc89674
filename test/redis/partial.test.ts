// Calls that fail in part: what is known is given, what is not is an error, never "seen"; other calls are not touched.
import { describe, expect, it } from 'vitest'
import { RedisSieve, RedisSieveError } from '../../src/redis/index.ts'
import { connected, startOne } from './connected.ts'
import { whyNoRedis } from './servers.ts'
import { all, urlOf, urlsOf } from './urls.ts'

/** The longest string there is, as a tree of short ones: never written out, since it is refused by its length. */
const tooLong = `http://a.example/${'x'.repeat(2 ** 29 - 100)}`

describe.skipIf(whyNoRedis)('calls on Redis that fail in part', () => {
  const redis = connected(startOne)

  it('a refused URL does not touch other calls of the same turn', async () => {
    const sieve = await RedisSieve.open({ client: redis.connection.client, name: 'turn' })
    const adds = await Promise.allSettled([urlOf(1), tooLong].map((url) => sieve.add(url)))
    expect(adds.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(adds[0]).toMatchObject({ value: true })
    expect(await sieve.has(urlOf(1))).toBe(true)
  })

  it('a list that uses the sieve while it is read gets its own verdicts', async () => {
    const sieve = await RedisSieve.open({ client: redis.connection.client, name: 'again' })
    const urls = urlsOf(0, 20)
    const inner: Promise<Uint8Array>[] = []
    Object.defineProperty(urls, 10, {
      get() {
        if (inner.length === 0) inner.push(sieve.addMany(urlsOf(100, 110)))
        return urlOf(10)
      },
    })
    const outer = await sieve.addMany(urls).catch((error: Error) => error)
    if (outer instanceof Uint8Array) expect(outer).toEqual(all(20, 1))
    const added = (outer instanceof Uint8Array ? 20 : 0) + 10
    expect(await inner[0]).toEqual(all(10, 1))
    expect((await sieve.stats()).urls).toBe(added)
  })

  it('a failure of some tags: single adds get what is known, and an error for what is not', async () => {
    const name = 'half'
    const whole = await RedisSieve.open({ client: redis.connection.client, name, tags: 4 })
    const tag = `urlsieve:{${'x'}}`
    let broken = tag
    const client = {
      isCluster: false,
      send: async (key: string, args: (string | Buffer)[]) => {
        if (key.startsWith(broken)) throw new Error('ERR out of order')
        return (redis.connection.client as { sendCommand(args: unknown): Promise<unknown> }).sendCommand(args)
      },
    }
    const sieve = await RedisSieve.open({ client, name })
    const urls = urlsOf(0, 40)
    // The tag of the first URL, as the keys of its call name it.
    await whole.add(urls[0]!)
    const [key] = (await redis.nodes[0]!.ask('KEYS', `urlsieve:{*}:${name}`)) as string[]
    broken = key!.slice(0, key!.indexOf('}') + 1)
    await whole.deleteMany(urls)
    const adds = await Promise.allSettled(urls.map((url) => sieve.add(url)))
    const known = adds.map((add) => (add.status === 'fulfilled' ? Number(add.value) : 2))
    expect(known[0]).toBe(2)
    expect(new Set(known)).toEqual(new Set([1, 2]))
    const reason = (adds[0] as PromiseRejectedResult).reason as RedisSieveError
    expect(reason).toBeInstanceOf(RedisSieveError)
    expect(reason.message).toBe('Redis refuses: ERR out of order')
    broken = tag
    // What was answered is marked; what was not is not, here.
    expect(await sieve.hasMany(urls)).toEqual(Uint8Array.from(known, (verdict) => Number(verdict === 1)))
  })
})
