// From a URL to a connected client of the package `redis`, for one node or a cluster, whichever answers there.
import { option, SieveError, wording } from '../errors.ts'
import { checkNumber } from '../filters/filter.ts'
import type { RedisClient } from './client.ts'
import { within } from './deadline.ts'

export interface Connection {
  readonly client: RedisClient
  readonly isCluster: boolean
  close(): Promise<void>
}

export interface ConnectOptions {
  /** How long connecting may take. A connection that is silent for this long is closed and opened again. Default 10,000. */
  readonly connectTimeoutMs?: number
}

const LONGEST_PAUSE_MS = 1000
/** How soon a cluster's client reads the slots again when a node's connection breaks. */
const REFRESH_MS = 500

/**
 * Connects to redis://[user:password@]host:port, or rediss:// for TLS. Throws a SieveError when no server answers within
 * `connectTimeoutMs`; immediately when the connection or the password is refused. Of a cluster the node at the URL has to
 * answer; the others may be away.
 */
export async function connectRedis(
  url: string,
  { connectTimeoutMs = 10_000 }: ConnectOptions = {},
): Promise<Connection> {
  const { host, username, password, protocol } = parse(url)
  checkNumber('connectTimeoutMs', connectTimeoutMs, (ms) => ms >= 1, 'at least 1 millisecond')
  const { createClient, createCluster } = await import('redis')
  // The first connection is tried once; later ones again and again: how long a call waits is for the calls to say.
  let isConnected = false
  const reconnectStrategy = (tries: number) =>
    isConnected ? Math.min((tries + 1) * 50, LONGEST_PAUSE_MS) : false
  // A ping is sent on an idle connection, so that only one whose server is silent meets the timeout of its socket.
  const pingInterval = Math.ceil(connectTimeoutMs / 2)
  const socket = { reconnectStrategy, connectTimeout: connectTimeoutMs, socketTimeout: connectTimeoutMs }
  const client = createClient({ url, pingInterval, socket: { ...socket } as never })
  client.on('error', () => {}) // the calls report what fails
  let open: { destroy(): void } = client
  const connect = async (): Promise<Connection> => {
    await client.connect()
    if (!/^cluster_enabled:1/m.test(String(await client.sendCommand(['INFO', 'cluster'])))) {
      return { client, isCluster: false, close: async () => client.destroy() }
    }
    client.destroy()
    // Nodes are connected to when a call needs them: else connecting would wait for a node that is gone, without end.
    const cluster = createCluster({
      rootNodes: [{ url }],
      minimizeConnections: true,
      defaults: {
        pingInterval,
        ...(username && { username: decodeURIComponent(username) }),
        ...(password && { password: decodeURIComponent(password) }),
        socket: { ...socket, ...(protocol === 'rediss:' && { tls: true as const }) } as never,
      },
      topologyRefreshOnReconnectionAttemptStrategy: REFRESH_MS,
    })
    cluster.on('error', () => {})
    open = cluster
    await cluster.connect()
    return { client: cluster, isCluster: true, close: async () => cluster.destroy() }
  }
  try {
    const connection = await within(connectTimeoutMs, connect())
    isConnected = true
    return connection
  } catch (error) {
    open.destroy()
    const { message, cause } = error as Error
    const why = /\btimeout\b|^no answer/i.test(message)
      ? wording`no answer within ${connectTimeoutMs / 1000} s (${option('connectTimeoutMs')})`
      : message || String((cause as Error | undefined)?.message ?? cause)
    throw new SieveError('network', wording`cannot connect to Redis at ${host}: ${why}`)
  }
}

function parse(url: string): URL {
  const isRight = URL.canParse(url) && ['redis:', 'rediss:'].includes(new URL(url).protocol)
  if (isRight) return new URL(url)
  throw new SieveError('option', `Redis at '${url}': expected redis://host:port or rediss://host:port`)
}
