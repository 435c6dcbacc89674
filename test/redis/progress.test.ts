// A slow or failing part of the cluster does not hold back the rest: calls of many URLs go to all tags side by side, and
// their verdicts are given as they come.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Argument,
  type Connection,
  connectRedis,
  RedisSieve,
  RedisSieveError,
} from '../../src/redis/index.ts'
import { type RedisNode, startNode, whyNoRedis } from './servers.ts'
import { all, exactVerdicts, repeating, urlsOf } from './urls.ts'

describe.skipIf(whyNoRedis)('calls with many URLs', () => {
  let node: RedisNode
  let connection: Connection
  beforeAll(async () => {
    node = await startNode()
    connection = await connectRedis(node.url)
  })
  afterAll(async () => {
    await connection?.close()
    await node?.kill()
  })

  /** Sends, except what is for one tag, which waits for `gate`. */
  function gated(gate: Promise<unknown>) {
    let slow = 'none'
    const send = async (key: string, args: Argument[]) => {
      if (args[0] === 'EVALSHA' && key.startsWith('urlsieve:{')) {
        const tag = key.slice(0, key.indexOf('}'))
        if (slow === 'none') slow = tag
        if (tag === slow) await gate
      }
      return (connection.client as { sendCommand(args: Argument[]): Promise<unknown> }).sendCommand(args)
    }
    return { isCluster: false, send }
  }

  it('40,000 URLs with repeats: verdicts as of a set, also across the calls of a tag', async () => {
    const sieve = await RedisSieve.open({ client: connection.client, name: 'many', tags: 2 })
    const urls = repeating(40_000, 20_000, 9)
    expect(await sieve.addMany(urls)).toEqual(exactVerdicts(urls, new Set()))
  })

  it('the verdicts of other tags come while one is silent', async () => {
    let open = (_?: unknown) => {}
    const gate = new Promise((resolve) => {
      open = resolve
    })
    const urls = urlsOf(0, 30_000)
    const sieve = await RedisSieve.open({ client: gated(gate), name: 'gated', tags: 4 })
    const verdicts = all(urls.length, 2)
    let known = 0
    let isOpen = false
    for await (const { indexes, verdicts: some } of sieve.addInParts(urls)) {
      for (const [i, index] of indexes.entries()) verdicts[index] = some[i]!
      known += indexes.length
      // Three of four tags have answered everything, and the fourth nothing.
      if (!isOpen && known > 0.7 * urls.length) {
        isOpen = true
        open()
      }
    }
    expect(isOpen).toBe(true)
    expect(verdicts).toEqual(all(urls.length, 1))
    const seen = all(urls.length, 2)
    for await (const { indexes, verdicts: some } of sieve.hasInParts(urls)) {
      for (const [i, index] of indexes.entries()) seen[index] = some[i]!
    }
    expect(seen).toEqual(all(urls.length, 1))
  })

  it('a tag that fails: the parts of the others, then the error with all verdicts that are known', async () => {
    const gate = Promise.reject(new Error('ERR broken'))
    gate.catch(() => {})
    const urls = urlsOf(0, 4000)
    const sieve = await RedisSieve.open({ client: gated(gate), name: 'broken', tags: 4 })
    const unknown: number[] = []
    sieve.metrics.on('unknown', (event) => unknown.push(event.urls))
    let known = 0
    const error = await (async () => {
      for await (const { indexes } of sieve.addInParts(urls)) known += indexes.length
    })().catch((caught: RedisSieveError) => caught)
    expect(error).toBeInstanceOf(RedisSieveError)
    const answered = (error as RedisSieveError).verdicts.filter((verdict) => verdict === 1).length
    expect(answered).toBe(known)
    expect(known).toBeGreaterThan(2500)
    expect(unknown).toEqual([4000 - known])
    expect(sieve.metrics.counts()).toMatchObject({ unknown: 4000 - known, failed: 1 })
  })

  it('counts the calls and their durations', async () => {
    const sieve = await RedisSieve.open({ client: connection.client, name: 'counted', tags: 4 })
    const before = sieve.metrics.counts().calls
    await sieve.addMany(urlsOf(0, 1000))
    const { calls, histogram, seconds, longestSeconds, retries } = sieve.metrics.counts()
    expect(calls - before).toBe(4)
    expect(histogram.reduce((sum, n) => sum + n, 0)).toBe(calls)
    expect(seconds).toBeGreaterThan(0)
    expect(longestSeconds).toBeLessThanOrEqual(seconds)
    expect(retries).toEqual({ silence: 0, connection: 0, tryagain: 0, failover: 0, busy: 0 })
  })
})
