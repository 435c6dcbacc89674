// URLs that the disk refused: marked in the filter, which cannot unlearn them, but never acknowledged. They are answered
// "new" until a log holds them. A snapshot made meanwhile has them in its filter, so its log begins with them.
import type { SieveState } from '../state.ts'
import { type LogRecord, OP } from './log.ts'

export class Unlogged {
  /** Hashes as 8 bytes, or keys: one character a byte. */
  readonly #names = new Set<string>()
  /** How often something was refused: a log written at another count does not name all of them. */
  refusals = 0

  get size(): number {
    return this.#names.size
  }

  clear(): void {
    this.#names.clear()
  }

  /** Entries [from, n) of the batch whose verdict is `wanted` were refused. */
  add(state: SieveState, from: number, n: number, wanted: number): void {
    this.refusals++
    for (const name of named(state, from, n, wanted)) this.#names.add(name)
  }

  /** Entries [from, n) of the batch whose verdict is `wanted` are in a log now. */
  drop(state: SieveState, from: number, n: number, wanted?: number): void {
    if (this.#names.size > 0) for (const name of named(state, from, n, wanted)) this.#names.delete(name)
  }

  /** The filter answers "seen" for what was refused before: it is new, once per batch. */
  amend(state: SieveState, from: number, n: number): void {
    if (this.#names.size === 0) return
    const { verdicts } = state.kernel
    const met = new Set<string>()
    for (let i = from; i < n; i++) {
      const name = nameOf(state, i)
      if (verdicts[i] === 0 && this.#names.has(name) && !met.has(name)) verdicts[i] = 1
      met.add(name)
    }
  }

  /** What a log must begin with. */
  record(takesHashes: boolean): { op: LogRecord['op']; entries: number; payload: Buffer } {
    const parts: Buffer[] = []
    for (const name of this.#names) {
      const bytes = Buffer.from(name, 'latin1')
      if (!takesHashes) parts.push(lengthOf(bytes))
      parts.push(bytes)
    }
    const op = takesHashes ? OP.unloggedHashes : OP.unloggedKeys
    return { op, entries: this.#names.size, payload: Buffer.concat(parts) }
  }

  /** Reads a log's record of refused URLs. */
  read({ op, payload }: LogRecord): void {
    const isHashes = op === OP.unloggedHashes
    for (let at = 0; at < payload.length; ) {
      const from = isHashes ? at : at + 4
      const end = isHashes ? at + 8 : from + payload.readUInt32LE(at)
      this.#names.add(payload.toString('latin1', from, end))
      at = end
    }
  }
}

function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return length
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
