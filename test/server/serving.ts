// A server in this process, on a free port, that is gone when the test file has ended.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerInfo, serverInfo } from '../../src/server/info.ts'
import { LocalRegistry, type LocalRegistryOptions } from '../../src/server/local-registry.ts'
import type { SieveRegistry } from '../../src/server/registry.ts'
import type { DialectName } from '../../src/server/resp/dialect.ts'
import { openResp, type RespListener } from '../../src/server/resp/index.ts'
import { type RespLimits, respLimits } from '../../src/server/resp/limits.ts'
import { atEnd } from './ends.ts'
import { Raw } from './raw.ts'

export interface Served {
  readonly registry: SieveRegistry
  readonly listener: RespListener
  readonly info: ServerInfo
  /** What was logged. */
  readonly logged: string[]
  connect(): Promise<Raw>
  close(): Promise<void>
}

export interface Setting {
  readonly limits?: Partial<RespLimits>
  readonly password?: string
  readonly registry?: Partial<LocalRegistryOptions>
  /** Another registry in its place. */
  readonly wrap?: (registry: SieveRegistry) => SieveRegistry
  readonly dialect?: DialectName
  readonly allowsFlush?: boolean
}

/** A folder that is there until this file's tests have ended. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'urlsieve-server-'))
  atEnd(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Closes at the end by itself; may be closed before. */
export async function served(setting: Setting = {}): Promise<Served> {
  const { limits, password, registry: asked, wrap, dialect, allowsFlush } = setting
  const local = await LocalRegistry.open({ memoryBytes: 256 * 1024 ** 2, mostSieves: 100, ...asked })
  const registry = wrap?.(local) ?? local
  const info = serverInfo('0.0.0-test', limits?.allUnreadBytes)
  const logged: string[] = []
  const listener = await openResp(registry, {
    host: '127.0.0.1',
    port: 0,
    ...(password !== undefined && { password }),
    limits: { ...respLimits, ...limits },
    server: info,
    log: (level, event, fields) => logged.push(`${level} ${event} ${JSON.stringify(fields ?? {})}`),
    isDurable: asked?.data !== undefined,
    ...(dialect !== undefined && { dialect }),
    ...(allowsFlush !== undefined && { allowsFlush }),
  })
  const clients: Raw[] = []
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    for (const client of clients) client.close()
    await listener.close()
    await registry.close()
  }
  atEnd(close)
  const connect = async () => {
    const client = await Raw.connect(listener.port)
    clients.push(client)
    return client
  }
  return { registry, listener, info, logged, connect, close }
}

/** A server with a client of each protocol. */
export async function pair(setting?: Setting): Promise<{ server: Served; two: Raw; three: Raw }> {
  const server = await served(setting)
  const [two, three] = [await server.connect(), await server.connect()]
  const hello = (await three.ask('HELLO', '3')) as Map<string, unknown>
  if (hello.get('proto') !== 3) throw new Error('no RESP3')
  return { server, two, three }
}

let names = 0

/** A name that no other test has. */
export const fresh = () => `n${names++}`
