// The Redis protocol over TCP: accepts connections, ends those that stall, and shuts down in order.

import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { turns } from '../../store/pace.ts'
import type { ServerInfo } from '../info.ts'
import type { Log } from '../log.ts'
import { Password } from '../password.ts'
import type { SieveRegistry } from '../registry.ts'
import { commandTables } from './command-table.ts'
import { Connection } from './connection.ts'
import type { ConnectionContext } from './connection-context.ts'
import { type DialectName, dialects } from './dialect.ts'
import { Dumps } from './dumps.ts'
import type { RespLimits } from './limits.ts'
import { ReadBuffer } from './read-buffer.ts'
import { Statistics } from './statistics.ts'
import { removeDeadFolders } from './transfer-folder.ts'

export interface RespOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly password?: string
  readonly limits: RespLimits
  readonly server: ServerInfo
  readonly log: Log
  readonly isDurable: boolean
  /** Default `redis`. */
  readonly dialect?: DialectName
  /** Whether FLUSHALL is executed; by default when the sieves are in memory only. */
  readonly allowsFlush?: boolean
}

export interface RespListener {
  readonly port: number
  /** Accepts no more connections, answers what has been received, ends the connections. */
  close(): Promise<void>
}

/** Longest interval between checks of the timeouts. */
const MOST_CHECK_MS = 5000
/** How long clients may take to disconnect when the server stops. */
const GRACE_MS = 5000
const BACKLOG = 511
/** Shortest interval between log lines about other protocols on this port. */
const CUT_LOG_MS = 60_000

export async function openResp(registry: SieveRegistry, options: RespOptions): Promise<RespListener> {
  const { limits, server: info, log, isDurable, allowsFlush = !isDurable } = options
  const dialect = dialects[options.dialect ?? 'redis']
  const statistics = new Statistics()
  const connections = new Set<Connection>()
  const unsent = new Set<Connection>()
  const sendAll = () => {
    for (const connection of unsent) {
      unsent.delete(connection)
      connection.send()
      if (turns.isOver) break
    }
    if (unsent.size > 0) turns.enter(sendAll, true)
  }
  let ids = 0
  let cutAt = Number.NEGATIVE_INFINITY
  const context: ConnectionContext = {
    registry,
    info,
    limits,
    password: options.password === undefined ? undefined : new Password(options.password),
    dumps: new Dumps(limits.itemBytes, registry.limitBytes ?? Number.MAX_SAFE_INTEGER, registry.transfers),
    clients: connections,
    isDurable,
    allowsFlush,
    dialect,
    commands: commandTables[dialect.name],
    statistics,
    get port() {
      return (server.address() as AddressInfo | null)?.port ?? 0
    },
    readBuffer: new ReadBuffer(),
    heldBytes: 0,
    sendLater(connection) {
      if (unsent.size === 0) turns.enter(sendAll, true)
      unsent.add(connection)
    },
    left(connection) {
      unsent.delete(connection)
      if (connections.delete(connection)) info.connections.resp--
    },
    cut({ id, address }, protocol) {
      const now = performance.now()
      if (now - cutAt < CUT_LOG_MS) return
      cutAt = now
      const message = `${protocol} on the RESP port: connection closed`
      log('warn', protocol.toLowerCase(), { client: id, address, message })
    },
    tooMuchUnread({ id, address }) {
      const message = 'replies that are not read exceed --max-unread-all: connection closed'
      log('warn', 'unread', { client: id, address, message })
    },
    failed: (error) => log('error', 'defect', { what: (error as Error)?.stack ?? String(error) }),
  }

  // Ends the oldest connection that has not sent the password: strangers cannot hold all. False: there is none.
  const endStranger = () => {
    const stranger = [...connections].find(({ isTrusted }) => !isTrusted)
    if (!stranger) return false
    stranger.destroy()
    context.left(stranger)
    return true
  }

  const server = createServer(
    { allowHalfOpen: true, noDelay: true, pauseOnConnect: true },
    (socket: Socket) => {
      if (connections.size >= limits.connections) info.refused++
      if (connections.size >= limits.connections && !endStranger()) {
        socket.on('error', () => {})
        socket.end(`-ERR max number of clients reached: ${limits.connections} (--max-connections)\r\n`)
        socket.destroySoon()
        return
      }
      info.connections.resp++
      statistics.connections++
      connections.add(new Connection(++ids, socket, context))
    },
  )
  await listen(server, options)
  void removeDeadFolders().catch(() => {})

  const timeouts = setInterval(
    () => {
      const now = performance.now()
      for (const connection of connections) {
        const quiet = now - connection.activeAt
        const isTooLong = quiet > limits.idleMs || (connection.isStalled && quiet > limits.stalledMs)
        if (!isTooLong) continue
        log('info', 'timeout', {
          client: connection.id,
          address: connection.address,
          seconds: Math.round(quiet / 1000),
        })
        connection.destroy()
      }
    },
    Math.min(MOST_CHECK_MS, Math.max(10, Math.min(limits.idleMs, limits.stalledMs) / 4)),
  )
  timeouts.unref()

  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      clearInterval(timeouts)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const connection of connections) connection.finish()
      const grace = setTimeout(() => {
        for (const connection of connections) connection.destroy()
      }, GRACE_MS)
      await closed
      clearTimeout(grace)
      await context.dumps.close()
    },
  }
}

function listen(server: Server, { host, port }: RespOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
