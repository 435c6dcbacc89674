// From a log's record back to the sieve: what was added and deleted, again, in the same order.
import { SieveError } from '../errors.ts'
import type { SieveState } from '../state.ts'
import { type LogRecord, OP } from './log.ts'
import type { Unlogged } from './unlogged.ts'

/** What is wrong with a record in the log of this sieve, in words; null: it fits. */
export function unfit({ kind, takesHashes }: SieveState, { op }: LogRecord): string | null {
  const isDelete = op === OP.deleteHashes || op === OP.deleteKeys
  const isHashes = op === OP.addHashes || op === OP.deleteHashes || op === OP.unloggedHashes
  if (isHashes && !takesHashes) return `a record of hashes, and filter '${kind.name}' takes keys`
  if (isDelete && !kind.can.delete) return `a record that deletes, and filter '${kind.name}' cannot`
  return null
}

/** Does to a sieve what a record says: entries into the kernel's batch, then add or delete. Idempotent. */
export function replay(state: SieveState, record: LogRecord, unlogged?: Unlogged): void {
  const { kernel } = state
  const { op, payload } = record
  if (op === OP.unloggedHashes || op === OP.unloggedKeys) {
    unlogged?.read(record)
    return
  }
  for (const { filter } of state.shards.all) filter.setClock?.(record.time)
  const isDelete = op === OP.deleteHashes || op === OP.deleteKeys
  const act = (n: number) => {
    unlogged?.drop(state, 0, n)
    if (isDelete) state.shards.delete(n)
    else state.shards.addAll(n)
    state.kernel.refresh()
  }
  if (op === OP.addHashes || op === OP.deleteHashes) {
    const copy = payload.buffer.slice(payload.byteOffset, payload.byteOffset + payload.length)
    const hashes = new BigUint64Array(copy as ArrayBuffer)
    for (let at = 0; at < hashes.length; at += kernel.batchLines) {
      const some = hashes.subarray(at, at + kernel.batchLines)
      kernel.hashes.set(some)
      act(some.length)
    }
  } else {
    for (let at = 0; at < payload.length; ) at = takeKeys(state, payload, at, act)
  }
  // A forged log deletes what is not there.
  state.urls = Math.max(0, state.urls + (isDelete ? -record.entries : record.entries))
}

/** Takes what no log has out of a filter that forgets one hash exactly: copies of it then know nothing of that either. */
export function forgetUnlogged(state: SieveState, unlogged: Unlogged): void {
  const isExact = state.takesHashes && state.shards.all.every(({ filter }) => filter.hashes)
  if (unlogged.size === 0 || !isExact || !state.kind.can.delete) return
  const { urls } = state
  replay(state, { ...unlogged.record(true), op: OP.deleteHashes, time: 0, at: 0 })
  state.urls = urls
  unlogged.clear()
}

// Puts a batch of keys from `at` on into the kernel, acts on them, and returns where the next begin.
function takeKeys(state: SieveState, payload: Buffer, at: number, act: (n: number) => void): number {
  const { kernel } = state
  const text = kernel.call.reserveSpill(payload.length) >>> 0
  kernel.refresh()
  if (text === 0) throw new SieveError('memory', `no memory left for ${payload.length} bytes of keys`)
  kernel.bytes.set(payload, text)
  let n = 0
  while (n < kernel.batchLines && at < payload.length) {
    const end = at + 4 + payload.readUInt32LE(at)
    kernel.keyStarts[n] = text + at + 4
    kernel.keyEnds[n] = text + end
    n++
    at = end
  }
  state.keyer.hashKeys(n)
  act(n)
  return at
}
