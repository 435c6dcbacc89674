// The whole server: its registry of sieves and its listeners for RESP and HTTP, opened and closed in order.
import type { Durability } from '../index.ts'
import type { ConnectOptions } from '../redis/address.ts'
import type { Patience } from '../redis/calls.ts'
import { Faults } from './faults.ts'
import type { HttpLimits } from './http/limits.ts'
import { serverInfo } from './info.ts'
import { LocalRegistry } from './local-registry.ts'
import type { Log } from './log.ts'
import type { SieveRegistry } from './registry.ts'
import type { DialectName } from './resp/dialect.ts'
import type { RespLimits } from './resp/limits.ts'

/** Where the sieves are, and how it is connected to and called. */
export interface RedisPlace {
  readonly url: string
  readonly connect?: ConnectOptions
  readonly calls?: Patience
}

export interface ServeOptions {
  readonly version: string
  readonly host: string
  readonly port: number
  /** Absent: no HTTP. */
  readonly httpPort?: number
  readonly password?: string
  readonly data?: string
  /** Instead of `data`: a Redis or cluster with the sieves. */
  readonly redis?: RedisPlace
  readonly durability: Durability
  readonly memoryBytes: number
  readonly mostSieves: number
  /** Memory for the answers of calls that may be repeated. */
  readonly keptBytes?: number
  readonly limits: RespLimits
  readonly httpLimits: HttpLimits
  readonly log: Log
  /** Default `redis`. */
  readonly dialect?: DialectName
  /** FLUSHALL is executed also when the sieves are on disk or on Redis. */
  readonly allowFlush?: boolean
  /** Shapes of the URLs added recently are collected; not with `redis`. */
  readonly shapes?: boolean
  /** The built page, and a report of `urlsieve lab`. */
  readonly siteFolder?: string
  readonly reportFolder?: string
}

export interface Serving {
  readonly port: number
  readonly httpPort: number | undefined
  /** Number of sieves opened. */
  readonly sieves: number
  /** Accepts no more connections, answers what has been received, writes everything to disk. */
  close(): Promise<void>
}

interface Listener {
  readonly port: number
  close(): Promise<void>
}

/** Throws when a port is taken or the folder cannot be opened; then nothing is left open. */
export async function serve(options: ServeOptions): Promise<Serving> {
  const registry = await openRegistry(options)
  const listeners: Listener[] = []
  const close = async () => {
    await Promise.all(listeners.map((listener) => listener.close()))
    await registry.close()
  }
  try {
    const { host, port, httpPort, limits, log, password } = options
    const server = serverInfo(options.version, limits.allUnreadBytes, options.keptBytes)
    const shared = { host, server, ...(password !== undefined && { password }) }
    const isDurable = options.data !== undefined || options.redis !== undefined
    const { openResp } = await import('./resp/index.ts')
    const allowsFlush = options.allowFlush || !isDurable
    const resp = await openResp(registry, {
      ...shared,
      port,
      limits,
      log,
      isDurable,
      allowsFlush,
      ...(options.dialect !== undefined && { dialect: options.dialect }),
    })
    listeners.push(resp)
    let http: Listener | undefined
    if (httpPort !== undefined) {
      const { openHttp } = await import('./http/index.ts')
      const { siteFolder, reportFolder } = options
      http = await openHttp(registry, {
        ...shared,
        port: httpPort,
        limits: options.httpLimits,
        ...(siteFolder !== undefined && { siteFolder }),
        ...(reportFolder !== undefined && { reportFolder }),
        onDefect: (error) => log('error', 'defect', { what: (error as Error)?.stack ?? String(error) }),
      })
      listeners.push(http)
    }
    // Clients that connect while the sieves are being opened get an error that names the reason.
    if (registry instanceof LocalRegistry) await registry.load()
    return { port: resp.port, httpPort: http?.port, sieves: registry.list().length, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function openRegistry(options: ServeOptions): Promise<SieveRegistry> {
  const faults = new Faults(options.log)
  if (options.redis !== undefined) {
    const { ClusterRegistry } = await import('./cluster-registry.ts')
    const { url, connect, calls } = options.redis
    return ClusterRegistry.open(url, { faults, connect, ...calls })
  }
  const { data, durability, memoryBytes, mostSieves } = options
  return new LocalRegistry({
    durability,
    memoryBytes,
    mostSieves,
    faults,
    ...(options.shapes && { shapes: new (await import('./recent-shapes.ts')).RecentShapes() }),
    ...(data !== undefined && { data }),
  })
}
