// The files of a frontier on disk: records in the format of a store's log (docs/format.md). The first record is a header;
// then `addKeys` records hold texts, `deleteHashes` records the places of those that are finished. An entry's place is
// its offset over all files, counted from the first one ever written.
import { readdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { SieveError } from '../errors.ts'
import { damaged } from '../store/format.ts'
import { encodeRecord, OP, RECORD_HEADER_BYTES, readLog } from '../store/log.ts'
import type { Contents, Entry } from './frontier-store.ts'

const VERSION = 1
const FILE = /^frontier-\d{15}$/
const DRAFT = /^frontier-\d{15}\.draft-/

export interface FrontierFile {
  readonly path: string
  /** The place of its first byte. */
  readonly base: number
  bytes: number
}

/** The first record of each file, as JSON. */
interface Header {
  readonly urlsieve: 'frontier'
  readonly version: number
  /** The place of the file's first byte. */
  readonly base: number
  /** Entries handled before the file was started. */
  readonly handled: number
}

export const fileName = (base: number) => `frontier-${String(base).padStart(15, '0')}`

export function encodeHeader(base: number, handled: number): Buffer {
  const header: Header = { urlsieve: 'frontier', version: VERSION, base, handled }
  return encodeRecord(OP.addKeys, 1, encodeTexts([JSON.stringify(header)]).payload)
}

/** The payload of a record of texts: for each a u32 length, then its bytes. */
export function encodeTexts(texts: readonly string[]): { payload: Buffer; offsets: number[] } {
  const offsets: number[] = []
  let size = 0
  for (const text of texts) {
    offsets.push(size)
    size += 4 + Buffer.byteLength(text)
  }
  const payload = Buffer.allocUnsafe(size)
  for (const [i, text] of texts.entries()) {
    const length = payload.write(text, offsets[i]! + 4)
    payload.writeUInt32LE(length, offsets[i]!)
  }
  return { payload, offsets }
}

/** The texts of such a payload; `from` is its place. */
export function readTexts(payload: Buffer, from: number): Entry[] {
  const entries: Entry[] = []
  for (let at = 0; at < payload.length; ) {
    const end = at + 4 + payload.readUInt32LE(at)
    entries.push({ place: from + at, text: payload.toString('utf8', at + 4, end) })
    at = end
  }
  return entries
}

/** The files of a folder in order, after removing unfinished ones. Throws when one, or the end of one, is missing. */
export function openFiles(folder: string): FrontierFile[] {
  const names = readdirSync(folder)
  for (const name of names) if (DRAFT.test(name)) unlinkSync(join(folder, name))
  const files = names
    .filter((name) => FILE.test(name))
    .sort()
    .map((name) => ({ path: join(folder, name), base: Number(name.slice(9)), bytes: 0 }))
  for (const file of files) file.bytes = readLog(file.path, () => {}).bytes
  // The process was killed before the header was written: nothing else is there.
  const last = files.at(-1)
  if (last?.bytes === 0) unlinkSync(files.pop()!.path)
  for (const [i, { path, base, bytes }] of files.entries()) {
    const next = files[i + 1]
    if (!next || base + bytes === next.base) continue
    throw new SieveError(
      'corrupt',
      `${next.path} continues at byte ${next.base}, but ${path} ends at byte ${base + bytes}: the records between are missing; ` +
        'restore the file, or use another folder',
    )
  }
  return files
}

/** Reads the files twice: first which entries are finished, then which is the first that is not. */
export function readContents(files: readonly FrontierFile[]): Contents {
  const finished = new Set<number>()
  let handled = 0
  for (const [i, file] of files.entries()) {
    let isFirst = true
    readLog(file.path, ({ op, payload, at }) => {
      if (op !== OP.addKeys && op !== OP.deleteHashes) throw damaged(file.path, at, `a record of kind ${op}`)
      if (isFirst) {
        const header = headerIn(file, op, payload)
        if (i === 0) handled = header.handled
      }
      isFirst = false
      if (op !== OP.deleteHashes) return
      for (let at = 0; at < payload.length; at += 8) {
        const number = payload.readBigUInt64LE(at)
        finished.add(Number(number >> 1n))
        handled += Number(number & 1n)
      }
    })
  }
  let position = -1
  let pending = 0
  let end = 0
  let found = 0
  for (const { path, base } of files) {
    let at = base
    readLog(path, ({ op, payload }) => {
      const isHeader = at === base
      if (op === OP.addKeys && !isHeader) {
        const entries = readTexts(payload, at + RECORD_HEADER_BYTES)
        const unfinished = entries.filter(({ place }) => !finished.has(place)).length
        found += entries.length - unfinished
        pending += unfinished
        if (unfinished > 0 && position < 0) position = at
      }
      at += RECORD_HEADER_BYTES + payload.length + 4
    })
    end = at
  }
  if (position < 0) position = end
  // Finished entries of deleted files cannot be checked.
  const first = files[0]?.base ?? 0
  let expected = 0
  for (const place of finished) if (place >= first) expected++
  if (expected !== found) {
    throw new SieveError(
      'corrupt',
      `${files[0]!.path}, or a file after it, finishes an entry that does not exist`,
    )
  }
  for (const place of finished) if (place < position) finished.delete(place)
  return { position, finished, pending, handled }
}

function headerIn({ path, base }: FrontierFile, op: number, payload: Buffer): Header {
  let header: Partial<Header> = {}
  try {
    if (op === OP.addKeys) header = Object(JSON.parse(readTexts(payload, 0)[0]!.text)) as Partial<Header>
  } catch {
    // reported below
  }
  if (header.urlsieve !== 'frontier') {
    throw new SieveError('corrupt', `${path} is not a frontier: expected a file written by urlsieve/crawlee`)
  }
  if (header.version !== VERSION) {
    throw new SieveError(
      'version',
      `${path} has format version ${header.version}: this urlsieve reads version ${VERSION}`,
    )
  }
  if (header.base !== base || !Number.isSafeInteger(header.handled) || header.handled! < 0) {
    throw damaged(path, 0, 'its header does not match its name')
  }
  return header as Header
}
