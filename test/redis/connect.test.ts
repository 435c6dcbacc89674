// Connecting to servers that are away, silent or changing: bounded in time, and it goes on when the cluster does.
import { createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectRedis, RedisSieve } from '../../src/redis/index.ts'
import { freePort, type RedisNode, startCluster, startNode, whyNoRedis } from './servers.ts'
import { all, urlsOf } from './urls.ts'

/** How long a promise takes, and what it fails with. */
async function failureOf(promise: Promise<unknown>): Promise<{ message: string; ms: number }> {
  const start = performance.now()
  const error = await promise.then(
    () => new Error('it did not fail'),
    (caught: Error) => caught,
  )
  return { message: error.message, ms: performance.now() - start }
}

describe('a server that accepts connections and never answers', () => {
  let server: Server
  const sockets = new Set<Socket>()
  let url: string
  beforeAll(async () => {
    server = createServer((socket) => sockets.add(socket.on('error', () => {})))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `redis://127.0.0.1:${(server.address() as { port: number }).port}`
  })
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  it('fails after connectTimeoutMs, and names it', async () => {
    const { message, ms } = await failureOf(connectRedis(url, { connectTimeoutMs: 400 }))
    expect(message).toMatch(
      /^cannot connect to Redis at 127\.0\.0\.1:\d+: no answer within 0\.4 s \(connectTimeoutMs\)$/,
    )
    expect(ms).toBeGreaterThan(390)
    expect(ms).toBeLessThan(10_000)
  })

  it('a sieve that is opened there, through any client, fails after retryMs', async () => {
    const client = { isCluster: false, send: () => new Promise<never>(() => {}) }
    const patience = { timeoutMs: 300, retryMs: 700 }
    for (const opening of [RedisSieve.open, RedisSieve.create]) {
      const { message, ms } = await failureOf(opening({ client, name: 'silent', ...patience }))
      expect(message).toBe('Redis does not answer, for 0.7 s (retryMs): no reply')
      expect(ms).toBeLessThan(5000)
    }
    const { message } = await failureOf(RedisSieve.names(client, patience))
    expect(message).toMatch(/^Redis does not answer, for 0\.7 s/)
    const once = await failureOf(RedisSieve.open({ client, name: 'silent', timeoutMs: 50, retryMs: 0 }))
    expect(once.message).toMatch(/^Redis does not answer, for 0\.05 s/)
  })
})

it('with retryMs 0 a call that fails is not sent again', async () => {
  let sent = 0
  const send = async () => {
    sent++
    throw new Error('Socket closed unexpectedly')
  }
  const patience = { timeoutMs: 300, retryMs: 0 }
  const { message } = await failureOf(RedisSieve.names({ isCluster: false, send }, patience))
  expect(message).toMatch(/^Redis does not answer, .*Socket closed unexpectedly$/)
  expect(sent).toBe(1)
})

it('a host that is not there fails immediately', async () => {
  const { message, ms } = await failureOf(connectRedis('redis://no-such-host.invalid:6379'))
  expect(message).toMatch(/^cannot connect to Redis at no-such-host\.invalid:6379: getaddrinfo /)
  expect(ms).toBeLessThan(9000)
  const refused = await failureOf(connectRedis(`redis://127.0.0.1:${await freePort()}`))
  expect(refused.message).toMatch(/ECONNREFUSED/)
  expect(refused.ms).toBeLessThan(5000)
  await expect(connectRedis('redis://127.0.0.1:1', { connectTimeoutMs: 0 })).rejects.toThrow(
    'connectTimeoutMs 0: expected at least 1 millisecond',
  )
})

describe.skipIf(whyNoRedis)('a server with a password', () => {
  let node: RedisNode
  beforeAll(async () => {
    node = await startNode()
    await node.ask('CONFIG', 'SET', 'requirepass', 'right')
  })
  afterAll(() => node?.kill())

  it('refuses a wrong one immediately', async () => {
    for (const user of [':wrong@', '']) {
      const { message, ms } = await failureOf(connectRedis(`redis://${user}127.0.0.1:${node.port}`))
      expect(message).toMatch(/^cannot connect to Redis at 127\.0\.0\.1:\d+: (WRONGPASS|NOAUTH)/)
      expect(ms).toBeLessThan(5000)
    }
  })
})

describe.skipIf(whyNoRedis)('a cluster during a failover', () => {
  it('is connected to, and the sieve goes on when the replica has taken over', async () => {
    const servers = await startCluster()
    try {
      const before = await connectRedis(servers.nodes[1]!.url)
      const first = await RedisSieve.open({ client: before.client, name: 'failover' })
      expect(await first.addMany(urlsOf(0, 1000))).toEqual(all(1000, 1))
      await before.close()
      for (const [i, signal] of (['SIGKILL', 'SIGSTOP'] as const).entries()) {
        servers.nodes[2 * i]!.process.kill(signal) // its replica takes over in about three seconds
        const { client, isCluster, close } = await connectRedis(servers.nodes[1]!.url)
        try {
          expect(isCluster).toBe(true)
          const sieve = await RedisSieve.open({ client, name: 'failover', timeoutMs: 1000 })
          expect(await sieve.hasMany(urlsOf(0, 1000))).toEqual(all(1000, 1))
          const from = 1000 * (i + 1)
          expect(await sieve.addMany(urlsOf(from, from + 1000))).toEqual(all(1000, 1))
        } finally {
          await close()
        }
      }
    } finally {
      servers.nodes[2]!.process.kill('SIGCONT')
      await servers.stop()
    }
  })
})
