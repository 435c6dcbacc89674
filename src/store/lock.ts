// One writer at a time: a lock file that names the process holding it. A lock whose process is gone is taken over.
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { SieveError } from '../errors.ts'
import { diskError } from './file.ts'

interface Holder {
  readonly pid: number
  readonly host: string
  /** When the process started, by the system's own clock, so that a reused number is noticed. */
  readonly started: string | null
  /** Another one when the machine was started anew. */
  readonly boot?: string | null
  readonly since: string
}

const MOST_ATTEMPTS = 5
let takers = 0

// The 22nd field of /proc/PID/stat; null where there is no such file.
function startOf(pid: number): string | null {
  const stat = textOf(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}

const bootOf = () => textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? null

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

function isAlive({ pid, host, started, boot }: Holder): boolean {
  if (host !== hostname()) return true // another machine's process cannot be asked
  if (boot && bootOf() && boot !== bootOf()) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = startOf(pid)
  return started === null || now === null || now === started
}

function holderIn(text: string | null): Holder | null {
  try {
    const holder = JSON.parse(text!) as Holder
    return typeof holder.pid === 'number' ? holder : null
  } catch {
    return null
  }
}

function heldBy(path: string, { pid, host, since }: Holder): SieveError {
  const advice =
    host === hostname()
      ? 'open it read-only or stop that process'
      : 'open it read-only, stop that process, or delete the lock when that machine is gone'
  return new SieveError(
    'locked',
    `${path} is held by process ${pid} on ${host} since ${since}: one writer at a time; ${advice}`,
  )
}

// The lock with its text is there at once, or not at all: nobody can read half of it. False: there is one already.
function put(path: string, text: string): boolean {
  const draft = `${path}.draft-${process.pid}-${takers++}`
  try {
    writeFileSync(draft, text)
    linkSync(draft, path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw diskError(path, error)
    return putWithoutLinks(path, text)
  } finally {
    remove(draft)
  }
}

// For file systems that have no links.
function putWithoutLinks(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw diskError(path, error)
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // not there
  }
}

// Moves away the lock of a process that is gone. When another taker was faster, what is moved is its new lock: it goes
// back to its place.
function moveAway(path: string, text: string | null): void {
  const stale = `${path}.stale-${process.pid}-${takers++}`
  try {
    renameSync(path, stale)
    if (textOf(stale) !== text) linkSync(stale, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'EEXIST') throw diskError(path, error)
  }
  remove(stale)
}

/** Takes the lock or throws one line that names who has it. Returns what gives it back. */
export function takeLock(path: string): () => void {
  const mine: Holder = {
    pid: process.pid,
    host: hostname(),
    started: startOf(process.pid),
    boot: bootOf(),
    since: new Date().toISOString(),
  }
  const text = JSON.stringify({ ...mine, taker: takers++ })
  for (let attempt = 1; !put(path, text); attempt++) {
    const found = textOf(path)
    const holder = holderIn(found)
    if (holder && (isAlive(holder) || attempt === MOST_ATTEMPTS)) throw heldBy(path, holder)
    if (attempt === MOST_ATTEMPTS)
      throw new SieveError('locked', `${path} cannot be taken: others take it too`)
    // The holder is gone, or the power went before its lock was written.
    if (found !== null) moveAway(path, found)
  }
  return () => {
    if (textOf(path) === text) remove(path)
  }
}
