// A frontier's shelf on disk: append-only files in the record format of a store's log (docs/format.md), in which a
// record counts only when it is whole. `addKeys` writes texts down, `deleteHashes` the places of those that are over.
// A file whose texts are all over is deleted, oldest first: FIFO order keeps the folder as small as what is pending.
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { SieveError } from '../errors.ts'
import { AtomicFile, readFully, writeFully } from '../store/file.ts'
import { damaged } from '../store/format.ts'
import { takeLock } from '../store/lock.ts'
import { diskError, encodeRecord, Log, OP, RECORD_HEADER_BYTES, readLog } from '../store/log.ts'
import type { Batch, Contents, Entry, Shelf } from './shelf.ts'

const VERSION = 1
/** A file is not made longer than this, but for one record. */
const FILE_BYTES = 16 * 1024 * 1024
const SYNC_MS = 1000

/** When what is written is safe from a power loss: before a verb returns, or within a second. */
export type FrontierDurability = 'always' | 'interval'

/** The first entry of each file. */
interface Header {
  readonly urlsieve: 'frontier'
  readonly version: number
  /** The place of the file's first byte. */
  readonly base: number
  /** Entries handled before it began. */
  readonly handled: number
}

interface Piece {
  readonly path: string
  readonly base: number
  bytes: number
}

export interface OpenedLog {
  readonly log: FrontierLog
  readonly contents: Contents
}

export class FrontierLog implements Shelf {
  readonly #folder: string
  readonly #durability: FrontierDurability
  readonly #fileBytes: number
  readonly #pieces: Piece[]
  readonly #release: () => void
  readonly #timer: NodeJS.Timeout
  #handled: number
  #log: Log
  #reader: { piece: Piece; fd: number } | null = null
  #failure: SieveError | null = null

