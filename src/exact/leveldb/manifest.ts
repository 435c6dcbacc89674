// LevelDB's manifest: a log of version edits (db/version_edit.cc of LevelDB) that name the files holding the keys.
import { join } from 'node:path'
import { KiB, MiB, readWhole } from '../../store/whole-file.ts'
import { checkSequence, recordsOf } from './log.ts'
import { readVarint } from './varint.ts'

/** Behind each key in a table: sequence number and kind. */
const TRAILER_BYTES = 8

/** A table as the manifest names it. */
export interface LiveTable {
  readonly level: number
  readonly number: number
  /** Its first and last key, with their trailers. */
  readonly smallest: Buffer
  readonly largest: Buffer
}

/** The files that a folder needs to be complete. */
export interface LiveFiles {
  /** By level and number. */
  readonly tables: Map<string, LiveTable>
  /** The first log that is not in a table; 0 before the first one. */
  log: number
}

const MOST_BYTES = 256 * MiB

export const noFiles = (): LiveFiles => ({ tables: new Map(), log: 0 })

// The order of LevelDB's keys: of one user key the latest comes first.
function compareKeys(a: Buffer, b: Buffer): number {
  const [endA, endB] = [a.length - TRAILER_BYTES, b.length - TRAILER_BYTES]
  return (
    Buffer.compare(a.subarray(0, endA), b.subarray(0, endB)) ||
    Number(b.readBigUInt64LE(endB) - a.readBigUInt64LE(endA))
  )
}

/** What LevelDB asserts of tables: in each level but 0 they follow each other. Throws a RangeError. */
export function checkOrder({ tables }: LiveFiles): void {
  const sorted = [...tables.values()]
    .filter(({ level }) => level > 0)
    .sort((a, b) => a.level - b.level || compareKeys(a.smallest, b.smallest))
  for (const [i, { level, number, smallest, largest }] of sorted.entries()) {
    const before = sorted[i - 1]
    const isBehind = before?.level !== level || compareKeys(before.largest, smallest) < 0
    if (!isBehind || compareKeys(smallest, largest) > 0) {
      throw new RangeError(`table ${number} of level ${level} overlaps another`)
    }
  }
}

/**
 * The files that the manifest names; null when it cannot be read. LevelDB removes all other tables: they were being
 * written or deleted when the process was killed.
 */
export function readLiveFiles(folder: string): LiveFiles | null {
  try {
    const manifest = readWhole(
      join(folder, readWhole(join(folder, 'CURRENT'), KiB).toString().trim()),
      MOST_BYTES,
    )
    const live = noFiles()
    for (const { payload } of recordsOf(manifest)) applyEdit(payload, live)
    return live
  } catch {
    return null
  }
}

/** Applies one record of a manifest. Throws a RangeError when it is not a version edit. */
export function applyEdit(edit: Buffer, live: LiveFiles): void {
  let at = 0
  const next = () => {
    let value: number
    ;[value, at] = readVarint(edit, at)
    return value
  }
  const text = () => {
    const size = next()
    at += size
    if (at > edit.length) throw new RangeError('a version edit that ends in a text')
    return edit.subarray(at - size, at)
  }
  const key = () => {
    const bytes = text()
    if (bytes.length < TRAILER_BYTES)
      throw new RangeError(`a version edit with a key of ${bytes.length} bytes`)
    return bytes
  }
  while (at < edit.length) {
    const tag = next()
    if (tag === 1) {
      text() // the comparator
    } else if (tag === 2) {
      live.log = next()
    } else if (tag === 3 || tag === 9) {
      next() // next file number, previous log
    } else if (tag === 4) {
      checkSequence(next())
    } else if (tag === 5) {
      next()
      key() // compaction pointer
    } else if (tag === 6) {
      const level = next()
      live.tables.delete(`${level} ${next()}`)
    } else if (tag === 7) {
      const level = next()
      const number = next()
      next() // its size
      live.tables.set(`${level} ${number}`, { level, number, smallest: key(), largest: key() })
    } else {
      throw new RangeError(`a version edit with unknown tag ${tag}`)
    }
  }
}
