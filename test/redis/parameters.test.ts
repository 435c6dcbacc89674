// What a sieve on Redis is made with: written down once, checked by everyone who comes later. And where its tags lie.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, createClientPool, createSentinel } from 'redis'
import { describe, expect, it } from 'vitest'
import { connectRedis, RedisSieve } from '../../src/redis/index.ts'
import { evenTags, slotOf } from '../../src/redis/slots.ts'
import { connected, startOne } from './connected.ts'
import { freePort, startCluster, startNode, until, whyNoRedis } from './servers.ts'

describe('tags', () => {
  it('slots are those of the cluster specification', () => {
    // From the specification and from CLUSTER KEYSLOT of Redis 7.0.
    expect(
      ['123456789', 'foo', 'a{foo}b', '{user1000}.following', 'foo{}{bar}', 'foo{{bar}}zap'].map(slotOf),
    ).toEqual([0x31c3, 12182, 12182, 3443, 8363, 4015])
  })

  it('lie evenly: nodes with equal shares of the slots have equal shares of the tags', () => {
    for (const count of [1, 2, 32, 64, 2048]) {
      const slots = evenTags(count).map(slotOf)
      expect(slots).toEqual(Array.from({ length: count }, (_, i) => Math.floor(((i + 0.5) * 16384) / count)))
    }
  })
})

