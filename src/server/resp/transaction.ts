// The transaction of one connection: commands between MULTI and EXEC are queued as the bytes that were sent, and EXEC passes
// them to the command loop; WATCH records the state of sieves, so that EXEC can see whether they have changed.
import { SieveError } from '../../errors.ts'
import { checkName } from '../names.ts'
import type { ServedSieve, SieveRegistry } from '../registry.ts'
import type { Call } from './command.ts'
import { SLACK } from './command-prefix.ts'
import { Parser, type ParserLimits } from './parser.ts'
import { ArrayHead, Failure, NullArray, type Reply } from './replies.ts'

const FIRST_BYTES = 1024
/** Sieves that one connection may watch. */
const MOST_WATCHED = 1024

const ABORTED = new Failure('EXECABORT Transaction discarded because of previous errors.')

/** The state of a sieve when WATCH was called: absent, or this one with its number of writes. */
interface Watched {
  readonly sieve: ServedSieve | undefined
  readonly writes: number
}

export class Transaction {
  /** Between MULTI and EXEC: commands are queued. */
  isOpen = false
  /** Commands queued. */
  count = 0
  /** While EXEC runs: the queue, from which the command loop reads until it calls `close`. */
  running: Parser | null = null
  /** A command was refused: EXEC executes none. */
  #isFailed = false
  #bytes = Buffer.alloc(0)
  #size = 0
  readonly #watched = new Map<string, Watched>()

  get watched(): number {
    return this.#watched.size
  }

  /** Memory of the queue. */
  get sizeBytes(): number {
    return this.#bytes.length
  }

  open(): void {
    this.isOpen = true
  }

  /** Forgets the queue and what is watched. */
  close(): void {
    this.isOpen = false
    this.running = null
    this.#isFailed = false
    this.#free()
    this.unwatch()
  }

  /** A command was refused before it was queued. */
  fail(): void {
    this.#isFailed = true
    this.#free()
  }

  /** Queues a command; false when the queue would exceed `mostBytes`. After a failure nothing is stored. */
  queue(call: Call, mostBytes: number): boolean {
    if (this.#isFailed) return true
    const { sent } = call
    const size = this.#size + sent.length
    if (size > mostBytes) {
      this.fail()
      return false
    }
    this.#widen(size)
    this.#size += sent.copy(this.#bytes, this.#size)
    this.count++
    return true
  }

  /** EXEC: returns the head of the replies that follow, or the reply that there are none. */
  exec(registry: SieveRegistry, limits: ParserLimits): Reply {
    const isFailed = this.#isFailed
    const isChanged = this.#isChanged(registry)
    this.unwatch()
    this.isOpen = false
    if (isFailed || isChanged || this.count === 0) {
      this.close()
      return isFailed ? ABORTED : isChanged ? new NullArray() : []
    }
    this.running = new Parser(limits)
    this.running.bytes = this.#bytes
    this.running.size = this.#size
    return new ArrayHead(this.count)
  }

  /** Throws for an invalid name or too many names; then none of them is watched. */
  watch(registry: SieveRegistry, names: readonly string[]): void {
    for (const name of names) checkName(name)
    const added = new Set(names.filter((name) => !this.#watched.has(name)))
    if (this.#watched.size + added.size > MOST_WATCHED) {
      throw new SieveError('option', `more than ${MOST_WATCHED} watched sieves: UNWATCH first`)
    }
    for (const name of added) this.#watched.set(name, stateOf(registry, name))
  }

  unwatch(): void {
    this.#watched.clear()
  }

  #isChanged(registry: SieveRegistry): boolean {
    for (const [name, before] of this.#watched) {
      const now = stateOf(registry, name)
      if (now.sieve !== before.sieve || now.writes !== before.writes) return true
    }
    return false
  }

  #free(): void {
    this.#bytes = Buffer.alloc(0)
    this.#size = 0
    this.count = 0
  }

  #widen(size: number): void {
    if (size + SLACK <= this.#bytes.length) return
    const bytes = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, size + (size >> 1)) + SLACK)
    this.#bytes.copy(bytes, 0, 0, this.#size)
    this.#bytes = bytes
  }
}

function stateOf(registry: SieveRegistry, name: string): Watched {
  const sieve = registry.get(name)
  return { sieve, writes: sieve?.writes ?? 0 }
}
