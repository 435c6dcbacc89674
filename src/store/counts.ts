// What a stored sieve has counted besides its URLs: repeats, and lines that were not URLs. Two slots of 64 bytes, written
// in turn: the one with the higher turn counts. A slot lies within one sector, so a power loss leaves it old or new.
import { fdatasyncSync, ftruncateSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { SieveError } from '../errors.ts'
import { MOST_COUNT } from '../filters/saved-plan.ts'
import { closeQuietly, diskError, openOwn, readError } from './file.ts'
import { damaged } from './format.ts'
import { Task } from './thread.ts'
import { readWhole } from './whole-file.ts'

const MAGIC = 0x54435355 // "USCT"
const SLOT_BYTES = 64
/** The file's name. */
export const COUNTS = 'counts'
/** No count: what was written last is to be written again. */
const NOT_WRITTEN = -1

export interface Counts {
  /** Of the log that was written to at the time: counts of before a snapshot's log are in the snapshot. */
  readonly log: number
  readonly seen: number
  readonly invalid: number
}

const pathIn = (folder: string) => join(folder, COUNTS)

function readSlots(folder: string): ({ turn: number } & Counts)[] {
  const path = pathIn(folder)
  let bytes: Buffer
  try {
    bytes = readWhole(path, 2 * SLOT_BYTES)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    throw code === undefined ? damaged(path, 0, message) : readError(path, error)
  }
  const slots = []
  for (let at = 0; at < bytes.length; at += SLOT_BYTES) {
    const slot = bytes.subarray(at, at + SLOT_BYTES)
    if (slot.every((byte) => byte === 0)) continue
    const end = SLOT_BYTES - 4
    if (
      slot.length < SLOT_BYTES ||
      slot.readUInt32LE(0) !== MAGIC ||
      slot.readUInt32LE(end) !== crc32(slot.subarray(0, end))
    )
      throw damaged(path, at, 'counts do not match their checksum')
    const number = (from: number) => Number(slot.readBigUInt64LE(from))
    const counts = { turn: number(8), seen: number(16), invalid: number(24) }
    if (!Object.values(counts).every((count) => count <= MOST_COUNT))
      throw damaged(path, at, `counts past ${MOST_COUNT}`)
    slots.push({ log: slot.readUInt32LE(4), ...counts })
  }
  return slots.sort((a, b) => a.turn - b.turn)
}

/** The counts of a folder, or null: there are none. Throws where they are damaged. */
export function readCounts(folder: string): Counts | null {
  return readSlots(folder).at(-1) ?? null
}

/** Removes counts that are damaged: they begin at zero again. */
export function dropDamagedCounts(folder: string): void {
  try {
    readSlots(folder)
  } catch (error) {
    if (!(error instanceof SieveError)) throw error
    unlinkSync(pathIn(folder))
  }
}

export class CountsFile {
  readonly #path: string
  /** Opened by the first write: most folders never need it. */
  #fd: number | null = null
  readonly #words = new Uint32Array(SLOT_BYTES / 4)
  readonly #slot = Buffer.from(this.#words.buffer)
  readonly #checked = this.#slot.subarray(0, SLOT_BYTES - 4)
  #turn: number
  #seen: number
  #invalid: number
  #isDirty = false
  #syncing: Task | null = null
  /** Of the last write. */
  #failure: SieveError | null = null

  /** Opens the counts of a folder, which are these now. */
  constructor(folder: string, { seen, invalid }: Omit<Counts, 'log'>) {
    this.#path = pathIn(folder)
    this.#seen = seen
    this.#invalid = invalid
    this.#turn = readSlots(folder).at(-1)?.turn ?? 0
  }

  /** Hands changed counts to the system. A disk that refuses them is reported by `sync`: no URL is refused for them. */
  write(log: number, seen: number, invalid: number): void {
    if (seen === this.#seen && invalid === this.#invalid) return
    const words = this.#words
    words[0] = MAGIC
    words[1] = log
    this.#put(2, this.#turn + 1)
    this.#put(4, seen)
    this.#put(6, invalid)
    words[SLOT_BYTES / 4 - 1] = crc32(this.#checked)
    try {
      this.#fd ??= openOwn(this.#path, this.#turn === 0 ? 'w' : 'r+')
      this.#writeSlot(this.#fd, (this.#turn % 2) * SLOT_BYTES)
      this.#failure = null
    } catch (error) {
      this.#failure = diskError(this.#path, error)
      return // the next write tries again
    }
    this.#turn++
    this.#seen = seen
    this.#invalid = invalid
    this.#isDirty = true
  }

  // A slot of which the disk took only a part goes, with what is behind it: it would be taken for damage.
  #writeSlot(fd: number, at: number): void {
    let done = 0
    try {
      while (done < SLOT_BYTES) done += writeSync(fd, this.#slot, done, SLOT_BYTES - done, at + done)
    } catch (error) {
      if (done > 0) ftruncateSync(fd, at)
      throw error
    }
  }

  // A u64, as two words.
  #put(at: number, value: number): void {
    this.#words[at] = value
    this.#words[at + 1] = value / 2 ** 32
  }

  /** Puts these counts on the disk, now. */
  sync(log: number, seen: number, invalid: number): void {
    if (this.#syncing) this.#end(this.#syncing.wait())
    this.write(log, seen, invalid)
    if (this.#failure) throw this.#failure
    if (!this.#isDirty || this.#fd === null) return
    try {
      fdatasyncSync(this.#fd)
      this.#isDirty = false
    } catch (error) {
      this.#seen = NOT_WRITTEN
      throw diskError(this.#path, error)
    }
  }

  /** The same, without waiting. */
  syncLater(): void {
    if (!this.#isDirty || this.#syncing || this.#fd === null) return
    this.#isDirty = false
    const task = new Task('fdatasync', this.#fd)
    this.#syncing = task
    task.done.then((code) => {
      if (this.#syncing === task) this.#end(code)
    })
  }

  // What a failed sync leaves on the disk is unknown: the counts are written again.
  #end(code: string | null): void {
    this.#syncing = null
    if (code !== null) this.#seen = NOT_WRITTEN
  }

  close(): void {
    this.#syncing?.wait()
    if (this.#fd !== null) closeQuietly(this.#fd)
  }
}
