// Eight processes add overlapping URLs to one sieve on a cluster of three primaries with three replicas: each URL is
// new exactly once, for one of them. URLSIEVE_FULL=1: more URLs.
import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectRedis, RedisSieve } from '../../src/redis/index.ts'
import { builtLibrary, root } from '../support/built.ts'
import { type RedisCluster, startCluster, whyNoRedis } from './servers.ts'

const isFull = process.env.URLSIEVE_FULL === '1'
const DISTINCT = isFull ? 400_000 : 16_000
const PROCESSES = 8

describe.skipIf(whyNoRedis)('many processes', () => {
  const built = builtLibrary()
  let servers: RedisCluster
  beforeAll(async () => {
    servers = await startCluster()
  })
  afterAll(async () => {
    await servers?.stop()
  })

  function adder(options: object, first: number, count: number): Promise<Buffer> {
    const args = [built, servers.url, JSON.stringify(options), first, count, DISTINCT].map(String)
    const child = spawn(process.execPath, [`${root}test/redis/adder.mjs`, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const out: Buffer[] = []
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk
    })
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code) => (code === 0 ? resolve(Buffer.concat(out)) : reject(new Error(errors))))
    })
  }

  for (const options of [
    { name: 'exact' },
    { name: 'approximate', mode: 'compact', expectedUrls: DISTINCT, falsePositiveRate: 1e-6 },
  ]) {
    const allowed = 'mode' in options ? 1 : 0
    it(`${options.name}: each URL is new once`, async () => {
      // Each takes three quarters of the URLs, from another start: most are added by six of the eight.
      const answers = await Promise.all(
        Array.from({ length: PROCESSES }, (_, i) =>
          adder(options, (i * DISTINCT) / PROCESSES, 0.75 * DISTINCT),
        ),
      )
      const times = new Uint8Array(DISTINCT)
      for (const fresh of answers) for (const [n, isNew] of fresh.entries()) times[n]! += isNew
      const never = times.filter((count) => count === 0).length
      expect(times.filter((count) => count > 1).length).toBe(0)
      // The promise is 1e-6, and 4.5e-8 is what it comes to: two wrong ones would be a chance of one in ten thousand.
      expect(never).toBeLessThanOrEqual(allowed)
      // No one of them took all.
      for (const fresh of answers) expect(fresh.reduce((sum, isNew) => sum + isNew, 0)).toBeLessThan(DISTINCT)

      const { client, close } = await connectRedis(servers.url)
      try {
        const sieve = await RedisSieve.open({ client, name: options.name })
        const stats = await sieve.stats()
        expect(stats.urls).toBe(DISTINCT - never)
        expect(stats.seen).toBe(PROCESSES * 0.75 * DISTINCT - stats.urls)
        const probes = Array.from(
          { length: isFull ? 200_000 : 50_000 },
          (_, i) => `https://never.example/${i}`,
        )
        const wrong = (await sieve.hasMany(probes)).reduce((sum, answer) => sum + answer, 0)
        console.log(`${options.name}: ${wrong} of ${probes.length} URLs never added were "seen"`)
        expect(wrong).toBeLessThanOrEqual(allowed)
      } finally {
        await close()
      }
    })
  }
})
