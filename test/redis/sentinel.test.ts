// A primary with a replica, watched by a Sentinel: writes that wait for the replica, and a sieve that goes on when the
// Sentinel has promoted it.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClientPool } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectRedis, RedisSieve } from '../../src/redis/index.ts'
import { startProxy } from './proxy.ts'
import { freePort, type RedisNode, sleep, startNode, until, whyNoRedis } from './servers.ts'
import { all, urlsOf } from './urls.ts'

/** A Sentinel that watches `primary` under the name `main`. */
async function startSentinel(primary: number) {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'urlsieve-sentinel-'))
  const file = join(folder, 'sentinel.conf')
  const rules = ['down-after-milliseconds main 400', 'failover-timeout main 2000', 'parallel-syncs main 1']
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor main 127.0.0.1 ${primary} 1`,
  ]
  writeFileSync(file, `${[...lines, ...rules.map((rule) => `sentinel ${rule}`)].join('\n')}\n`)
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGKILL')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

describe.skipIf(whyNoRedis)('a primary and its replica', () => {
  let primary: RedisNode
  let replica: RedisNode
  beforeAll(async () => {
    primary = await startNode(['--repl-diskless-sync-delay', '0'])
    replica = await startNode(['--replicaof', '127.0.0.1', String(primary.port)])
    await until('the replica has all', async () =>
      /master_link_status:up/.test(String(await replica.ask('INFO', 'replication'))),
    )
  })
  afterAll(async () => {
    await replica?.kill()
    await primary?.kill()
  })

  it('a write that waits for the replica is answered when the replica has it', async () => {
    const { client, close } = await connectRedis(primary.url)
    try {
      const wait = { client, name: 'waits', tags: 2, waitReplicas: 1 }
      const sieve = await RedisSieve.open(wait)
      expect(await sieve.addMany(urlsOf(0, 500))).toEqual(all(500, 1))
      replica.process.kill('SIGSTOP')
      let isAnswered = false
      const adding = sieve.addMany(urlsOf(500, 1000)).finally(() => {
        isAnswered = true
      })
      await sleep(400)
      expect(isAnswered).toBe(false)
      const impatient = await RedisSieve.open({ ...wait, retryMs: 300 })
      await expect(impatient.addMany(urlsOf(2000, 2001))).rejects.toThrow(/of 1 replicas$|no reply$/)
      expect(await sieve.hasMany(urlsOf(0, 1000))).toEqual(all(1000, 1)) // marked, and not yet answered
      replica.process.kill('SIGCONT')
      expect(await adding).toEqual(all(500, 1))
      expect(sieve.metrics.counts().retries.busy).toBeGreaterThan(0)
    } finally {
      replica.process.kill('SIGCONT')
      await close()
    }
  })

  it('a write whose connection broke while it waited is repeated, and stays "new"', async () => {
    const proxy = await startProxy(primary.port)
    const { client, close } = await connectRedis(`redis://127.0.0.1:${proxy.port}`)
    try {
      const sieve = await RedisSieve.open({
        client,
        name: 'broken',
        tags: 1,
        waitReplicas: 1,
        timeoutMs: 2000,
      })
      await sieve.addMany(urlsOf(0, 10))
      replica.process.kill('SIGSTOP')
      const adding = sieve.addMany(urlsOf(10, 500))
      await sleep(150)
      proxy.cut()
      proxy.mend()
      await sleep(150)
      replica.process.kill('SIGCONT')
      expect(await adding).toEqual(all(490, 1))
    } finally {
      replica.process.kill('SIGCONT')
      await close()
      await proxy.stop()
    }
  })

  it('what cannot wait is refused: a pool, an older server for WAITAOF', async () => {
    const pool = createClientPool({ url: primary.url })
    pool.on('error', () => {})
    await pool.connect()
    const { client, close } = await connectRedis(primary.url)
    try {
      await expect(RedisSieve.open({ client: pool, name: 'pool', waitReplicas: 1 })).rejects.toThrow(
        /^waitReplicas needs to know the connection of a write, which this client does not show: expected createClient/,
      )
      const sieve = await RedisSieve.open({ client, name: 'aof', tags: 1, waitAof: true })
      const [major, minor] = /redis_version:(\d+)\.(\d+)/
        .exec(String(await primary.ask('INFO', 'server')))!
        .slice(1)
      if (Number(major) * 100 + Number(minor) < 702) {
        await expect(sieve.add('https://example.com/')).rejects.toThrow('waitAof needs Redis 7.2 or later')
      }
      await expect(RedisSieve.open({ client, name: 'x', waitReplicas: -1 })).rejects.toThrow(
        /^waitReplicas -1: expected/,
      )
    } finally {
      await close()
      pool.destroy()
    }
  })

  it('Sentinel: connects by the name of the primary, and goes on with the replica', async () => {
    const sentinel = await startSentinel(primary.port)
    const away = `redis://127.0.0.1:${await freePort()}`
    try {
      await until('the Sentinel answers', async () => {
        await (await connectRedis(sentinel.url, { sentinel: 'main' })).close()
        return true
      })
      await expect(connectRedis(sentinel.url, { sentinel: 'other' })).rejects.toThrow(
        /^sentinel 'other': the Sentinels at 127\.0\.0\.1:\d+ know no primary of this name$/,
      )
      await expect(connectRedis(away, { sentinel: 'main' })).rejects.toThrow(/ECONNREFUSED/)
      await expect(connectRedis(sentinel.url)).rejects.toThrow(
        /is a Sentinel: expected sentinel, the name of its primary$/,
      )
      const { client, close } = await connectRedis([away, sentinel.url], { sentinel: 'main' })
      try {
        const sieve = await RedisSieve.open({ client, name: 'watched', timeoutMs: 500 })
        expect(await sieve.addMany(urlsOf(0, 1000))).toEqual(all(1000, 1))
        await sleep(1200) // the Sentinel learns of the replica from the primary's INFO
        primary.process.kill('SIGKILL')
        expect(await sieve.addMany(urlsOf(500, 1500))).toEqual(Uint8Array.of(...all(500, 0), ...all(500, 1)))
        expect(String(await replica.ask('INFO', 'replication'))).toMatch(/role:master/)
      } finally {
        await close()
      }
    } finally {
      await sentinel.stop()
    }
  })
})
