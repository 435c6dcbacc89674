// URLs that are marked in the filter, which cannot unlearn them, and that no log holds. Refused: the disk did not take them; they
// are answered "new" until a log holds them. Held: answered, but not confirmed; they are new again to whoever opens the store
// next. A snapshot made meanwhile has both in its filter, so its log begins with them.
import type { SieveState } from '../state.ts'
import { type LogRecord, OP } from './log.ts'

/** The new URLs of a batch, until they are confirmed. */
export interface Held {
  readonly entries: number
  /** The record for the log. */
  readonly record: Buffer
  /** As in a record of what no log holds: hashes, or keys where the filter takes keys. */
  readonly names: Uint8Array
  /** As in the record: the same, or the keys where these are kept too. */
  readonly logged: Uint8Array
}

export class Unlogged {
  /** Hashes as 8 bytes, or keys: one character per byte. */
  readonly #refused = new Set<string>()
  #batches: Held[] = []
  /** What is held of batches of which some URLs were confirmed: each name, and what the log is to have. */
  readonly #singles = new Map<string, string>()
  #held = 0
  /** How often something came in: a log written at another count does not name all of them. */
  changes = 0

  get size(): number {
    return this.#refused.size + this.#held
  }

  /** URLs that wait for their confirmation. */
  get held(): number {
    return this.#held
  }

  /** Returns what undoes it. */
  clear(): () => void {
    const [refused, batches, singles, held] = [
      [...this.#refused],
      this.#batches,
      [...this.#singles],
      this.#held,
    ]
    this.#refused.clear()
    this.#batches = []
    this.#singles.clear()
    this.#held = 0
    return () => {
      for (const name of refused) this.#refused.add(name)
      this.#batches = batches
      for (const [name, logged] of singles) this.#singles.set(name, logged)
      this.#held = held
    }
  }

  /** Entries [from, n) of the batch whose verdict is `wanted` were refused. */
  add(state: SieveState, from: number, n: number, wanted: number): void {
    this.changes++
    for (const name of named(state, from, n, wanted)) this.#refused.add(name)
  }

  /** Entries [from, n) of the batch whose verdict is `wanted` are in a log now, or held. */
  drop(state: SieveState, from: number, n: number, wanted?: number): void {
    if (this.#refused.size === 0) return
    for (const name of named(state, from, n, wanted)) this.#refused.delete(name)
  }

  /** The filter answers "seen" for what was refused before: it is new, once per batch. */
  amend(state: SieveState, from: number, n: number): void {
    if (this.#refused.size === 0) return
    const { verdicts } = state.kernel
    const met = new Set<string>()
    for (let i = from; i < n; i++) {
      const name = nameOf(state, i)
      if (verdicts[i] === 0 && this.#refused.has(name) && !met.has(name)) verdicts[i] = 1
      met.add(name)
    }
  }

  hold(batch: Held): void {
    this.changes++
    this.#held += batch.entries
    this.#batches.push(batch)
  }

  /** Batches that are held as they came. */
  get batches(): readonly Held[] {
    return this.#batches
  }

  /** What else is held, as the payload of a record. */
  singles(isHashes: boolean): { readonly entries: number; readonly payload: Buffer } {
    return { entries: this.#singles.size, payload: joined(this.#singles.values(), isHashes) }
  }

  /** A log holds the first batches; without a number, all that is held. */
  release(batches?: number): void {
    const gone = this.#batches.splice(0, batches ?? this.#batches.length)
    for (const { entries } of gone) this.#held -= entries
    if (batches !== undefined) return
    this.#held -= this.#singles.size
    this.#singles.clear()
  }

  /** A log holds the last batch. */
  releaseLast(): void {
    this.#held -= this.#batches.pop()!.entries
  }

  /** The last batch cannot be written down: its URLs were refused. */
  refuseLast(takesHashes: boolean): void {
    const { names, entries } = this.#batches.pop()!
    this.#held -= entries
    this.changes++
    for (const name of entriesOf(names, takesHashes)) this.#refused.add(name)
  }

  /** Those of the batch's n entries that are held have verdict 1 then, the others 0. Returns how many are. */
  find(state: SieveState, n: number, isLoggedAsHashes: boolean): number {
    for (const { names, logged } of this.#batches.splice(0)) {
      const records = entriesOf(logged, isLoggedAsHashes)
      for (const name of entriesOf(names, state.takesHashes)) {
        // A filter that forgets may have answered "new" twice.
        if (this.#singles.has(name)) this.#held--
        this.#singles.set(name, records.next().value!)
      }
    }
    const { verdicts } = state.kernel
    const met = new Set<string>()
    for (let i = 0; i < n; i++) {
      const name = nameOf(state, i)
      verdicts[i] = Number(this.#singles.has(name) && !met.has(name))
      met.add(name)
    }
    return met.size === 0 ? 0 : verdicts.subarray(0, n).reduce((sum, verdict) => sum + verdict, 0)
  }

  /** A log holds the entries of the batch that `find` has found. */
  releaseFound(state: SieveState, n: number): void {
    for (const name of named(state, 0, n, 1)) if (this.#singles.delete(name)) this.#held--
  }

  /** What a log must begin with. */
  record(takesHashes: boolean): { op: LogRecord['op']; entries: number; payload: Buffer } {
    const parts = this.#batches.map(({ names }) => names)
    for (const names of [this.#singles.keys(), this.#refused]) parts.push(joined(names, takesHashes))
    const op = takesHashes ? OP.unloggedHashes : OP.unloggedKeys
    return { op, entries: this.size, payload: Buffer.concat(parts) }
  }

  /** Reads a log's record of URLs that no log held. */
  read({ op, payload }: LogRecord): void {
    for (const name of entriesOf(payload, op === OP.unloggedHashes)) this.#refused.add(name)
  }
}

/** Entries as the payload of a record. */
function joined(entries: Iterable<string>, isHashes: boolean): Buffer {
  const parts: Buffer[] = []
  for (const entry of entries) {
    const bytes = Buffer.from(entry, 'latin1')
    if (!isHashes) parts.push(lengthOf(bytes))
    parts.push(bytes)
  }
  return Buffer.concat(parts)
}

function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return length
}

/** The entries of a payload, one character per byte. */
function* entriesOf(payload: Uint8Array, isHashes: boolean): Generator<string, void> {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length)
  for (let at = 0; at < bytes.length; ) {
    const from = isHashes ? at : at + 4
    const end = isHashes ? at + 8 : from + bytes.readUInt32LE(at)
    yield bytes.toString('latin1', from, end)
    at = end
  }
}

function nameOf({ kernel, takesHashes }: SieveState, i: number): string {
  const { hashes } = kernel
  const bytes = takesHashes
    ? Buffer.from(hashes.buffer, hashes.byteOffset + 8 * i, 8)
    : Buffer.from(kernel.bytes.subarray(kernel.keyStarts[i], kernel.keyEnds[i]))
  return bytes.toString('latin1')
}

function* named(state: SieveState, from: number, n: number, wanted?: number): Generator<string> {
  const { verdicts } = state.kernel
  for (let i = from; i < n; i++) if (wanted === undefined || verdicts[i] === wanted) yield nameOf(state, i)
}
