// The kernel's batch as a store needs it: as a record of the log, and into the filter again.
import { SieveError } from '../errors.ts'
import type { SieveState } from '../state.ts'
import { encodeRecord, type LogRecord, OP } from './log.ts'

/** A record of the entries [from, n) with that verdict, and how many they are. */
export function recordOf(
  { kernel }: SieveState,
  from: number,
  n: number,
  wanted: number,
  op: LogRecord['op'],
): { bytes: Buffer; entries: number } {
  const { call } = kernel
  const isKeys = op === OP.addKeys || op === OP.deleteKeys
  const most = isKeys ? call.writtenKeyBytes(from, n, wanted) >>> 0 : (n - from + 1) * 8
  const to = call.reserveOutput(most) >>> 0
  kernel.refresh()
  if (to === 0 && most > 0) throw new SieveError('memory', `no memory left for ${most} bytes of log`)
  const entries = isKeys ? call.writtenKeys(from, n, wanted, to) : call.writtenHashes(from, n, wanted, to)
  const bytes = encodeRecord(op, entries, kernel.bytes.subarray(to, to + (isKeys ? most : entries * 8)))
  return { bytes, entries }
}

/** Adds what was deleted, those of the n entries with verdict 0, again. */
export function putBack(state: SieveState, n: number): void {
  const { kernel, shards } = state
  const { hashes, keyStarts, keyEnds, verdicts } = kernel
  let count = 0
  for (let i = 0; i < n; i++) {
    if (verdicts[i] !== 0) continue
    hashes[count] = hashes[i]!
    keyStarts[count] = keyStarts[i]!
    keyEnds[count] = keyEnds[i]!
    count++
  }
  shards.addAll(count)
  kernel.refresh()
  state.urls += count
}
