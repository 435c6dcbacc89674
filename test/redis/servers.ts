// Real Redis servers for tests: one node, or a cluster of primaries with replicas, on free ports, stopped at the end.
import type { ChildProcess } from 'node:child_process'
import { createClient } from 'redis'
import { freePort, sleep, spawnRedis } from '../../bench/redis-process.mjs'
import { whyMissing } from '../support/debian.ts'

export { freePort, sleep }

/** Why redis-server is missing, to skip by name; empty when it is installed. */
export const whyNoRedis = whyMissing('redis-server')

export interface RedisNode {
  readonly port: number
  readonly url: string
  readonly process: ChildProcess
  /** One command on a connection of its own. */
  ask(...args: string[]): Promise<unknown>
  /** Takes it away, by default at once; also when it was stopped with SIGSTOP. */
  kill(signal?: NodeJS.Signals): Promise<void>
}

export interface RedisCluster {
  /** Primaries first, then their replicas in the same order. */
  readonly nodes: readonly RedisNode[]
  readonly url: string
  stop(): Promise<void>
}

/** Asks until it is so. */
export async function until(what: string, isSo: () => Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  const end = performance.now() + timeoutMs
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await sleep(25)
  }
}

/** One server, in memory only. */
export async function startNode(args: readonly string[] = []): Promise<RedisNode> {
  const { port, url, child, gone } = await spawnRedis(args)
  const node: RedisNode = {
    port,
    url,
    process: child,
    async ask(...command) {
      const client = createClient({ url, socket: { reconnectStrategy: false } as never })
      client.on('error', () => {})
      await client.connect()
      try {
        return await client.sendCommand(command)
      } finally {
        client.destroy()
      }
    },
    async kill(signal = 'SIGKILL') {
      child.kill(signal)
      await gone
    },
  }
  await until(`redis-server on ${port}`, async () => (await node.ask('PING')) === 'PONG')
  return node
}

/** A cluster; a primary that is gone is replaced by its replica after about `nodeTimeoutMs`. */
export async function startCluster(
  { primaries = 3, replicas = 3, nodeTimeoutMs = 1500 } = {},
  args: readonly string[] = [],
): Promise<RedisCluster> {
  const settings = [
    ...['--cluster-enabled', 'yes', '--cluster-node-timeout', String(nodeTimeoutMs)],
    ...['--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0'],
    ...args,
  ]
  const nodes: RedisNode[] = []
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.kill()))
  }
  try {
    const starts = Array.from({ length: primaries + replicas }, () => startNode(settings))
    for (const start of await Promise.allSettled(starts)) {
      if (start.status === 'rejected') throw start.reason
      nodes.push(start.value)
    }
    for (const [i, node] of nodes.entries()) await node.ask('CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1))
    for (let i = 0; i < primaries; i++) {
      const slots = Array.from({ length: 16384 }, (_, slot) => slot)
      const mine = slots.filter((slot) => Math.floor((slot * primaries) / 16384) === i)
      await nodes[i]!.ask('CLUSTER', 'ADDSLOTS', ...mine.map(String))
    }
    // Each pair is introduced: gossip takes seconds longer.
    for (const [i, node] of nodes.entries()) {
      for (const other of nodes.slice(i + 1))
        await node.ask('CLUSTER', 'MEET', '127.0.0.1', String(other.port))
    }
    const known = `cluster_known_nodes:${nodes.length}\r`
    for (const node of nodes) {
      await until('nodes know each other', async () =>
        String(await node.ask('CLUSTER', 'INFO')).includes(known),
      )
    }
    const replicate = async (replica: RedisNode, primary: RedisNode) => {
      const id = String(await primary.ask('CLUSTER', 'MYID'))
      await until('a replica is one', async () => (await replica.ask('CLUSTER', 'REPLICATE', id)) === 'OK')
      await until('it has all', async () =>
        /master_link_status:up/.test(String(await replica.ask('INFO', 'replication'))),
      )
    }
    await Promise.all(nodes.slice(primaries).map((node, i) => replicate(node, nodes[i % primaries]!)))
    for (const node of nodes) {
      await until('the cluster is ok', async () =>
        String(await node.ask('CLUSTER', 'INFO')).includes('cluster_state:ok'),
      )
    }
    return { nodes, url: nodes[0]!.url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
