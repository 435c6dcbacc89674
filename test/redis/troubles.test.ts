// Eight writers on a cluster, through both packages, while a primary is paused, lines are cut, a slot moves and a primary is
// killed: two writers add each URL, and one of them gets "new". Small here; with URLSIEVE_FULL the settings of
// docs/cluster.md, with one replica each, and with two and `waitReplicas: 1`.
import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { describe, expect, it, vi } from 'vitest'
import { CallMetrics, connectRedis, type RedisClient, RedisSieve } from '../../src/redis/index.ts'
import { evenTags, slotOf } from '../../src/redis/slots.ts'
import { mover } from './moving.ts'
import { type Line, startProxy } from './proxy.ts'
import { type RedisCluster, sleep, startCluster, until, whyNoRedis } from './servers.ts'
import { urlsOf } from './urls.ts'

const isFull = Boolean(process.env.URLSIEVE_FULL)
if (isFull) vi.setConfig({ testTimeout: 600_000 })
const WRITERS = 8
const PAIRS = WRITERS / 2
const BATCH = 200
const TAGS = 8
/** URLs of a pair are numbered from here. */
const FAR = 10_000_000

interface Client {
  readonly client: RedisClient
  close(): unknown
}

/** Three of createCluster, three of ioredis, and two behind lines that can be cut. */
async function connectAll({ nodes, url }: RedisCluster, proxies: readonly Line[]): Promise<Client[]> {
  const clients: Client[] = []
  for (let i = 0; i < 3; i++) clients.push(await connectRedis(url))
  for (let i = 0; i < 3; i++) {
    const client = new Cluster([{ host: '127.0.0.1', port: nodes[i]!.port }])
    client.on('error', () => {})
    clients.push({ client, close: () => client.disconnect() })
  }
  for (let i = 0; i < 2; i++) {
    const client = createCluster({
      rootNodes: [{ url: `redis://127.0.0.1:${proxies[0]!.port}` }],
      minimizeConnections: true,
      nodeAddressMap: (address) => {
        const at = nodes.findIndex((node) => address.endsWith(`:${node.port}`))
        return at < 0 ? undefined : { host: '127.0.0.1', port: proxies[at]!.port }
      },
    })
    client.on('error', () => {})
    await client.connect()
    clients.push({ client, close: () => client.destroy() })
  }
  return clients
}

/** Two writers of a pair add the same batches, each at its own pace; says how often each URL was "new". */
function startWriters(sieves: readonly RedisSieve[]) {
  const done = new Array<number>(WRITERS).fill(0)
  const times = Array.from({ length: PAIRS }, () => new Map<number, Uint8Array>())
  let isOn = true
  let longestMs = 0
  const write = async (writer: number): Promise<void> => {
    const pair = writer % PAIRS
    const other = (writer + PAIRS) % WRITERS
    // At the end each does what the other of its pair has done.
    for (let batch = 0; isOn || batch < done[other]!; batch++) {
      const from = FAR * pair + BATCH * batch
      const start = performance.now()
      const verdicts = await sieves[writer]!.addMany(urlsOf(from, from + BATCH))
      longestMs = Math.max(longestMs, performance.now() - start)
      const sum = times[pair]!.get(batch) ?? new Uint8Array(BATCH)
      times[pair]!.set(
        batch,
        sum.map((count, i) => count + verdicts[i]!),
      )
      done[writer] = batch + 1
    }
  }
  const work = Promise.all(sieves.map((_, writer) => write(writer)))
  return {
    work,
    stop() {
      isOn = false
    },
    /** The longest call since the last time. */
    takeLongest() {
      const ms = longestMs
      longestMs = 0
      return Math.round(ms)
    },
    /** Resolves when every writer has done some more batches. */
    async goOn() {
      const before = [...done]
      await Promise.race([
        until('every writer goes on', async () => done.every((n, i) => n > before[i]! + 3), 60_000),
        work,
      ])
    },
    count(isOf: (times: number) => boolean) {
      let sum = 0
      for (const batches of times)
        for (const one of batches.values()) for (const n of one) sum += Number(isOf(n))
      return sum
    },
  }
}

