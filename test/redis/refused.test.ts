// On Redis: refused calls leave a sieve as it was, and what a client adds whose clock is ahead is gone when the window is over
// by the server's clock.
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { SieveError } from '../../src/errors.ts'
import { RedisSieve } from '../../src/redis/index.ts'
import { type RedisNode, startNode, whyNoRedis } from './servers.ts'

const YEAR = 365 * 86_400_000

describe.skipIf(whyNoRedis)('on one node', () => {
  let node: RedisNode
  let client: ReturnType<typeof createClient>
  beforeAll(async () => {
    node = await startNode()
    client = createClient({ url: node.url })
    await client.connect()
  }, 60_000)
  afterAll(async () => {
    vi.restoreAllMocks()
    await client?.close()
    await node?.kill()
  })

  it('a client a year ahead: nothing of it lasts longer than the window', async () => {
    const windowMs = 3_600_000
    const sieve = await RedisSieve.open({ client: client as never, name: 'ahead', windowMs, tags: 4 })
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now + YEAR)
    const urls = Array.from({ length: 3000 }, (_, i) => `https://example.com/${i}`)
    expect((await sieve.addMany(urls)).indexOf(0)).toBe(-1)
    expect((await sieve.addMany(urls)).indexOf(1)).toBe(-1)
    clock.mockRestore()
    const keys = (await client.keys('urlsieve:{*')).filter((key) => !key.includes('|r|'))
    expect(keys.length).toBeGreaterThan(4)
    for (const key of keys) {
      const left = await client.pTTL(key)
      expect(left).toBeGreaterThan(0)
      expect(left).toBeLessThanOrEqual(windowMs)
    }
    expect((await sieve.addMany(urls.slice(0, 5))).indexOf(0)).toBe(-1)
    await sieve.drop()
  })

  it('refused calls leave it as it was', async () => {
    const sieve = await RedisSieve.open({ client: client as never, name: 'refused', tags: 4 })
    await sieve.addMany(['https://example.com/a', 'no url'])
    const before = await sieve.stats()
    const wrong: unknown[] = [undefined, null, 5, {}, 'abc', [['x']], ['a', 5], new Array(2)]
    const long = `https://example.com/${'x'.repeat(400_000_000)}`
    const calls = [
      ...wrong.flatMap((value) => [
        () => sieve.addMany(value as string[]),
        () => sieve.hasMany(value as string[]),
        () => sieve.deleteMany(value as string[]),
        () => sieve.addLines((value === 'abc' ? value : [value]) as never),
        () => sieve.addItems(value as never),
        () => sieve.add([value] as never),
        () => sieve.has([value] as never),
        () => sieve.delete([value] as never),
      ]),
      () => sieve.add(long),
      () => sieve.addMany(['https://example.com/b', 'no url 2', long]),
      () => sieve.hasMany([...Array.from({ length: 3000 }, (_, i) => `no url ${i}`), long]),
    ]
    for (const call of calls) {
      const error: unknown = await (async () => call())().catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(SieveError)
      expect((error as SieveError).answered).toBeUndefined()
    }
    expect(await sieve.stats()).toEqual(before)
    expect(await sieve.has('https://example.com/b')).toBe(false)
    expect(await sieve.has('https://example.com/a')).toBe(true)
    const both = await Promise.allSettled([sieve.add('https://example.com/c'), sieve.add(long)])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(await sieve.has('https://example.com/c')).toBe(true)
    await sieve.drop()
  })
})
