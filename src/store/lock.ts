// One writer at a time: a lock file that names the process holding it (holder.ts). The lock of a process that is gone is
// taken over by a second file, `lock.over-ID`, whose name is made of the first one's text; a taker that dies is taken
// over in the same way. The last of that chain holds the lock, and each link is made by one process only, since making a
// file exclusively is atomic. So nothing has to be removed before the lock is held.
import { createHash, randomBytes } from 'node:crypto'
import { linkSync, readdirSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SieveError } from '../errors.ts'
import { diskError } from './file.ts'
import {
  type Holder,
  holderHere,
  isAlive,
  isOfThisMachine,
  listen,
  parseHolder,
  socketName,
  textOf,
} from './holder.ts'

const MOST_ATTEMPTS = 200
/** What a taker left that was killed is removed after this long: no living one takes it. */
const LEFTOVER_MS = 60_000

function heldBy(path: string, holder: Holder): SieveError {
  const { pid, host, since } = holder
  const advice = isOfThisMachine(holder, dirname(path))
    ? 'open it read-only or stop that process'
    : 'open it read-only, stop that process, or delete the lock when that machine is gone'
  return new SieveError(
    'locked',
    `${path} is held by process ${pid} on ${host} since ${since}: one writer at a time; ${advice}`,
  )
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // not there
  }
}

/** A process that wants the lock, or has it. */
class Claim {
  readonly #path: string
  readonly #id = randomBytes(8).toString('hex')
  readonly #draft: string
  readonly #text: string
  readonly #endSocket: (() => void) | null

  constructor(path: string) {
    this.#path = path
    this.#draft = `${path}.draft-${this.#id}`
    const name = socketName(this.#id)
    this.#endSocket = listen(dirname(path), name)
    this.#text = JSON.stringify({ ...holderHere(this.#endSocket && name), id: this.#id })
  }

  /** Takes the lock, or throws one line that names who has it. */
  take(): void {
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
      const isFree = this.#put(this.#path)
      if (isFree) this.#sweep()
      if (isFree || this.#takeOver()) return
    }
    throw new SieveError('locked', `${this.#path} cannot be taken: others take it too`)
  }

  // The lock first: while it is there, whoever looks at it finds the socket open.
  release(): void {
    if (textOf(this.#path) === this.#text) remove(this.#path)
    this.#endSocket?.()
  }

  // Follows the chain to its last link; false when it changed meanwhile.
  #takeOver(): boolean {
    const head = textOf(this.#path)
    const gone: { file: string; holder: Holder | null }[] = []
    let file = this.#path
    for (let text = head; text !== null; ) {
      const holder = parseHolder(text) // null: the power went before it was written
      if (holder && isAlive(holder, dirname(this.#path))) throw heldBy(this.#path, holder)
      gone.push({ file, holder })
      const next = `${this.#path}.over-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
      if (!this.#put(next)) {
        file = next
        text = textOf(next)
        continue
      }
      // One that takes the lock over replaces the first link before it removes the others: when the first is still the
      // same, this is the end of the chain.
      if (textOf(this.#path) === head) {
        this.#settle([...gone, { file: next, holder: null }])
        return true
      }
      remove(next)
      return false
    }
    return false
  }

  // This process is the last link: the chain becomes its lock alone.
  #settle(chain: readonly { file: string; holder: Holder | null }[]): void {
    try {
      writeFileSync(this.#draft, this.#text, { mode: 0o644 })
      renameSync(this.#draft, this.#path)
    } catch (error) {
      remove(this.#draft)
      remove(chain.at(-1)!.file)
      throw diskError(this.#path, error)
    }
    const folder = dirname(this.#path)
    for (const { file, holder } of chain) {
      if (file !== this.#path) remove(file)
      if (typeof holder?.socket === 'string') remove(join(folder, basename(holder.socket)))
    }
    remove(`${this.#path}.takeover`) // of versions before 0.2
    this.#sweep()
  }

  // What takers left that were killed.
  #sweep(): void {
    const folder = dirname(this.#path)
    const leftover = new RegExp(`^${basename(this.#path)}(-[0-9a-f]{16}\\.sock|\\.(draft|over)-.*)$`)
    for (const name of readdirSync(folder)) {
      if (!leftover.test(name) || name === socketName(this.#id)) continue
      const path = join(folder, name)
      const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
      if (Date.now() - mtimeMs > LEFTOVER_MS && !isInUse(folder, name)) remove(path)
    }
  }

  // The file with its text is there at once, or not at all: nobody can read half of it. False: there is one already.
  #put(path: string): boolean {
    try {
      writeFileSync(this.#draft, this.#text, { mode: 0o644 })
      linkSync(this.#draft, path)
      return true
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') return false
      if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw diskError(this.#path, error)
      return this.#putWithoutLinks(path)
    } finally {
      remove(this.#draft)
    }
  }

  // For file systems that have no links.
  #putWithoutLinks(path: string): boolean {
    try {
      writeFileSync(path, this.#text, { flag: 'wx' })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw diskError(this.#path, error)
    }
  }
}

const isInUse = (folder: string, name: string) =>
  name.endsWith('.sock') && isAlive({ ...holderHere(name), boot: null }, folder)

/** Takes the lock or throws one line that names who has it. Returns what gives it back. */
export function takeLock(path: string): () => void {
  const claim = new Claim(path)
  try {
    claim.take()
  } catch (error) {
    claim.release()
    const holder = parseHolder(textOf(path))
    if (holder && isAlive(holder, dirname(path))) throw heldBy(path, holder)
    throw error
  }
  return () => claim.release()
}
