// A frontier's store on disk: append-only files (frontier-files.ts). A file whose texts are all finished is deleted,
// oldest first: FIFO order keeps the folder about as small as what is pending.
import { closeSync, mkdirSync, readFileSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { SieveError } from '../errors.ts'
import { AtomicFile, openFile, readFully, writeFully } from '../store/file.ts'
import { damaged } from '../store/format.ts'
import { takeLock } from '../store/lock.ts'
import { diskError, encodeRecord, Log, OP, RECORD_HEADER_BYTES, readLog } from '../store/log.ts'
import {
  encodeHeader,
  encodeTexts,
  type FrontierFile,
  fileName,
  openFiles,
  readContents,
  readTexts,
} from './frontier-files.ts'
import type { Batch, Contents, FrontierStore, Outcome } from './frontier-store.ts'

/** A new file is started behind the first record that exceeds this. */
const FILE_BYTES = 16 * 1024 * 1024
const SYNC_MS = 1000

/** When a write is safe from power loss: before the call returns, or within a second. */
export type FrontierDurability = 'always' | 'interval'

export interface OpenedLog {
  readonly log: FrontierLog
  readonly contents: Contents
}

export class FrontierLog implements FrontierStore {
  readonly #folder: string
  readonly #durability: FrontierDurability
  readonly #fileBytes: number
  readonly #files: FrontierFile[]
  readonly #release: () => void
  readonly #timer: NodeJS.Timeout
  #handled: number
  #log: Log
  #reader: { file: FrontierFile; fd: number } | null = null
  #failure: SieveError | null = null

  private constructor(
    folder: string,
    durability: FrontierDurability,
    fileBytes: number,
    files: FrontierFile[],
    handled: number,
    release: () => void,
  ) {
    this.#folder = folder
    this.#durability = durability
    this.#fileBytes = fileBytes
    this.#files = files
    this.#handled = handled
    this.#release = release
    const last = files.at(-1)
    this.#log = last ? new Log(last.path, last.bytes) : this.#create(0)
    this.#timer = setInterval(() => {
      this.#log.syncLater((error) => {
        this.#failure = error
      })
    }, SYNC_MS)
    this.#timer.unref()
  }

  /** Opens the log in a folder, or creates it. One process at a time. */
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
      const files = openFiles(folder)
      const contents = readContents(files)
      const log = new FrontierLog(folder, durability, fileBytes, files, contents.handled, release)
      return { log, contents }
    } catch (error) {
      release()
      throw error
    }
  }

  append(texts: readonly string[]): { position: number; places: number[] } {
    this.#check()
    if (this.#log.bytes > this.#fileBytes) this.#startFile()
    const file = this.#files.at(-1)!
    const position = file.base + file.bytes
    const { payload, offsets } = encodeTexts(texts)
    this.#write(encodeRecord(OP.addKeys, texts.length, payload))
    return { position, places: offsets.map((offset) => position + RECORD_HEADER_BYTES + offset) }
  }

  read(position: number): Batch | null {
    let file = this.#fileAt(position)
    if (position >= file.base + file.bytes) {
      const later = this.#files[this.#files.indexOf(file) + 1]
      if (!later) return null
      file = later
      position = file.base
    }
    const fd = this.#open(file)
    const header = Buffer.alloc(RECORD_HEADER_BYTES)
    readFully(fd, header, position - file.base)
    const length = header.readUInt32LE(12)
    const next = position + RECORD_HEADER_BYTES + length + 4
    if (header.readUInt32LE(4) !== OP.addKeys) return { entries: [], next }
    const payload = Buffer.alloc(length)
    readFully(fd, payload, position - file.base + RECORD_HEADER_BYTES)
    const entries = readTexts(payload, position + RECORD_HEADER_BYTES)
    return { entries: position === file.base ? [] : entries, next }
  }

  finish(places: readonly number[], outcome: Outcome): void {
    this.#check()
    const isHandled = outcome === 'handled'
    const payload = Buffer.alloc(8 * places.length)
    for (const [i, place] of places.entries())
      payload.writeBigUInt64LE(2n * BigInt(place) + (isHandled ? 1n : 0n), 8 * i)
    this.#write(encodeRecord(OP.deleteHashes, places.length, payload))
    if (isHandled) this.#handled += places.length
  }

  forgetBefore(place: number): void {
    while (this.#files.length > 1 && this.#files[1]!.base <= place) {
      const { path } = this.#files.shift()!
      if (this.#reader?.file.path === path) this.#closeReader()
      try {
        unlinkSync(path)
      } catch (error) {
        throw diskError(path, error)
      }
    }
  }

  /** Throws the error of a sync in the background since the last call; the file is then rewritten. */
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

  /** Deletes the files and closes. */
  drop(): void {
    clearInterval(this.#timer)
    this.#closeReader()
    this.#log.close()
    try {
      for (const { path } of this.#files) unlinkSync(path)
    } catch (error) {
      throw diskError(this.#folder, error)
    } finally {
      this.#release()
    }
  }

  // A record that is not acknowledged is removed.
  #write(record: Buffer): void {
    this.#log.append(record)
    try {
      if (this.#durability === 'always') this.#log.sync()
    } catch (error) {
      this.#log.retract(record.length)
      throw error
    } finally {
      this.#files.at(-1)!.bytes = this.#log.bytes
    }
  }

  // A failed sync is reported once. The file is rewritten before the next record: the system may have dropped pages of
  // it.
  #check(): void {
    const failure = this.#failure
    this.#failure = null
    if (failure) throw failure
    if (this.#log.hasFailed) this.#rewrite()
  }

  #rewrite(): void {
    const file = this.#files.at(-1)!
    const { bytes } = readLog(file.path, () => {})
    if (bytes < file.bytes) throw damaged(file.path, bytes, 'the system lost what was written')
    const whole = readFileSync(file.path).subarray(0, file.bytes)
    const draft = new AtomicFile(file.path)
    try {
      writeFully(draft.fd, whole)
      draft.commit()
    } catch (error) {
      draft.abandon()
      throw error instanceof SieveError ? error : diskError(file.path, error)
    }
    this.#closeReader()
    const before = this.#log
    this.#log = new Log(file.path, file.bytes)
    before.close()
  }

  // A new file continues where the last one ends.
  #startFile(): void {
    const last = this.#files.at(-1)!
    this.#log.sync()
    const before = this.#log
    this.#log = this.#create(last.base + last.bytes)
    before.close()
  }

  #create(base: number): Log {
    const path = join(this.#folder, fileName(base))
    const log = new Log(path)
    try {
      log.append(encodeHeader(base, this.#handled))
    } catch (error) {
      log.close() // a file without a header is ignored
      throw error
    }
    this.#files.push({ path, base, bytes: log.bytes })
    return log
  }

  #fileAt(position: number): FrontierFile {
    return this.#files.findLast(({ base }) => base <= position) ?? this.#files[0]!
  }

  #open(file: FrontierFile): number {
    if (this.#reader?.file !== file) {
      this.#closeReader()
      this.#reader = { file, fd: openFile(file.path) }
    }
    return this.#reader!.fd
  }

  #closeReader(): void {
    if (this.#reader) closeSync(this.#reader.fd)
    this.#reader = null
  }
}
