// Who holds a lock, and whether that process still lives. Each holder listens on a Unix socket in the lock's folder: the
// system closes it when the process ends, however it ends, and any process that sees the folder can connect to it,
// whatever its container, host name or view of process numbers. Connecting succeeds: held. Refused: gone.
import { closeSync, openSync, readlinkSync, statfsSync, unlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Task } from './thread.ts'
import { MiB, readWhole } from './whole-file.ts'

export interface Holder {
  readonly pid: number
  readonly host: string
  readonly since: string
  /** Changes when the machine is started again. */
  readonly boot?: string | null
  /** The socket's name in the folder; null where the file system has no sockets. */
  readonly socket?: string | null
  /** Without a socket: when the process started, so that a reused number is noticed, and which numbers these are. */
  readonly started?: string | null
  readonly numbers?: string | null
}

/** Longest path of a Unix socket: 108 bytes with its end on Linux, 104 elsewhere. */
const MOST_PATH_BYTES = 100
/** File systems that one machine alone writes to: ext, xfs, btrfs, tmpfs, overlay, zfs, f2fs, bcachefs. */
const LOCAL_TYPES = [
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]

export function textOf(path: string): string | null {
  try {
    return readWhole(path, MiB).toString()
  } catch {
    return null
  }
}

const bootOf = () => textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? null

// Two processes with the same answer see each other under the same numbers.
export function numbersOf(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return null
  }
}

// From /proc/PID/stat: its state and, as the 22nd field, when it started. Null where there is no such file.
function statOf(pid: number): { state: string; started: string } | null {
  const stat = textOf(`/proc/${pid}/stat`)
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields?.[19] === undefined ? null : { state: fields[0]!, started: fields[19] }
}

/** This process, as the holder of a lock. */
export function holderHere(socket: string | null): Holder {
  return {
    pid: process.pid,
    host: hostname(),
    since: new Date().toISOString(),
    boot: bootOf(),
    socket,
    started: statOf(process.pid)?.started ?? null,
    numbers: numbersOf(),
  }
}

export function parseHolder(text: string | null): Holder | null {
  try {
    const holder = JSON.parse(text!) as Holder
    return typeof holder.pid === 'number' ? holder : null
  } catch {
    return null
  }
}

/** Whether this machine has a process of that number. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whether a holder's process lives; true when that cannot be known. */
export function isAlive(holder: Holder, folder: string): boolean {
  if (typeof holder.socket === 'string') {
    if (isListening(folder, holder.socket)) return true
    return !isOfThisMachine(holder, folder)
  }
  if (!isOfThisMachine(holder, folder)) return true
  const boot = bootOf()
  if (holder.boot && boot && holder.boot !== boot) return false
  if (holder.numbers && holder.numbers !== numbersOf()) return true
  if (!isRunning(holder.pid)) return false
  const stat = statOf(holder.pid)
  if (!stat) return true
  return stat.state !== 'Z' && (holder.started == null || holder.started === stat.started)
}

/**
 * Whether a holder ran on this machine: then nobody else's word is needed. A start of the machine between makes no
 * difference on a local disk; on a shared one it could as well be another machine of the same name.
 */
export function isOfThisMachine({ host, boot, socket }: Holder, folder: string): boolean {
  if (boot && boot === bootOf()) return true
  if (socket === undefined || !boot || bootOf() === null) return host === hostname()
  try {
    return LOCAL_TYPES.includes(Number(statfsSync(folder).type))
  } catch {
    return false
  }
}

// A long path is reached through the folder's descriptor. `use` gets null where that is impossible.
function atSocket<T>(
  folder: string,
  name: string,
  use: (path: string | null) => T,
): { result: T; close(): void } {
  const path = join(folder, name)
  if (Buffer.byteLength(path) <= MOST_PATH_BYTES) return { result: use(path), close() {} }
  if (process.platform !== 'linux') return { result: use(null), close() {} }
  const fd = openSync(folder, 'r')
  return { result: use(`/proc/self/fd/${fd}/${name}`), close: () => closeSync(fd) }
}

function isListening(folder: string, name: string): boolean {
  try {
    const { result, close } = atSocket(folder, name, (path) => path && new Task('connect', path).wait())
    close()
    // Anything else, such as a full queue or missing permission, is the answer of a socket that is there.
    return result !== 'ECONNREFUSED' && result !== 'ENOENT'
  } catch {
    return true
  }
}

export const socketName = (id: string) => `lock-${id}.sock`

/** Listens on a socket of that name. Returns what ends it, or null where the file system has no sockets. */
export function listen(folder: string, name: string): (() => void) | null {
  const server = createServer((socket) => socket.destroy())
  server.on('error', () => {}) // `listening` says so at once
  try {
    const { close } = atSocket(folder, name, (path) => {
      if (path) server.listen({ path, exclusive: true, readableAll: true, writableAll: true })
    })
    if (!server.listening) {
      close()
      return null
    }
    server.unref()
    return () => {
      server.close()
      close()
      try {
        unlinkSync(join(folder, name))
      } catch {
        // the system did it
      }
    }
  } catch {
    return null
  }
}
