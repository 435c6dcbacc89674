// A shared frontier on real Redis servers: order, leases, crawlers that end on the way, calls that are repeated.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Argument, type ScriptClient, scriptClient } from '../../src/redis/client.ts'
import { type Connection, connectRedis, RedisFrontier } from '../../src/redis/index.ts'
import { slotOf } from '../../src/redis/slots.ts'
import { randomFrom } from '../support/random.mjs'
import { type RedisCluster, type RedisNode, startCluster, startNode, until, whyNoRedis } from './servers.ts'

const LEASE_MS = 400

describe.skipIf(whyNoRedis)(`with Redis ${whyNoRedis}`, () => {
  let node: RedisNode
  let connection: Connection
  const open: RedisFrontier[] = []
  beforeAll(async () => {
    node = await startNode()
    connection = await connectRedis(node.url)
  })
  afterEach(async () => {
    for (const frontier of open.splice(0)) await frontier.close()
  })
  afterAll(async () => {
    await connection?.close()
    await node?.kill()
  })

  let names = 0
  const newName = () => `site-${names++}`
  async function openFrontier(
    name: string,
    leaseMs = 60_000,
    client: ScriptClient = scriptClient(connection.client),
  ) {
    const frontier = await RedisFrontier.open({ client, name, leaseMs, timeoutMs: 2000, retryMs: 3000 })
    open.push(frontier)
    return frontier
  }
  const add = async (frontier: RedisFrontier, texts: string[], first = false) =>
    frontier.release(await frontier.hold(texts), [], { first })
  async function drain(frontier: RedisFrontier): Promise<string[]> {
    const texts: string[] = []
    for (let next = await frontier.next(); next; next = await frontier.next()) {
      texts.push(next.text)
      expect(await frontier.finish(next.token)).toBe(true)
    }
    return texts
  }
  /** A client that can be cut off: calls fail as those of a broken connection do. */
  function cuttable() {
    const inner = scriptClient(connection.client)
    const state = { isCut: false }
    const send = (key: string, args: Argument[]) =>
      state.isCut ? Promise.reject(new Error('no connection')) : inner.send(key, args)
    return { client: { send, isCluster: false } satisfies ScriptClient, state }
  }

  it('two crawlers take from one list: in order, first before all others, without what is withdrawn', async () => {
    const name = newName()
    const [one, two] = [await openFrontier(name), await openFrontier(name)]
    const token = await one.hold(['a', 'b', 'c', 'd'])
    expect(await two.next()).toBeNull()
    expect(await one.counts()).toEqual({ waiting: 0, unfinished: 4, handled: 0, expired: 0 })
    expect(await one.release(token, [1, 3])).toBe(true)
    await add(two, ['x', 'y'], true)
    const x = (await one.next())!
    const y = (await two.next())!
    expect([x.text, y.text, x.state]).toEqual(['x', 'y', 'marked'])
    expect(await one.again(x.token, 'x again')).toBe(true)
    expect(await two.again(y.token, 'y again', true)).toBe(true)
    expect(await two.counts()).toEqual({ waiting: 4, unfinished: 4, handled: 0, expired: 0 })
    const texts: string[] = []
    for await (const some of one.texts()) texts.push(...some)
    expect(texts.sort()).toEqual(['a', 'c', 'x again', 'y again'])
    expect(await drain(one)).toEqual(['y again', 'a', 'c', 'x again'])
    expect(await one.finish(x.token)).toBe(true) // concluded before: a call that is repeated
    expect(await two.counts()).toEqual({ waiting: 0, unfinished: 0, handled: 4, expired: 0 })
    await two.clear()
    expect(await two.counts()).toMatchObject({ unfinished: 0, handled: 0 })
  })

  it('a crawler that is silent loses its lease: another one takes the text, and its own words change nothing', async () => {
    const name = newName()
    const { client, state } = cuttable()
    const silent = await openFrontier(name, LEASE_MS, client)
    const other = await openFrontier(name)
    await add(silent, ['a', 'b'])
    const mine = (await silent.next())!
    const held = await silent.hold(['c'])
    state.isCut = true
    expect((await other.next())!.text).toBe('b')
    await until('the leases end', async () => (await other.counts()).waiting === 2)
    const taken = [(await other.next())!, (await other.next())!]
    state.isCut = false
    expect(new Map(taken.map(({ text, state }) => [text, state]))).toEqual(
      new Map([
        ['a', 'marked'],
        ['c', 'unsure'],
      ]),
    )
    expect(await silent.finish(mine.token)).toBe(false)
    expect(await silent.again(mine.token, 'changed')).toBe(false)
    expect(await silent.release(held, [0])).toBe(false)
    expect(await other.counts()).toEqual({ waiting: 0, unfinished: 3, handled: 0, expired: 2 })
    for (const { token } of taken) expect(await other.finish(token)).toBe(true)
    expect(await silent.next()).toBeNull()
  })

  it('while a crawler lives its leases are renewed; when it closes, what it has returns immediately', async () => {
    const name = newName()
    const [one, two] = [await openFrontier(name, 3000), await openFrontier(name)]
    await add(one, ['a', 'b'])
    const a = (await one.next())!
    await one.next()
    const ends = async () => Number(await node.ask('ZSCORE', `urlsieve:{frontier:${name}}:leased`, a.token))
    const before = await ends()
    await until('the lease is renewed', async () => (await ends()) > before)
    expect(await two.next()).toBeNull()
    expect(await one.finish(a.token)).toBe(true)
    await one.close()
    expect((await two.next())!.text).toBe('b')
  })

  it('what could not be looked up is given out once as such, and as unsure when that crawler ends', async () => {
    const name = newName()
    const one = await openFrontier(name)
    await one.release(await one.hold(['a']), [], { state: 'unmarked' })
    expect((await one.next())!.state).toBe('unmarked')
    await one.close()
    expect((await (await openFrontier(name)).next())!.state).toBe('unsure')
  })

  it('calls that arrive twice, or whose answer is lost, count once', async () => {
    const inner = scriptClient(connection.client)
    const random = randomFrom(5)
    const client: ScriptClient = {
      isCluster: false,
      async send(key, args) {
        const way = random()
        const answer = await inner.send(key, args)
        if (way < 0.2) throw new Error('connection lost')
        return way < 0.6 ? inner.send(key, args) : answer
      },
    }
    const frontier = await openFrontier(newName(), 60_000, client)
    const expected: string[] = []
    for (let i = 0; i < 10; i++) {
      const texts = [0, 1, 2].map((n) => `${i}.${n}`)
      expect(await frontier.release(await frontier.hold(texts), [1])).toBe(true)
      expected.push(texts[0]!, texts[2]!)
    }
    const first = (await frontier.next())!
    expect(await frontier.again(first.token, first.text, true)).toBe(true)
    expect(await drain(frontier)).toEqual(expected)
    expect(await frontier.counts()).toEqual({ waiting: 0, unfinished: 0, handled: 20, expired: 0 })
  })

  it('refuses names and leases that are not', async () => {
    const { client } = connection
    await expect(RedisFrontier.open({ client, name: 'a b' })).rejects.toThrow('name "a b": expected')
    await expect(RedisFrontier.open({ client, name: 'a', leaseMs: 5 })).rejects.toThrow('leaseMs 5: expected')
    await expect(RedisFrontier.open({ client, name: 'a', retryMs: 1e9 })).rejects.toThrow('retryMs')
  })

  describe('a cluster', () => {
    let cluster: RedisCluster
    beforeAll(async () => {
      cluster = await startCluster({ primaries: 3, replicas: 0 })
    }, 60_000)
    afterAll(() => cluster?.stop())

    it('has a frontier on one node, and the frontiers on all', async () => {
      const { client, close } = await connectRedis(cluster.url)
      const slots = new Set<number>()
      for (const name of ['one', 'two', 'three']) {
        const frontier = await RedisFrontier.open({ client, name })
        await add(frontier, ['a', 'b'])
        await add(frontier, ['c'], true)
        expect(await drain(frontier)).toEqual(['c', 'a', 'b'])
        await frontier.close()
        slots.add(slotOf(`urlsieve:{frontier:${name}}:texts`))
      }
      expect(slots.size).toBe(3)
      const keys = await Promise.all(cluster.nodes.map((each) => each.ask('KEYS', '*frontier*')))
      for (const found of keys.flat()) expect(slots).toContain(slotOf(String(found)))
      await close()
    })
  })
})
