// Counts of the commands of a RESP listener: INFO, SLOWLOG and LATENCY report them, CONFIG RESETSTAT sets them to zero.
import type { Client, Command } from './command.ts'

/** Histogram of durations: bucket i has those below 2^i microseconds. */
const BUCKETS = 32
/** Arguments of a slow command that are recorded, and bytes of each; as in Redis. */
const MOST_ARGUMENTS = 32
const MOST_ARGUMENT_BYTES = 128

/** One command since the start. */
export class CommandUse {
  calls = 0
  micros = 0
  /** Refused before it ran. */
  rejected = 0
  failed = 0
  readonly buckets = new Float64Array(BUCKETS)

  /** `times` commands took `micros` together. */
  took(micros: number, times: number): void {
    this.micros += micros
    const bucket = Math.min(BUCKETS - 1, 32 - Math.clz32(Math.ceil(micros / times)))
    this.buckets[bucket]! += times
  }
}

export interface SlowCommand {
  readonly id: number
  readonly at: Date
  readonly micros: number
  readonly args: readonly Buffer[]
  readonly address: string
  readonly client: string
}

export class Statistics {
  readonly #uses = new Map<string, CommandUse>()
  /** Connections accepted, and bytes received and sent. */
  connections = 0
  receivedBytes = 0
  sentBytes = 0
  /** Reads of a key that exists, and of one that does not. */
  hits = 0
  misses = 0
  /** Settings of SLOWLOG; a negative time records nothing. */
  slowerThanMicros = 10_000
  mostSlow = 128
  /** The newest first. */
  slow: SlowCommand[] = []
  #slowId = 0
  #sample = { at: performance.now(), count: 0, rate: 0 }

  use({ name }: Command): CommandUse {
    let use = this.#uses.get(name)
    if (!use) {
      use = new CommandUse()
      this.#uses.set(name, use)
    }
    return use
  }

  uses(): ReadonlyMap<string, CommandUse> {
    return this.#uses
  }

  isSlow(micros: number): boolean {
    return this.slowerThanMicros >= 0 && micros >= this.slowerThanMicros && this.mostSlow > 0
  }

  /** Records a slow command: its first arguments, of `count` in all. */
  addSlow(
    client: Pick<Client, 'address' | 'name'>,
    micros: number,
    count: number,
    argument: (i: number) => Buffer,
  ): void {
    const isCut = count > MOST_ARGUMENTS
    const shown = isCut ? MOST_ARGUMENTS - 1 : count
    const args = Array.from({ length: shown }, (_, i) => shorten(argument(i)))
    if (isCut) args.push(Buffer.from(`... (${count - shown} more arguments)`))
    const { address, name } = client
    this.slow.unshift({
      id: this.#slowId++,
      at: new Date(),
      micros: Math.round(micros),
      args,
      address,
      client: name,
    })
    if (this.slow.length > this.mostSlow) this.slow.length = this.mostSlow
  }

  /** Commands per second since the last call that is at least a second ago. */
  rate(answered: number): number {
    const now = performance.now()
    const { at, count } = this.#sample
    const seconds = (now - at) / 1000
    if (seconds < 1) return this.#sample.rate
    const rate = Math.max(0, Math.round((answered - count) / seconds))
    this.#sample = { at: now, count: answered, rate }
    return rate
  }

  reset(): void {
    this.#uses.clear()
    this.connections = 0
    this.receivedBytes = 0
    this.sentBytes = 0
    this.hits = 0
    this.misses = 0
  }
}

function shorten(bytes: Buffer): Buffer {
  if (bytes.length <= MOST_ARGUMENT_BYTES) return Buffer.from(bytes)
  const more = bytes.length - MOST_ARGUMENT_BYTES
  return Buffer.concat([bytes.subarray(0, MOST_ARGUMENT_BYTES), Buffer.from(`... (${more} more bytes)`)])
}
