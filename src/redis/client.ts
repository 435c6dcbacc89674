// The smallest part of a Redis client that the sieve needs, and the clients of the packages `redis` and `ioredis` fitted
// to it, as their users have configured them.
import { SieveError } from '../errors.ts'
import { countConnections } from './connection-count.ts'
import { type IoRedisClient, ioRedisClient } from './ioredis-client.ts'
import { slotOf } from './slots.ts'

export type Argument = string | Buffer

/** What a sieve needs of Redis. */
export interface ScriptClient {
  /**
   * Sends a command to the node that owns `key`; follows MOVED and ASK. What could not be sent within `timeoutMs` is
   * not sent at all, where that is given and the client can.
   */
  send(key: string, args: Argument[], timeoutMs?: number): Promise<unknown>
  /** Looks again for who owns `key`, after silence of the node that did. `others` are keys that other nodes may own. */
  refresh?(key: string, others: readonly string[]): Promise<void>
  /** Several nodes may own the keys. */
  readonly isCluster: boolean
  /** False once the client as a whole was closed. */
  isOpen?(): boolean
  /** The address of the node that owns `key`, as far as the client knows. */
  ownerOf?(key: string): string | undefined
  /** The number of connections opened so far: while it stays the same, calls to a node go through the same connection. */
  connections?(): number
}

/** The package's own timeout takes half of the client's time, and calls have theirs: 0 turns it off. */
interface CommandOptions {
  readonly timeout: number
}

/** `createClient` or `createClientPool` of the package `redis`. */
export interface SingleClient {
  sendCommand(args: Argument[], options?: CommandOptions): Promise<unknown>
}

/** `createSentinel`. */
export interface SentinelClient {
  sendCommand(isReadonly: boolean | undefined, args: Argument[], options?: CommandOptions): Promise<unknown>
  getSentinelNode(): unknown
}

/** `createCluster`. */
export interface ClusterClient {
  sendCommand(
    key: Argument | undefined,
    isReadonly: boolean | undefined,
    args: Argument[],
    options?: CommandOptions,
  ): Promise<unknown>
  readonly isOpen?: boolean
  readonly slots: readonly ({ readonly master: unknown } | undefined)[]
  nodeClient(node: never): unknown
}

export type RedisClient = ScriptClient | SingleClient | SentinelClient | ClusterClient | IoRedisClient

/** A user's client as a sieve uses it. Throws a SieveError for anything else. */
export function scriptClient(client: RedisClient): ScriptClient {
  if (typeof client !== 'object' || client === null) {
    throw new SieveError(
      'option',
      `client ${String(client)}: expected a client of the package redis or ioredis`,
    )
  }
  if ('send' in client) return client
  if ('call' in client) return ioRedisClient(client)
  if ('nodeClient' in client) return clusterClient(client)
  if ('getSentinelNode' in client) {
    return {
      send: (_, args, timeout = 0) => client.sendCommand(false, args, { timeout }),
      isCluster: false,
      ...countConnections(client, 'ready', 'topology-change', 'client-error'),
    }
  }
  if ('sendCommand' in client) {
    return {
      send: (_, args, timeout = 0) => client.sendCommand(args, { timeout }),
      isCluster: false,
      // A pool sends each command on any of its connections.
      ...(!('totalClients' in client) && countConnections(client, 'connect')),
    }
  }
  throw new SieveError(
    'option',
    'client: expected createClient, createCluster or createSentinel of the package redis, or Redis or Cluster of ioredis',
  )
}

// The package learns who owns a slot from MOVED only, and a node that hangs says nothing. So another node is queried for
// the silent node's key: its MOVED makes the package read the slots again.
function clusterClient(cluster: ClusterClient): ScriptClient {
  const ownerOf = (key: string) => cluster.slots[slotOf(key)]?.master as { address?: string } | undefined
  return {
    isCluster: true,
    isOpen: () => cluster.isOpen ?? true,
    ownerOf: (key) => ownerOf(key)?.address,
    ...countConnections(cluster, 'node-connect'),
    send: (key, args, timeout = 0) => cluster.sendCommand(key, false, args, { timeout }),
    async refresh(key, others) {
      const owner = ownerOf(key)
      const elsewhere = others.filter((one) => ownerOf(one) !== owner)
      // Any of them: the next one to be queried may be silent as well.
      const other = elsewhere[Math.floor(Math.random() * elsewhere.length)]
      if (other === undefined) return
      await cluster.sendCommand(other, false, ['GET', key]).catch(() => {}) // its reply does not matter
    },
  }
}
