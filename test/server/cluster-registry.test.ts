// The registry of a server on Redis: two servers share their sieves.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SingleClient } from '../../src/redis/client.ts'
import { type Connection, connectRedis } from '../../src/redis/connect.ts'
import { ClusterRegistry } from '../../src/server/cluster-registry.ts'
import { type RedisNode, startNode, until, whyNoRedis } from '../redis/servers.ts'
import { all, urlsOf } from '../redis/urls.ts'
import { itemsOf } from '../support/items.mjs'

describe.skipIf(whyNoRedis)('a registry on Redis', () => {
  const password = 'a/b c'
  let node: RedisNode
  let one: ClusterRegistry
  let two: ClusterRegistry
  let direct: Connection
  const ask = (...args: string[]) => (direct.client as SingleClient).sendCommand(args)
  beforeAll(async () => {
    node = await startNode()
    await node.ask('CONFIG', 'SET', 'requirepass', password)
    const url = `redis://:${encodeURIComponent(password)}@127.0.0.1:${node.port}`
    one = await ClusterRegistry.open(url, { pollMs: 100 })
    two = await ClusterRegistry.open(url, { pollMs: 100 })
    direct = await connectRedis(url)
  })
  afterAll(async () => {
    await one?.close()
    await two?.close()
    await direct?.close()
    await node?.kill()
  })

  it('what one makes the other finds, and both mark in it', async () => {
    const made = await one.create('links', { profile: 'whatwg' })
    const items = itemsOf(urlsOf(0, 1000))
    const adding = made.add(items)
    items.bytes.fill(0) // the caller's bytes may change when the call has returned
    expect(await adding).toEqual(all(1000, 1))
    await until('the other finds it', async () => two.get('links') !== undefined)
    const found = two.get('links')!
    expect(found).toMatchObject({ kind: 'sieve', createdAt: made.createdAt })
    expect(await found.add(itemsOf(urlsOf(0, 1000)))).toEqual(all(1000, 0))
    expect(await found.has(itemsOf(urlsOf(500, 1500)))).toEqual(Uint8Array.of(...all(500, 1), ...all(500, 0)))
    expect(await found.forget!(urlsOf(0, 10))).toEqual(all(10, 1))
    expect(await made.stats()).toMatchObject({ urls: 990, seen: 1000, profile: 'whatwg' })
    expect(await made.explain(urlsOf(20, 21)[0]!)).toMatchObject({ verdict: 'seen' })
    expect(one.sizeBytes).toBeGreaterThan(990 * 8)
    await made.save()
  })

  it('a bloom filter keeps its promise and its items as they stand', async () => {
    const bloom = { capacity: 100, errorRate: 0.01, expansion: 2 }
    const made = await one.create('spider:urls', {}, bloom)
    expect(made).toMatchObject({ kind: 'bloom', bloom })
    expect(made.forget).toBeUndefined()
    expect(await made.add(itemsOf(['http://a/', 'https://a/', 'x', 'x']))).toEqual(Uint8Array.of(1, 1, 1, 0))
    await until('the other finds it', async () => two.get('spider:urls') !== undefined)
    expect(two.get('spider:urls')).toMatchObject({ kind: 'bloom', bloom })
  })

  it('refuses what cannot be', async () => {
    await expect(one.create('links', {})).rejects.toThrow("the name 'links' is taken")
    await expect(one.create('x', { filter: 'blocked' })).rejects.toThrow("filter 'blocked' is not for Redis")
    expect(one.filters).toEqual(['fingerprint', 'window'])
    await expect(one.create('x', { hash: 'xxh64' })).rejects.toThrow("hash 'xxh64' is not for Redis")
    await expect(one.create('x', { window: { windowUrls: 5 } })).rejects.toThrow('expected windowMs')
    await expect(one.create('a|b', {})).rejects.toThrow('name "a|b"')
    await expect(ClusterRegistry.open(node.url)).rejects.toThrow(/NOAUTH/)
  })

  it('a name that another server took since the last look is the same sieve', async () => {
    const [mine, theirs] = await Promise.all([one.create('race', {}), two.create('race', {})])
    expect(await mine.add(itemsOf(['https://a.example/']))).toEqual(Uint8Array.of(1))
    expect(await theirs.add(itemsOf(['https://a.example/']))).toEqual(Uint8Array.of(0))
  })

  it('what one drops is gone for the other', async () => {
    expect(await two.drop('links')).toBe(true)
    expect(await two.drop('links')).toBe(false)
    await until('it is gone', async () => one.get('links') === undefined)
    const made = await one.create('week', { window: { windowMs: 7 * 86_400_000, generations: 7 } })
    expect(await made.add(itemsOf(['https://a.example/']))).toEqual(Uint8Array.of(1))
  })

  it('what one drops and makes again the other opens again, and answers no more for the old one', async () => {
    const first = await one.create('again', {})
    await until('the other finds it', async () => two.get('again') !== undefined)
    const held = two.get('again')!
    expect(await first.add(itemsOf(['https://a.example/']))).toEqual(Uint8Array.of(1))
    expect(await held.add(itemsOf(['https://a.example/']))).toEqual(Uint8Array.of(0))
    await one.drop('again')
    const second = await one.create('again', {})
    expect(await second.add(itemsOf(['https://b.example/']))).toEqual(Uint8Array.of(1))
    await until('the other opens it again', async () => ![held, undefined].includes(two.get('again')))
    await expect(async () => held.add(itemsOf(['https://b.example/']))).rejects.toThrow(/is closed/)
    expect(await two.get('again')!.add(itemsOf(['https://b.example/']))).toEqual(Uint8Array.of(0))
  })

  it('a name whose sieve was dropped is not made again by a look', async () => {
    // As it is for a moment while another server drops it, or after that server was killed.
    await ask('SADD', 'urlsieve', 'dropped')
    await one.create('later', {})
    await until('the other has looked', async () => two.get('later') !== undefined)
    expect(await ask('GET', 'urlsieve:dropped')).toBeNull()
    expect(two.get('dropped')).toBeUndefined()
  })

  it('what is made while it is dropped begins when the drop has ended', async () => {
    const first = await one.create('anew', {})
    await first.add(itemsOf(['https://a.example/']))
    const [isDropped, second] = await Promise.all([one.drop('anew'), one.create('anew', {})])
    expect(isDropped).toBe(true)
    expect(await second.add(itemsOf(['https://a.example/']))).toEqual(Uint8Array.of(1))
    expect(await ask('GET', 'urlsieve:anew')).not.toBeNull()
  })

  it.each(['{', 'null'])(
    'one that is damaged while it is open is set aside, and the others are served: %s',
    async (text) => {
      const bad = `bad${text.length}`
      await one.create(bad, {})
      await until('the other finds it', async () => two.get(bad) !== undefined)
      await ask('SET', `urlsieve:${bad}`, text)
      await until('it is set aside', async () => two.faults.list().length > 0)
      expect(two.get(bad)).toBeUndefined()
      expect(two.faults.list()).toMatchObject([{ kind: 'set-aside', sieve: bad }])
      expect(two.isUnreachable).toBe(false)
      await ask('SREM', 'urlsieve', bad)
      await until('its fault ends', async () => two.faults.list().length === 0)
    },
  )
})
