// LevelDB's manifest: a log of version edits (db/version_edit.cc of LevelDB) that name the files holding the keys.
import { join } from 'node:path'
import { KiB, MiB, readWhole } from '../../store/whole-file.ts'
import { recordsOf } from './log.ts'
import { readVarint } from './varint.ts'

/** The numbers of the files that a folder needs to be complete. */
export interface LiveFiles {
  readonly tables: Set<number>
  /** The first log that is not in a table; 0 before the first one. */
  log: number
}

const MOST_BYTES = 256 * MiB

export const noFiles = (): LiveFiles => ({ tables: new Set(), log: 0 })

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
  const skipText = () => {
    const size = next()
    at += size
  }
  while (at < edit.length) {
    const tag = next()
    if (tag === 1) {
      skipText() // the comparator
    } else if (tag === 2) {
      live.log = next()
    } else if (tag === 3 || tag === 4 || tag === 9) {
      next() // next file number, last sequence number, previous log
    } else if (tag === 5) {
      next()
      skipText() // compaction pointer
    } else if (tag === 6) {
      next()
      live.tables.delete(next())
    } else if (tag === 7) {
      next()
      live.tables.add(next())
      next()
      skipText()
      skipText()
    } else {
      throw new RangeError(`a version edit with unknown tag ${tag}`)
    }
  }
}