  private constructor(
    folder: string,
    durability: FrontierDurability,
    fileBytes: number,
    pieces: Piece[],
    handled: number,
    release: () => void,
  ) {
    this.#folder = folder
    this.#durability = durability
    this.#fileBytes = fileBytes
    this.#pieces = pieces
    this.#handled = handled
    this.#release = release
    const last = pieces.at(-1)
    this.#log = last ? new Log(last.path, last.bytes) : this.#begin(0)
    this.#timer = setInterval(() => {
      this.#log.syncLater((error) => {
        this.#failure = error
      })
    }, SYNC_MS)
    this.#timer.unref()
  }

  /** Opens the log in a folder, or makes one there. One process at a time. */
  static open(
    folder: string,
    durability: FrontierDurability = 'interval',
    fileBytes = FILE_BYTES,
  ): OpenedLog {
    try {
      mkdirSync(folder, { recursive: true })
    } catch (error) {
      throw diskError(folder, error)
    }
    const release = takeLock(join(folder, 'lock'))
    try {
      const pieces = piecesIn(folder)
      const contents = contentsOf(pieces)
      const log = new FrontierLog(folder, durability, fileBytes, pieces, contents.handled, release)
      return { log, contents }
    } catch (error) {
      release()
      throw error
    }
  }

  append(texts: readonly string[]): { position: number; places: number[] } {
    this.#check()
    if (this.#log.bytes > this.#fileBytes) this.#turn()
    const piece = this.#pieces.at(-1)!
    const position = piece.base + piece.bytes
    const { payload, offsets } = pack(texts)
    this.#write(encodeRecord(OP.addKeys, texts.length, payload))
    return { position, places: offsets.map((offset) => position + RECORD_HEADER_BYTES + offset) }
  }

  read(position: number): Batch | null {
    let piece = this.#pieceOf(position)
    if (position >= piece.base + piece.bytes) {
      const later = this.#pieces[this.#pieces.indexOf(piece) + 1]
      if (!later) return null
      piece = later
      position = piece.base
    }
    const fd = this.#open(piece)
    const header = Buffer.alloc(RECORD_HEADER_BYTES)
    readFully(fd, header, position - piece.base)
    const length = header.readUInt32LE(12)
    const next = position + RECORD_HEADER_BYTES + length + 4
    if (header.readUInt32LE(4) !== OP.addKeys) return { entries: [], next }
    const payload = Buffer.alloc(length)
    readFully(fd, payload, position - piece.base + RECORD_HEADER_BYTES)
    const entries = unpack(payload, position + RECORD_HEADER_BYTES)
    return { entries: position === piece.base ? [] : entries, next }
  }

  finish(places: readonly number[], how: 'handled' | 'taken back'): void {
    this.#check()
    const isHandled = how === 'handled'
    const payload = Buffer.alloc(8 * places.length)
    for (const [i, place] of places.entries())
      payload.writeBigUInt64LE(2n * BigInt(place) + (isHandled ? 1n : 0n), 8 * i)
    this.#write(encodeRecord(OP.deleteHashes, places.length, payload))
    if (isHandled) this.#handled += places.length
  }

  forgetBefore(place: number): void {
    while (this.#pieces.length > 1 && this.#pieces[1]!.base <= place) {
      const { path } = this.#pieces.shift()!
      if (this.#reader?.piece.path === path) this.#closeReader()
      try {
        unlinkSync(path)
      } catch (error) {
        throw diskError(path, error)
      }
    }
  }

  /** Throws what went wrong in the background since the last call; the file is then written anew. */
  close(): void {
    clearInterval(this.#timer)
    this.#closeReader()
    try {
      this.#log.sync()
    } catch (error) {
      this.#rewrite()
      throw error
    } finally {
      this.#log.close()
      this.#release()
    }
  }

  // A record that is not acknowledged does not stay.
  #write(record: Buffer): void {
    this.#log.append(record)
    try {
      if (this.#durability === 'always') this.#log.sync()
    } catch (error) {
      this.#log.retract(record.length)
      throw error
    } finally {
      this.#pieces.at(-1)!.bytes = this.#log.bytes
    }
  }

  // A failed sync is reported once. Before the next record the file is written anew: the system may have dropped what it
  // had of it.
  #check(): void {
    const failure = this.#failure
    this.#failure = null
    if (failure) throw failure
    if (this.#log.hasFailed) this.#rewrite()
  }

  #rewrite(): void {
    const piece = this.#pieces.at(-1)!
    const { bytes } = readLog(piece.path, () => {})
    if (bytes < piece.bytes) throw damaged(piece.path, bytes, 'the system has dropped what was written')
    const whole = readFileSync(piece.path).subarray(0, piece.bytes)
    const file = new AtomicFile(piece.path)
    try {
      writeFully(file.fd, whole)
      file.commit()
    } catch (error) {
      file.abandon()
      throw error instanceof SieveError ? error : diskError(piece.path, error)
    }
    this.#closeReader()
    const before = this.#log
    this.#log = new Log(piece.path, piece.bytes)
    before.close()
  }

  // A new file goes on where the last one ends.
  #turn(): void {
    const last = this.#pieces.at(-1)!
    this.#log.sync()
    const before = this.#log
    this.#log = this.#begin(last.base + last.bytes)
    before.close()
  }

  #begin(base: number): Log {
    const header: Header = { urlsieve: 'frontier', version: VERSION, base, handled: this.#handled }
    const path = join(this.#folder, pieceName(base))
    const log = new Log(path)
    try {
      log.append(encodeRecord(OP.addKeys, 1, pack([JSON.stringify(header)]).payload))
    } catch (error) {
      log.close() // a file without a header is none
      throw error
    }
    this.#pieces.push({ path, base, bytes: log.bytes })
    return log
  }

  #pieceOf(position: number): Piece {
    return this.#pieces.findLast(({ base }) => base <= position) ?? this.#pieces[0]!
  }

  #open(piece: Piece): number {
    if (this.#reader?.piece !== piece) {
      this.#closeReader()
      this.#reader = { piece, fd: openSync(piece.path, 'r') }
    }
    return this.#reader!.fd
  }

  #closeReader(): void {
    if (this.#reader) closeSync(this.#reader.fd)
    this.#reader = null
  }
}

const PIECE = /^frontier-\d{15}$/
const DRAFT = /^frontier-\d{15}\.draft-/
const pieceName = (base: number) => `frontier-${String(base).padStart(15, '0')}`

