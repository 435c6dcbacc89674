// From a URL to a connected client of the package `redis`, for one node or a cluster, whichever answers there.
import { SieveError } from '../errors.ts'
import type { RedisClient } from './client.ts'

export interface Connection {
  readonly client: RedisClient
  readonly isCluster: boolean
  close(): Promise<void>
}

/** Connects to redis://[user:password@]host:port, or rediss:// for TLS. Throws a SieveError when nobody answers. */
export async function connectRedis(url: string): Promise<Connection> {
  const { host, username, password, protocol } = parse(url)
  const { createClient, createCluster } = await import('redis')
  // The first connection fails at once; later ones are tried again, for as long as the calls have patience.
  let isConnected = false
  const reconnectStrategy = (tries: number) => (isConnected ? Math.min(tries * 50, 1000) : false)
  const client = createClient({ url, socket: { reconnectStrategy, connectTimeout: 5000 } as never })
  client.on('error', () => {}) // calls say what fails
  try {
    await client.connect()
    if (!/^cluster_enabled:1/m.test(String(await client.sendCommand(['INFO', 'cluster'])))) {
      isConnected = true
      return { client, isCluster: false, close: async () => client.destroy() }
    }
    client.destroy()
    const cluster = createCluster({
      rootNodes: [{ url }],
      defaults: {
        ...(username && { username: decodeURIComponent(username) }),
        ...(password && { password: decodeURIComponent(password) }),
        ...(protocol === 'rediss:' && { socket: { tls: true as const } }),
      },
      topologyRefreshOnReconnectionAttemptStrategy: 500,
    })
    cluster.on('error', () => {})
    await cluster.connect()
    return { client: cluster, isCluster: true, close: async () => cluster.destroy() }
  } catch (error) {
    throw new SieveError('network', `cannot connect to Redis at ${host}: ${reasonOf(error as Error)}`)
  }
}

function parse(url: string): URL {
  const isRight = URL.canParse(url) && ['redis:', 'rediss:'].includes(new URL(url).protocol)
  if (isRight) return new URL(url)
  throw new SieveError('option', `Redis at '${url}': expected redis://host:port or rediss://host:port`)
}

const reasonOf = ({ message, cause }: Error) =>
  message || String((cause as Error | undefined)?.message ?? cause)