describe.skipIf(whyNoRedis)('parameters', () => {
  const redis = connected(startOne)
  const open = (name: string, options: object = {}) =>
    RedisSieve.open({ client: redis.connection.client, name, ...options })

  it('many at once make one sieve', async () => {
    const sieves = await Promise.all(Array.from({ length: 20 }, () => open('race')))
    expect(new Set(sieves.map((sieve) => sieve.parameters.key)).size).toBe(1)
    const fresh = await Promise.all(sieves.map((sieve) => sieve.add('https://a.example/')))
    expect(fresh.filter(Boolean).length).toBe(1)
  })

  it('opens as it was made; what is asked otherwise is refused in one line', async () => {
    await open('made', { mode: 'compact', expectedUrls: 5000, profile: 'whatwg', tags: 16 })
    const again = await open('made')
    expect(again.parameters).toMatchObject({ mode: 'compact', expectedUrls: 5000, tags: 16, base: 2 })
    expect(again.profile.name).toBe('whatwg')
    await open('made', { mode: 'compact', profile: 'whatwg', tags: 16 })
    const refused = {
      mode: ['fingerprint', "sieve 'made' has mode compact, not fingerprint"],
      profile: ['web', "sieve 'made' has profile whatwg, not web"],
      tags: [32, "sieve 'made' has tags 16, not 32"],
      expectedUrls: [5001, "sieve 'made' has expectedUrls 5000, not 5001"],
      windowMs: [5000, "sieve 'made' has windowMs none, not 5000"],
      key: [new Uint8Array(16), "sieve 'made' has key of its own, not this one"],
    }
    for (const [option, [value, message]] of Object.entries(refused)) {
      await expect(open('made', { [option]: value })).rejects.toMatchObject({
        code: 'option',
        message: `${message}: leave the option out, or use another name`,
      })
    }
    const taken = RedisSieve.create({ client: redis.connection.client, name: 'made' })
    await expect(taken).rejects.toThrow("sieve 'made' is there already: open it, or use another name")
  })

  it('options that cannot be are refused before anything is written', async () => {
    const bad: [object, RegExp][] = [
      [{ mode: 'exact' }, /^mode 'exact': expected fingerprint or compact$/],
      [{ mode: 'compact' }, /^mode 'compact' needs expectedUrls/],
      [{ mode: 'compact', expectedUrls: 10, falsePositiveRate: 1e-9 }, /errs at 4\.5e-8; use 'fingerprint'$/],
      [{ falsePositiveRate: 1e-6 }, /is for mode 'compact'/],
      [{ tags: 48 }, /^tags 48: expected a power of two/],
      [{ windowMs: 5 }, /^windowMs 5: expected at least 1000 milliseconds$/],
      [{ generations: 4 }, /^generations without windowMs/],
      [{ key: new Uint8Array(3) }, /^key of 3 bytes: expected 16 bytes$/],
      [{ profile: 'none' }, /^unknown profile 'none'/],
      [{ profile: [{ name: 'mine', apply: (url: string) => url }] }, /^rule 'mine' is not built in/],
      [{ timeoutMs: 0 }, /^timeoutMs 0/],
      [{ retryMs: 90_000 }, /^retryMs 90000: expected 0 to 60000$/],
    ]
    for (const [options, message] of bad) await expect(open('bad', options)).rejects.toThrow(message)
    await expect(open('a{b}')).rejects.toThrow(/^name "a\{b\}": expected up to 200 ASCII letters/)
    await expect(open('bad', { client: 5 })).rejects.toThrow(/^client 5: expected a client/)
    await expect(open('bad', { client: {} })).rejects.toThrow(/^client: expected createClient/)
    expect(await RedisSieve.names(redis.connection.client)).not.toContain('bad')
  })

  it('a later version and damage are told', async () => {
    await redis.nodes[0]!.ask('SET', 'urlsieve:later', '{"version":9}')
    await expect(open('later')).rejects.toMatchObject({
      code: 'version',
      message: "sieve 'later' has version 9: this urlsieve reads versions 1 and 2",
    })
    await redis.nodes[0]!.ask('SET', 'urlsieve:broken', 'x')
    await expect(open('broken')).rejects.toMatchObject({ code: 'corrupt' })
  })

  it('a full Redis is told', async () => {
    const full = await startNode(['--maxmemory', '3mb', '--maxmemory-policy', 'noeviction'])
    const { client, close } = await connectRedis(full.url)
    try {
      const sieve = await RedisSieve.open({ client, name: 'full' })
      const error = await (async () => {
        for (let i = 0; ; i++) {
          await sieve.addMany(Array.from({ length: 5000 }, (_, j) => `https://a.example/${i}/${j}`))
        }
      })().catch((caught: unknown) => caught)
      expect(error).toMatchObject({
        code: 'memory',
        message: expect.stringMatching(/^Redis has no memory left/),
      })
    } finally {
      await close()
      await full.kill()
    }
  })

  it('a client for one node on a cluster is told', async () => {
    const servers = await startCluster({ replicas: 0 })
    const client = createClient({ url: servers.url })
    client.on('error', () => {})
    try {
      await client.connect()
      const sieve = RedisSieve.open({ client, name: 'x' }).then((opened) =>
        opened.addMany(['a', 'b', 'c', 'd', 'e']),
      )
      await expect(sieve).rejects.toThrow(
        'this Redis is part of a cluster: use createCluster, not createClient',
      )
    } finally {
      client.destroy()
      await servers.stop()
    }
  })

  it('takes a pool and a sentinel, too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'urlsieve-sentinel-'))
    const port = await freePort()
    const settings = join(folder, 'sentinel.conf')
    writeFileSync(settings, `port ${port}\nsentinel monitor main 127.0.0.1 ${redis.nodes[0]!.port} 1\n`)
    const child = spawn('redis-server', [settings, '--sentinel'], { stdio: 'ignore' })
    const sentinel = createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port }] })
    const pool = createClientPool({ url: redis.nodes[0]!.url })
    sentinel.on('error', () => {})
    pool.on('error', () => {})
    try {
      await pool.connect()
      await until('the sentinel answers', async () => (await sentinel.connect()) !== undefined)
      const one = await RedisSieve.open({ client: pool, name: 'shared' })
      const two = await RedisSieve.open({ client: sentinel, name: 'shared' })
      expect(await one.addMany(['https://a.example/', 'https://b.example/'])).toEqual(Uint8Array.of(1, 1))
      expect(await two.addMany(['https://b.example/', 'https://c.example/'])).toEqual(Uint8Array.of(0, 1))
    } finally {
      pool.destroy()
      await sentinel.destroy()
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('nobody there, and no URL at all, are told', async () => {
    await expect(connectRedis('redis://127.0.0.1:1')).rejects.toMatchObject({
      code: 'network',
      message: expect.stringMatching(/^cannot connect to Redis at 127\.0\.0\.1:1: .*ECONNREFUSED/),
    })
    await expect(connectRedis('127.0.0.1:6379')).rejects.toThrow(/expected redis:\/\/host:port/)
  })
})
