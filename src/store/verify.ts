// Checks every checksum and count of a stored sieve, and that no file is missing: whatever opening it would refuse.
import { closeSync, existsSync, fstatSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { SieveError, unreadable } from '../errors.ts'
import { COUNTS, checkCounts } from './counts.ts'
import { openFile, readFully } from './file.ts'
import { openStore } from './folder.ts'
import {
  CHUNK_HEADER_BYTES,
  type Chunk,
  checkPayload,
  damaged,
  decodeChunk,
  missingError,
  TORN,
} from './format.ts'
import { checkEnd, parseJson } from './header-check.ts'
import { listKeySegments, readKeySegment } from './key-segments.ts'
import { listStore, logName, missingFiles, snapshotName } from './layout.ts'
import { type LogRecord, readLog } from './log.ts'
import { readHeader, readSieve, type SieveCounts, type SieveHeader } from './snapshot.ts'

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
export function walk(path: string, take: (chunk: Chunk, payload: Buffer) => void): Walk {
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
    if (!(error instanceof SieveError) || error.code === 'memory') throw error
    return { file, bytes, parts: 0, urls: null, damage: [error.message] }
  }
}

// `isLast`: no log goes on from it; then a last record that was cut short was never acknowledged.
function verifyLog(path: string, isLast: boolean): FileReport {
  const file = basename(path)
  const bytes = statSync(path).size
  let urls = 0
  let parts = 0
  const take = ({ entries }: LogRecord) => {
    urls += entries
    parts++
  }
  try {
    const end = readLog(path, take)
    const isTorn = end.tornBytes > 0 && !isLast
    const damage = isTorn ? [damaged(path, end.bytes, TORN).message] : []
    return { file, bytes, parts, urls, damage }
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
  if (!existsSync(path)) throw unreadable(path, 'no such file or folder')
  if (!statSync(path).isDirectory()) return [await verifySnapshot(path, true)]
  const { snapshots, logs } = listStore(path)
  const missing = missingFiles(path, hasLog(path, snapshots.at(-1)))
  if (snapshots.length === 0 && missing.length === 0) {
    throw new SieveError('corrupt', `${path} holds no sieve: there is no snapshot`)
  }
  const reports: FileReport[] = []
  for (const n of snapshots) {
    // The newest is read below, when the store is opened.
    reports.push(await verifySnapshot(join(path, snapshotName(n)), n !== snapshots.at(-1)))
  }
  for (const n of logs) reports.push(verifyLog(join(path, logName(n)), n === logs.at(-1)))
  reports.push(...listKeySegments(path).map(verifySegment), ...verifyCounts(path))
  for (const { file, why } of missing) {
    const damage = [missingError(path, { file, why }).message]
    reports.push({ file, bytes: 0, parts: 0, urls: null, damage })
  }
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
    if (!(error instanceof SieveError) || error.code === 'memory') throw error
    return error.message
  }
}

// What the newest snapshot says; a damaged one says nothing, and is reported as such.
function hasLog(folder: string, snapshot: number | undefined): boolean {
  if (snapshot === undefined) return false
  const path = join(folder, snapshotName(snapshot))
  const fd = openFile(path)
  try {
    return readHeader(path, fd).header.hasLog ?? false
  } catch {
    return false
  } finally {
    closeSync(fd)
  }
}

function verifyCounts(folder: string): FileReport[] {
  const path = join(folder, COUNTS)
  if (!existsSync(path)) return []
  const report = { file: COUNTS, bytes: statSync(path).size, parts: 1, urls: null }
  try {
    checkCounts(folder)
    return [{ ...report, damage: [] }]
  } catch (error) {
    return [{ ...report, damage: [(error as Error).message] }]
  }
}
