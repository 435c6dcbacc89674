// The keys of a store that keeps them: from its key segments and the logs after them, without those deleted since.
import { closeSync, existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { option, SieveError, wording } from '../errors.ts'
import type { Sieve } from '../sieve.ts'
import { STATE } from '../state.ts'
import { openFile } from './file.ts'
import { keySegmentPath, listKeySegments, readKeySegment } from './key-segments.ts'
import { listStore, logName, snapshotName } from './layout.ts'
import { OP, readLog } from './log.ts'
import { readHeader } from './snapshot.ts'

interface Entry {
  readonly key: Buffer
  readonly isDelete: boolean
}

function* entriesOfLog(path: string): Generator<Entry> {
  const entries: Entry[] = []
  readLog(path, ({ op, payload }) => {
    if (op !== OP.addKeys && op !== OP.deleteKeys) return
    for (let at = 0; at < payload.length; ) {
      const end = at + 4 + payload.readUInt32LE(at)
      entries.push({ key: payload.subarray(at + 4, end), isDelete: op === OP.deleteKeys })
      at = end
    }
  })
  yield* entries
}

// Every entry there ever was, in order: of each number the segment, or the log when that was not folded yet.
function* entries(folder: string): Generator<Entry> {
  const { snapshots, logs } = listStore(folder)
  const from = keysFrom(join(folder, snapshotName(snapshots.at(-1)!)))
  const segments = listKeySegments(folder).map((path) => Number(/(\d{8})/.exec(basename(path))![1]))
  const numbers = [...new Set([...segments, ...logs])].sort((a, b) => a - b)
  for (const number of numbers) {
    if (number < from) continue
    const segment = keySegmentPath(folder, number)
    const log = join(folder, logName(number))
    // A log that a writer has just folded is a segment by now.
    if (existsSync(segment) || !existsSync(log)) yield* readKeySegment(segment)
    else yield* entriesOfLog(log)
  }
}

// Where the keys begin that were not cleared.
function keysFrom(snapshot: string): number {
  const fd = openFile(snapshot)
  try {
    return readHeader(snapshot, fd).header.keysFrom ?? 0
  } finally {
    closeSync(fd)
  }
}

/** Every key that is remembered, each once, in the order in which they came. */
export function* storedKeys(folder: string): Generator<Buffer> {
  const lastDelete = new Map<string, number>()
  let index = 0
  for (const { key, isDelete } of entries(folder)) {
    if (isDelete) lastDelete.set(key.toString('latin1'), index)
    index++
  }
  index = 0
  for (const { key, isDelete } of entries(folder)) {
    const isGone = lastDelete.size > 0 && (lastDelete.get(key.toString('latin1')) ?? -1) > index
    if (!isDelete && !isGone) yield key
    index++
  }
}

/** Refuses, in one line, a sieve that has no keys to give. */
export function checkKeepsKeys(folder: string, sieve: Sieve): void {
  if (sieve.stats().store?.keepKeys || sieve[STATE].keepsKeys) return
  throw new SieveError(
    'option',
    wording`${folder} keeps no keys, only what its filter needs: create it with ${option('keepKeys')}`,
    { option: 'keepKeys', expected: 'a folder created with keepKeys' },
  )
}