// A u32 length each, then the bytes.
function pack(texts: readonly string[]): { payload: Buffer; offsets: number[] } {
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

function unpack(payload: Buffer, from: number): Entry[] {
  const entries: Entry[] = []
  for (let at = 0; at < payload.length; ) {
    const end = at + 4 + payload.readUInt32LE(at)
    entries.push({ place: from + at, text: payload.toString('utf8', at + 4, end) })
    at = end
  }
  return entries
}

// Throws where one is missing, or its end: what goes on from it would be read at the wrong places.
function piecesIn(folder: string): Piece[] {
  const names = readdirSync(folder)
  for (const name of names) if (DRAFT.test(name)) unlinkSync(join(folder, name))
  const pieces = names
    .filter((name) => PIECE.test(name))
    .sort()
    .map((name) => ({ path: join(folder, name), base: Number(name.slice(9)), bytes: 0 }))
  for (const piece of pieces) piece.bytes = readLog(piece.path, () => {}).bytes
  // Killed before its header was whole: nothing was written there yet.
  const last = pieces.at(-1)
  if (last?.bytes === 0) unlinkSync(pieces.pop()!.path)
  for (const [i, { path, base, bytes }] of pieces.entries()) {
    const next = pieces[i + 1]
    if (!next || base + bytes === next.base) continue
    throw new SieveError(
      'corrupt',
      `${next.path} goes on from byte ${next.base}, ${path} ends at byte ${base + bytes}: what is between is missing; ` +
        'restore it, or begin with another folder',
    )
  }
  return pieces
}

// Two ways through the files: which entries are over, then where the first is that is not.
function contentsOf(pieces: readonly Piece[]): Contents {
  const over = new Set<number>()
  let handled = 0
  for (const [i, piece] of pieces.entries()) {
    const before = pieces[i - 1]
    if (before && before.base + before.bytes !== piece.base) {
      throw new SieveError('corrupt', `${piece.path} does not go on where ${before.path} ends`)
    }
    let isFirst = true
    readLog(piece.path, ({ op, payload, at }) => {
      if (op !== OP.addKeys && op !== OP.deleteHashes) throw damaged(piece.path, at, `a record of kind ${op}`)
      if (isFirst) {
        const header = headerIn(piece, op, payload)
        if (i === 0) handled = header.handled
      }
      isFirst = false
      if (op !== OP.deleteHashes) return
      for (let at = 0; at < payload.length; at += 8) {
        const number = payload.readBigUInt64LE(at)
        over.add(Number(number >> 1n))
        handled += Number(number & 1n)
      }
    })
  }
  let position = -1
  let pending = 0
  let end = 0
  let found = 0
  for (const { path, base } of pieces) {
    let at = base
    readLog(path, ({ op, payload }) => {
      const isHeader = at === base
      if (op === OP.addKeys && !isHeader) {
        const entries = unpack(payload, at + RECORD_HEADER_BYTES)
        const open = entries.filter(({ place }) => !over.has(place)).length
        found += entries.length - open
        pending += open
        if (open > 0 && position < 0) position = at
      }
      at += RECORD_HEADER_BYTES + payload.length + 4
    })
    end = at
  }
  if (position < 0) position = end
  // Of entries in files that were deleted nothing can be known.
  const first = pieces[0]?.base ?? 0
  let known = 0
  for (const place of over) if (place >= first) known++
  if (known !== found) {
    throw new SieveError('corrupt', `${pieces[0]!.path}, or a file after it, ends an entry that is not there`)
  }
  for (const place of over) if (place < position) over.delete(place)
  return { position, over, pending, handled }
}

function headerIn({ path, base }: Piece, op: number, payload: Buffer): Header {
  let header: Partial<Header> = {}
  try {
    if (op === OP.addKeys) header = Object(JSON.parse(unpack(payload, 0)[0]!.text)) as Partial<Header>
  } catch {
    // said below
  }
  if (header.urlsieve !== 'frontier') {
    throw new SieveError('corrupt', `${path} is no frontier: expected one written by urlsieve/crawlee`)
  }
  if (header.version !== VERSION) {
    throw new SieveError(
      'version',
      `${path} has format version ${header.version}: this urlsieve reads version ${VERSION}`,
    )
  }
  if (header.base !== base || !Number.isSafeInteger(header.handled) || header.handled! < 0) {
    throw damaged(path, 0, 'its header is not that of a file of its name')
  }
  return header as Header
}
