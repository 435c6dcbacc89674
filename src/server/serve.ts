// The whole server: its house, and the doors to it. Opened together, closed in order.
import type { Durability } from '../index.ts'
import { Faults } from './faults.ts'
import type { House } from './house.ts'
import type { HttpLimits } from './http/limits.ts'
import { serverInfo } from './info.ts'
import type { RespLimits } from './limits.ts'
import { LocalHouse } from './local-house.ts'
import type { Log } from './log.ts'

export interface ServeOptions {
  readonly version: string
  readonly host: string
  readonly port: number
  /** None: no HTTP. */
  readonly httpPort?: number
  readonly password?: string
  readonly data?: string
  /** Instead: sieves on Redis or a cluster, at this URL. */
  readonly redis?: string
  /** How long it is waited for, to connect and for each call. */
  readonly redisRetryMs?: number
  readonly durability: Durability
  readonly memoryBytes: number
  readonly mostSieves: number
  readonly limits: RespLimits
  readonly httpLimits: HttpLimits
  readonly log: Log
  /** The built page, and what `urlsieve lab` wrote. */
  readonly siteFolder?: string
  readonly reportFolder?: string
}

export interface Serving {
  readonly port: number
  readonly httpPort: number | undefined
  /** How many sieves were there. */
  readonly sieves: number
  /** Accepts no more, answers what has come, puts everything on the disk. */
  close(): Promise<void>
}

interface Door {
  readonly port: number
  close(): Promise<void>
}

/** Throws when a port is taken or the folder cannot be opened; nothing is left open then. */
export async function serve(options: ServeOptions): Promise<Serving> {
  const house = await openHouse(options)
  const doors: Door[] = []
  const close = async () => {
    await Promise.all(doors.map((door) => door.close()))
    await house.close()
  }
  try {
    const { host, port, httpPort, limits, log, password } = options
    const server = serverInfo(options.version)
    const shared = { host, server, ...(password !== undefined && { password }) }
    const isDurable = options.data !== undefined || options.redis !== undefined
    const { openResp } = await import('./resp/index.ts')
    const resp = await openResp(house, { ...shared, port, limits, log, isDurable })
    doors.push(resp)
    let http: Door | undefined
    if (httpPort !== undefined) {
      const { openHttp } = await import('./http/index.ts')
      const { siteFolder, reportFolder } = options
      http = await openHttp(house, {
        ...shared,
        port: httpPort,
        limits: options.httpLimits,
        ...(siteFolder !== undefined && { siteFolder }),
        ...(reportFolder !== undefined && { reportFolder }),
        onDefect: (error) => log('error', 'defect', { what: (error as Error)?.stack ?? String(error) }),
      })
      doors.push(http)
    }
    return { port: resp.port, httpPort: http?.port, sieves: house.list().length, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function openHouse(options: ServeOptions): Promise<House> {
  const faults = new Faults(options.log)
  if (options.redis !== undefined) {
    const { ClusterHouse } = await import('../redis/cluster-house.ts')
    const { redis, redisRetryMs } = options
    return ClusterHouse.open(redis, { faults, ...(redisRetryMs !== undefined && { retryMs: redisRetryMs }) })
  }
  const { data, durability, memoryBytes, mostSieves } = options
  return LocalHouse.open({ durability, memoryBytes, mostSieves, faults, ...(data !== undefined && { data }) })
}
