// Checks every checksum and count of a stored sieve, and repairs a store by keeping what can be kept.
import { closeSync, existsSync, fstatSync, readdirSync, renameSync, statSync, unlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { SieveError } from '../errors.ts'
import { makeSieve, type Sieve } from '../sieve.ts'
import { STATE } from '../state.ts'
import { readFully } from './file.ts'
import { openStore } from './folder.ts'
import { CHUNK_HEADER_BYTES, type Chunk, checkPayload, decodeChunk } from './format.ts'
import { asDamage, checkEnd, parseJson } from './header-check.ts'
import { keySegmentPath, listKeySegments, readKeySegment, writeKeySegment } from './key-segments.ts'
import { listStore, logName, snapshotName } from './layout.ts'
import { takeLock } from './lock.ts'
import { type LogRecord, readLog, salvageLog } from './log.ts'
import { replay, unfit } from './replay.ts'
import {
  openFile,
  readHeader,
  readSieve,
  type SieveCounts,
  type SieveHeader,
  savedOf,
  writeSieve,
} from './snapshot.ts'

export interface FileReport {
  readonly file: string
  readonly bytes: number
  /** Chunks of a snapshot, records of a log. */
  readonly parts: number
  readonly urls: number | null
  /** What is wrong, one line each; none: all is well. */
  readonly damage: readonly string[]
}

interface Walk {
  readonly header: SieveHeader
  /** Null when the end is missing. */
  readonly counts: SieveCounts | null
  readonly chunks: number
  readonly damage: string[]
}

// Reads a .sieve file to its end, or as far as it can be followed; each whole chunk goes to `take`.
function walk(path: string, take: (chunk: Chunk, payload: Buffer) => void): Walk {
  const fd = openFile(path)
  try {
    const { header, bytes } = readHeader(path, fd)
    const damage: string[] = []
    const head = Buffer.alloc(CHUNK_HEADER_BYTES)
    const fileBytes = fstatSync(fd).size
    let at = bytes
    for (let chunks = 0; ; chunks++) {
      try {
        const chunk = decodeChunk(path, head.subarray(0, readFully(fd, head, at)), at, fileBytes)
        at += CHUNK_HEADER_BYTES
        const payload = Buffer.alloc(chunk.length)
        const got = payload.subarray(0, readFully(fd, payload, at))
        at += chunk.length
        try {
          checkPayload(path, chunk, got, at - chunk.length)
        } catch (error) {
          damage.push((error as Error).message)
          continue
        }
        if (!chunk.isEnd) {
          take(chunk, payload)
          continue
        }
        const json = parseJson(path, at - chunk.length, payload.toString())
        const counts = checkEnd(path, json, header.shards.length, at - chunk.length)
        if (counts.chunks !== chunks) damage.push(`${chunks} chunks, expected ${counts.chunks}`)
        return { header, counts, chunks, damage }
      } catch (error) {
        if (!(error instanceof SieveError)) throw error
        damage.push(error.message)
        return { header, counts: null, chunks, damage }
      }
    }
  } finally {
    closeSync(fd)
  }
}

// With `isRead` it is read as a sieve, too.
async function verifySnapshot(path: string, isRead: boolean): Promise<FileReport> {
  const file = basename(path)
  const bytes = statSync(path).size
  try {
    const { counts, chunks, damage } = walk(path, () => {})
    if (isRead && damage.length === 0) await readSieve(path)
    return { file, bytes, parts: chunks, urls: counts?.urls ?? null, damage }
  } catch (error) {
    if (!(error instanceof SieveError) || error.code === 'room') throw error
    return { file, bytes, parts: 0, urls: null, damage: [error.message] }
  }
}

function verifyLog(path: string): FileReport {
  const file = basename(path)
  const bytes = statSync(path).size
  let urls = 0
  let parts = 0
  const take = ({ entries }: LogRecord) => {
    urls += entries
    parts++
  }
  try {
    readLog(path, take)
    return { file, bytes, parts, urls, damage: [] }
  } catch (error) {
    if (!(error instanceof SieveError)) throw error
    return { file, bytes, parts, urls, damage: [error.message] }
  }
}

function verifySegment(path: string): FileReport {
  const file = basename(path)
  const bytes = statSync(path).size
  try {
    let urls = 0
    for (const _ of readKeySegment(path)) urls++
    return { file, bytes, parts: 1, urls, damage: [] }
  } catch (error) {
    if (!(error instanceof SieveError)) throw error
    return { file, bytes, parts: 1, urls: null, damage: [error.message] }
  }
}

/** Every file of a stored sieve, checked: by its checksums, and by all that opening it checks. */
export async function verifySieve(path: string): Promise<FileReport[]> {
  if (!existsSync(path)) throw new SieveError('disk', `cannot read ${path}: no such file or folder`)
  if (!statSync(path).isDirectory()) return [await verifySnapshot(path, true)]
  const { snapshots, logs } = listStore(path)
  if (snapshots.length === 0) throw new SieveError('corrupt', `${path} holds no sieve: there is no snapshot`)
  const reports: FileReport[] = []
  for (const n of snapshots) {
    // The newest is read below, when the store is opened.
    reports.push(await verifySnapshot(join(path, snapshotName(n)), n !== snapshots.at(-1)))
  }
  for (const n of logs) reports.push(verifyLog(join(path, logName(n))))
  reports.push(...listKeySegments(path).map(verifySegment))
  if (reports.some(({ damage }) => damage.length > 0)) return reports
  const trouble = await troubleOpening(path)
  if (trouble === null) return reports
  const culprit = reports.findLast(({ file }) => trouble.includes(join(path, file))) ?? reports[0]!
  return reports.map((report) => (report === culprit ? { ...report, damage: [trouble] } : report))
}

// Why a store whose files are whole cannot be opened all the same; null when it can.
async function troubleOpening(folder: string): Promise<string | null> {
  try {
    await openStore(folder, { readOnly: true })
    return null
  } catch (error) {
    if (!(error instanceof SieveError) || error.code === 'room') throw error
    return error.message
  }
}

// A sieve of what can still be read of a snapshot.
async function salvage(path: string): Promise<{ sieve: Sieve; header: SieveHeader }> {
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
      const room = shard.filter.place(chunk.array, chunk.offset, chunk.length)
      room.set(payload)
      shard.filter.placed?.(chunk.array, chunk.offset, room)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error // else: it cannot be, and is left out
    }
  }
  for (const [i, shard] of state.shards.all.entries()) {
    asDamage(path, 0, () => shard.filter.restored(counts?.counts[i] ?? [], false))
    shard.kernel.refresh()
  }
  state.urls = counts?.urls ?? 0
  return { sieve, header }
}

