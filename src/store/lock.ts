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

const MOST_ATTEMPTS = 200
/** How long to wait for another taker's turn to end. */
const TURN_MS = 10
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

// Takes the place of a lock whose process is gone. One taker at a time, by a lock of its own: between looking at the old
// lock and removing it, nobody else can have put a new one there.
function takeOver(path: string, stale: string, text: string): boolean {
  const turn = `${path}.takeover`
  if (!put(turn, text)) {
    const other = textOf(turn)
    const holder = holderIn(other)
    if (other !== null && !(holder && isAlive(holder))) moveAway(turn, other)
    else pause(TURN_MS)
    return false
  }
  try {
    if (textOf(path) !== stale) return false
    unlinkSync(path)
    return put(path, text)
  } catch (error) {
    throw error instanceof SieveError ? error : diskError(path, error)
  } finally {
    remove(turn)
  }
}

// Removes what a taker left that was killed in its turn. When another was faster, what is moved is its own: it goes back.
function moveAway(path: string, stale: string): void {
  const away = `${path}.stale-${process.pid}-${takers++}`
  try {
    renameSync(path, away)
    if (textOf(away) !== stale) linkSync(away, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'EEXIST') throw diskError(path, error)
  }
  remove(away)
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
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
    if (holder && isAlive(holder)) throw heldBy(path, holder)
    if (attempt === MOST_ATTEMPTS)
      throw new SieveError('locked', `${path} cannot be taken: others take it too`)
    // The holder is gone, or the power went before its lock was written.
    if (found !== null && takeOver(path, found, text)) break
  }
  return () => {
    if (textOf(path) === text) remove(path)
  }
}