interface Setting {
  readonly replicasEach: number
  readonly waitReplicas: number
  readonly nodeTimeoutMs: number
}

const settings: readonly Setting[] = isFull
  ? [
      { replicasEach: 1, waitReplicas: 0, nodeTimeoutMs: 5000 },
      { replicasEach: 2, waitReplicas: 1, nodeTimeoutMs: 5000 },
    ]
  : [{ replicasEach: 1, waitReplicas: 0, nodeTimeoutMs: 1500 }]

describe.skipIf(whyNoRedis)('eight writers', () => {
  it.each(settings)('new exactly once: %o', async ({ replicasEach, waitReplicas, nodeTimeoutMs }) => {
    const servers = await startCluster({ primaries: 3, replicas: 3 * replicasEach, nodeTimeoutMs })
    const { nodes } = servers
    const proxies = await Promise.all(nodes.map(({ port }) => startProxy(port)))
    const clients: Client[] = []
    try {
      clients.push(...(await connectAll(servers, proxies)))
      const metrics = new CallMetrics()
      let lost = 0
      metrics.on('failover', ({ from }) => {
        lost += Number(from.endsWith(`:${nodes[1]!.port}`))
      })
      const sieves = await Promise.all(
        clients.map(({ client }) => {
          // A cluster of ioredis cannot wait for replicas.
          const durability = client instanceof Cluster ? {} : { waitReplicas }
          return RedisSieve.open({
            client,
            name: 'troubles',
            tags: TAGS,
            timeoutMs: 500,
            metrics,
            ...durability,
          })
        }),
      )
      const writers = startWriters(sieves)
      const report: string[] = []
      const trouble = async (what: string, begin: () => Promise<unknown>) => {
        await Promise.race([begin(), writers.work])
        await writers.goOn()
        report.push(`${what}: longest call ${writers.takeLongest()} ms`)
      }
      await trouble('none', async () => {})
      await trouble('pause', async () => {
        nodes[0]!.process.kill('SIGSTOP')
        await sleep(nodeTimeoutMs / 3)
        nodes[0]!.process.kill('SIGCONT')
      })
      await trouble('cut', async () => {
        for (const proxy of proxies) proxy.loseAnswers()
        await sleep(100)
        for (const proxy of proxies) proxy.cut()
        await sleep(100)
        for (const proxy of proxies) proxy.mend()
      })
      await trouble('reshard', async () => {
        const { begin, moveKeys, end } = mover(() => servers)
        const slot = slotOf(evenTags(TAGS).at(-1)!)
        await begin(slot, 2, 0)
        while ((await moveKeys(slot, 2, 0)) > 0);
        await end(slot, 2, 0)
      })
      // Until here nothing may have been lost.
      expect(writers.count((times) => times > 1)).toBe(0)
      await trouble('failover', async () => {
        nodes[1]!.process.kill('SIGKILL')
        const replicas = nodes.slice(3).filter((_, i) => i % 3 === 1)
        const isPrimary = async (at: number) =>
          /role:master/.test(String(await replicas[at]!.ask('INFO', 'replication')))
        await until('a replica takes over', async () => {
          for (let i = 0; i < replicas.length; i++) if (await isPrimary(i)) return true
          return false
        })
      })
      writers.stop()
      await writers.work
      const [never, twice, urls] = [(n: number) => n === 0, (n: number) => n > 1, () => true].map(
        writers.count,
      )
      const { failed, unknown, longestSeconds } = metrics.counts()
      console.log(
        `${replicasEach} replicas each, waitReplicas ${waitReplicas}, ${urls} URLs added twice: ${report.join('; ')}; ` +
          `${never} never new, ${twice} new twice; longest call of all ${longestSeconds.toFixed(1)} s`,
      )
      expect(never).toBe(0)
      // A failover may lose what the replica had not received.
      expect(twice).toBeLessThan(10 * BATCH)
      expect({ failed, unknown }).toEqual({ failed: 0, unknown: 0 })
      // The loss of the primary is one failover, whatever the number of calls that met it.
      expect(lost).toBe(1)
    } finally {
      for (const { close } of clients) await close()
      await Promise.all(proxies.map((proxy) => proxy.stop()))
      await servers.stop()
    }
  })
})