/**
 * Makes a store whole again: what its snapshot and logs still say goes into a new snapshot. Errs towards "new": URLs
 * of damaged chunks and records are forgotten. Damaged files are kept beside, with `.damaged` behind their names.
 */
export async function repairStore(folder: string): Promise<FileReport[]> {
  const before = await verifySieve(folder)
  if (!statSync(folder).isDirectory()) {
    throw new SieveError('option', `${folder} is a file: only the folder of a store can be repaired`)
  }
  const release = takeLock(join(folder, 'lock'))
  try {
    if (before.every(({ damage }) => damage.length === 0)) return before
    const { snapshots, logs } = listStore(folder)
    // The newest snapshot whose header can be read; then every log, older ones too: adding again changes nothing.
    let found: Awaited<ReturnType<typeof salvage>> | undefined
    for (const n of snapshots.toReversed()) {
      try {
        found = await salvage(join(folder, snapshotName(n)))
        break
      } catch (error) {
        if (!(error instanceof SieveError)) throw error
      }
    }
    if (!found)
      throw new SieveError('corrupt', `${folder} cannot be repaired: no snapshot has a readable header`)
    const { sieve, header } = found
    const state = sieve[STATE]
    for (const n of logs) {
      salvageLog(join(folder, logName(n)), (record) => {
        if (!unfit(state, record)) replay(state, record)
      })
    }
    const next = Math.max(...snapshots, ...logs) + 1
    if (header.keepKeys) {
      const cleared = header.keysFrom ?? 0
      for (const n of logs)
        if (n >= cleared) writeKeySegment(keySegmentPath(folder, n), join(folder, logName(n)), salvageLog)
    }
    await writeSieve(join(folder, snapshotName(next)), state, header)
    const damaged = new Set(before.filter(({ damage }) => damage.length > 0).map(({ file }) => file))
    for (const name of readdirSync(folder)) {
      if (!/^(snapshot|log)-/.test(name) || name === snapshotName(next)) continue
      if (damaged.has(name)) renameSync(join(folder, name), join(folder, `${name}.damaged`))
      else unlinkSync(join(folder, name))
    }
    return before
  } finally {
    release()
  }
}
