// Makes a damaged store whole again, by keeping what can be kept.
import { existsSync, readdirSync, renameSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { SieveError } from '../errors.ts'
import { makeSieve, type Sieve } from '../sieve.ts'
import { STATE } from '../state.ts'
import { readCounts } from './counts.ts'
import type { Chunk } from './format.ts'
import { asDamage } from './header-check.ts'
import { keySegmentPath, writeKeySegment } from './key-segments.ts'
import { listStore, logName, snapshotName } from './layout.ts'
import { takeLock } from './lock.ts'
import { encodeRecord, Log, salvageLog } from './log.ts'
import { replay, unfit } from './replay.ts'
import { type SieveHeader, savedOf, writeSieve } from './snapshot.ts'
import { Unlogged } from './unlogged.ts'
import { type FileReport, verifySieve, walk } from './verify.ts'

interface Salvaged {
  readonly sieve: Sieve
  readonly header: SieveHeader
  /** Of the snapshot. */
  readonly number: number
}

// A sieve of what can still be read of a snapshot.
async function salvage(path: string, number: number): Promise<Salvaged> {
  const pieces: { chunk: Chunk; payload: Buffer }[] = []
  const { header, counts } = walk(path, (chunk, payload) => pieces.push({ chunk, payload }))
  const sieve = await makeSieve({}, savedOf(header))
  const state = sieve[STATE]
  for (const { chunk, payload } of pieces) {
    const shard = state.shards.all[chunk.shard]
    if (!shard) continue
    try {
      if (chunk.zeros > 0) {
        shard.filter.placeZeros?.(chunk.array, chunk.offset, chunk.zeros)
        continue
      }
      const target = shard.filter.place(chunk.array, chunk.offset, chunk.length)
      target.set(payload)
      shard.filter.placed?.(chunk.array, chunk.offset, target)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error // else: it cannot be, and is left out
    }
  }
  for (const [i, shard] of state.shards.all.entries()) {
    asDamage(path, 0, () => shard.filter.restored(counts?.counts[i] ?? [], false))
    shard.kernel.refresh()
  }
  state.urls = counts?.urls ?? 0
  state.seen = counts?.seen ?? 0
  state.invalid = counts?.invalid ?? 0
  return { sieve, header, number }
}

// The newest snapshot whose header can be read.
async function salvageNewest(folder: string, snapshots: readonly number[]): Promise<Salvaged> {
  for (const n of snapshots.toReversed()) {
    try {
      return await salvage(join(folder, snapshotName(n)), n)
    } catch (error) {
      if (!(error instanceof SieveError)) throw error
    }
  }
  throw new SieveError(
    'corrupt',
    `${folder} cannot be repaired: no snapshot has a readable header, and without its parameters and secret key the logs ` +
      'mean nothing; restore a snapshot from a copy, or begin with another folder',
  )
}

/**
 * Makes a store whole again: what its snapshot and logs still say goes into a new snapshot. Errs towards "new": URLs
 * of damaged chunks and records, and of missing logs, are forgotten. Damaged files are kept beside, with `.damaged` behind
 * their names. Returns what was wrong.
 */
export async function repairStore(folder: string): Promise<FileReport[]> {
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new SieveError('option', `${folder} is a file: only the folder of a store can be repaired`)
  }
  await verifySieve(folder) // throws when there is no store
  const release = takeLock(join(folder, 'lock'))
  try {
    const before = await verifySieve(folder)
    if (before.every(({ damage }) => damage.length === 0)) return before
    const { snapshots, logs } = listStore(folder)
    const { sieve, header, number } = await salvageNewest(folder, snapshots)
    const state = sieve[STATE]
    const unlogged = new Unlogged()
    // Every log, older ones too: adding again changes nothing, and a snapshot counts what was before it.
    for (const n of logs) {
      const { urls } = state
      salvageLog(join(folder, logName(n)), (record) => {
        if (!unfit(state, record)) replay(state, record, unlogged)
      })
      if (n < number) state.urls = urls
    }
    restoreCounts(folder, sieve, number)
    const next = Math.max(...snapshots, ...logs) + 1
    if (header.keepKeys) {
      const cleared = header.keysFrom ?? 0
      for (const n of logs)
        if (n >= cleared) writeKeySegment(keySegmentPath(folder, n), join(folder, logName(n)), salvageLog)
    }
    const log = new Log(join(folder, logName(next)))
    if (unlogged.size > 0) {
      const { op, entries, payload } = unlogged.record(state.takesHashes)
      log.append(encodeRecord(op, entries, payload))
    }
    log.sync()
    log.close()
    await writeSieve(join(folder, snapshotName(next)), state, { ...header, hasLog: true })
    const damaged = new Set(before.filter(({ damage }) => damage.length > 0).map(({ file }) => file))
    for (const name of readdirSync(folder)) {
      if (name === snapshotName(next) || name === logName(next)) continue
      if (damaged.has(name)) renameSync(join(folder, name), join(folder, `${name}.damaged`))
      else if (/^(snapshot|log)-/.test(name) && !name.endsWith('.damaged')) unlinkSync(join(folder, name))
    }
    return before
  } finally {
    release()
  }
}

function restoreCounts(folder: string, sieve: Sieve, number: number): void {
  try {
    const counts = readCounts(folder)
    if (!counts || counts.log < number) return
    sieve[STATE].seen = counts.seen
    sieve[STATE].invalid = counts.invalid
  } catch (error) {
    if (!(error instanceof SieveError)) throw error // damaged: those of the snapshot stand
  }
}
