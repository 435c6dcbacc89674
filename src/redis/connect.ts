// From URLs to a connected client of the package `redis`: for one node, a cluster or a primary that Sentinels watch.
import { option, SieveError, type Wording, wording } from '../errors.ts'
import { type ConnectOptions, hostOf, type Node, readTarget, type Target } from './address.ts'
import type { RedisClient } from './client.ts'
import { within } from './deadline.ts'

export interface Connection {
  readonly client: RedisClient
  readonly isCluster: boolean
  close(): Promise<void>
}

/** What is needed of any client of the package while it is connected. */
interface Closable {
  destroy(): unknown
  on(event: 'error', listener: () => void): unknown
}

/** A connection under way: the clients that it has opened, and the settings they share. */
interface Attempt {
  readonly target: Target
  readonly redis: typeof import('@redis/client')
  readonly socket: object
  readonly pingInterval: number
  /** A client that is closed if connecting fails. What goes wrong in it is for the calls to report. */
  hold<C extends Closable>(client: C): C
}

const LONGEST_PAUSE_MS = 1000
/** How soon a cluster's client reads the slots again when a node's connection breaks. */
const REFRESH_MS = 500
/** How often a client of Sentinels asks them for the primary, besides listening to them. */
const SCAN_MS = 1000

/**
 * Connects to redis://[user:password@]host:port, or rediss:// for TLS; or to several such URLs, of nodes of one cluster
 * or of Sentinels. One of them has to answer. Throws a SieveError when none does within `connectTimeoutMs`; immediately
 * when all refuse the connection or the password.
 */
export async function connectRedis(
  url: string | readonly string[],
  options: ConnectOptions = {},
): Promise<Connection> {
  const target = readTarget(url, options)
  const { connectTimeoutMs = 10_000, sentinel } = options
  // The first connection is tried once; later ones again and again: how long a call waits is for the calls to say.
  let isConnected = false
  const reconnectStrategy = (tries: number) =>
    isConnected ? Math.min((tries + 1) * 50, LONGEST_PAUSE_MS) : false
  const open = new Set<unknown>()
  const attempt: Attempt = {
    target,
    redis: await import('@redis/client'),
    socket: {
      ...target.tls,
      reconnectStrategy,
      connectTimeout: connectTimeoutMs,
      socketTimeout: connectTimeoutMs,
    },
    // A ping is sent on an idle connection, so that only one whose server is silent meets the timeout of its socket.
    pingInterval: Math.ceil(connectTimeoutMs / 2),
    hold(client) {
      client.on('error', () => {})
      open.add(client)
      return client
    },
  }
  try {
    const connecting = sentinel === undefined ? connectNodes(attempt) : connectSentinels(attempt, sentinel)
    const connection = await within(connectTimeoutMs, connecting)
    isConnected = true
    for (const client of open) if (client !== connection.client) void (client as Closable).destroy()
    return connection
  } catch (error) {
    for (const client of open) void (client as Closable).destroy()
    throw error instanceof SieveError ? error : failure(target.nodes, error as Error, connectTimeoutMs)
  }
}

/** The first of the nodes that answers decides what all of them are. */
async function connectNodes(attempt: Attempt): Promise<Connection> {
  const { target, redis, socket, pingInterval, hold } = attempt
  const { nodes, credentials, database } = target
  const { client, node, info } = await Promise.any(
    nodes.map(async (node) => {
      const db = database === undefined ? {} : { database }
      const settings = { ...credentials, ...db, pingInterval, socket: { ...socket, ...node } as never }
      const client = hold(redis.createClient(settings))
      await client.connect()
      return { client, node, info: String(await client.sendCommand(['INFO', 'cluster'])) }
    }),
  )
  if (!/^cluster_enabled:1/m.test(info)) {
    if (/^redis_mode:sentinel/m.test(String(await client.sendCommand(['INFO', 'server'])))) {
      const what = wording`Redis at ${hostOf(node)} is a Sentinel: expected ${option('sentinel')}, the name of its primary`
      throw new SieveError('option', what, { option: 'sentinel' })
    }
    if (nodes.length > 1) throw notOneCluster(node)
    return { client, isCluster: false, close: async () => client.destroy() }
  }
  // Nodes are connected to when a call needs them: else connecting would wait for a node that is gone, without end.
  const rootNodes = [{ socket: { ...node } }]
  const cluster = hold(
    redis.createCluster({
      rootNodes,
      minimizeConnections: true,
      defaults: { pingInterval, ...credentials, socket: socket as never },
      topologyRefreshOnReconnectionAttemptStrategy: REFRESH_MS,
    }),
  )
  await cluster.connect()
  // For the time when none of the nodes it knows answers.
  rootNodes.push(...nodes.filter((other) => other !== node).map((other) => ({ socket: { ...other } })))
  return { client: cluster, isCluster: true, close: async () => cluster.destroy() }
}

async function connectSentinels(attempt: Attempt, name: string): Promise<Connection> {
  const { target, redis, socket, pingInterval, hold } = attempt
  const { nodes, credentials, sentinelCredentials, database } = target
  const known = await Promise.any(
    nodes.map(async (node) => {
      const watcher = hold(
        redis.createClient({ ...sentinelCredentials, socket: { ...socket, ...node } as never }),
      )
      await watcher.connect()
      return watcher.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name])
    }),
  )
  if (known === null) {
    throw new SieveError(
      'option',
      wording`${option('sentinel')} '${name}': the Sentinels at ${placeOf(nodes)} know no primary of this name`,
      { option: 'sentinel', got: name },
    )
  }
  const client = hold(
    redis.createSentinel({
      name,
      sentinelRootNodes: nodes.map((node) => ({ ...node })),
      sentinelClientOptions: { ...sentinelCredentials, socket: socket as never },
      nodeClientOptions: {
        ...credentials,
        ...(database !== undefined && { database }),
        pingInterval,
        socket: socket as never,
      },
      scanInterval: SCAN_MS,
    }),
  )
  await client.connect()
  return { client: client as never, isCluster: false, close: async () => void client.destroy() }
}

const placeOf = (nodes: readonly Node[]) => nodes.map(hostOf).join(', ')

function notOneCluster(node: Node): SieveError {
  return new SieveError(
    'option',
    wording`several URLs, and Redis at ${hostOf(node)} is a single node: expected nodes of one cluster, or ${option('sentinel')}`,
  )
}

function failure(nodes: readonly Node[], error: Error, ms: number): SieveError {
  const errors = error instanceof AggregateError ? (error.errors as Error[]) : [error]
  const whys = errors.map((one) => whyOf(one, ms))
  if (whys.length < 2)
    return new SieveError('network', wording`cannot connect to Redis at ${placeOf(nodes)}: ${whys[0]!}`)
  const all = nodes.reduce((text, node, i) => wording`${text}; ${hostOf(node)}: ${whys[i]!}`, wording``)
  return new SieveError('network', wording`cannot connect to Redis${all}`)
}

// OpenSSL's messages have a line break and places in its source; Node keeps the reason apart.
function whyOf(error: Error & { readonly reason?: unknown }, ms: number): Wording | string {
  const { message, cause, reason } = error
  if (typeof reason === 'string') return `TLS: ${reason}`
  if (/\btimeout\b|^no answer/i.test(message)) {
    return wording`no answer within ${ms / 1000} s (${option('connectTimeoutMs')})`
  }
  return (message || String((cause as Error | undefined)?.message ?? cause)).replaceAll(/\s+/g, ' ').trim()
}
