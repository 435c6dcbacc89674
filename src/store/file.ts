// Files as a store needs them: written whole or not at all, read straight to where the bytes belong.

import { createHash } from 'node:crypto'
import {
  close,
  closeSync,
  constants,
  fstatSync,
  fsync,
  fsyncSync,
  open,
  openSync,
  read,
  readdirSync,
  renameSync,
  rmSync,
  unlink,
  unlinkSync,
  write,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { SieveError } from '../errors.ts'
import { isRunning, numbersOf } from './holder.ts'
import { reasonOf } from './system-error.ts'
import { MOST_BUFFER_BYTES, readError, readWhole, throwWithPath } from './whole-file.ts'

export { readError, readFully } from './whole-file.ts'

/** What systems answer that cannot sync a folder, Windows among them: there the names in it last without. */
const UNSYNCABLE = ['EPERM', 'EINVAL', 'EISDIR', 'EACCES', 'ENOTSUP']

function throwUnlessUnsyncable(error: unknown): void {
  if (!UNSYNCABLE.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
}

/** Makes what happened to the names in a folder last, where the system can. */
export function syncFolder(path: string): void {
  try {
    const fd = openSync(path, 'r')
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    throwUnlessUnsyncable(error)
  }
}

/** Lets go of a file of which all that counts was synced before, or is given up: what closing says changes nothing. */
export function closeQuietly(fd: number): void {
  try {
    closeSync(fd)
  } catch {
    // the descriptor is free all the same
  }
}

/** Removes a file if it can be removed. */
export function removeQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // not there
  }
}

/** Writes all of it, behind what was written last or at `position`. */
export function writeFully(fd: number, bytes: Uint8Array, position: number | null = null): void {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(fd, bytes, at, bytes.length - at, position === null ? null : position + at)
  }
}

/** Opens a file to read; one line when that cannot be. */
export function openFile(path: string): number {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    throw readError(path, error)
  }
  if (!fstatSync(fd).isDirectory()) return fd
  closeSync(fd)
  throw readError(path, { code: 'EISDIR' })
}

/** The content of a file; one line when it cannot be read. */
export function readStored(path: string, mostBytes = MOST_BUFFER_BYTES): Buffer {
  try {
    return readWhole(path, mostBytes)
  } catch (error) {
    throw readError(path, error)
  }
}

const openLater = promisify(open)
const closeLater = promisify(close)
const unlinkLater = promisify(unlink)
const readSome = promisify(read)
const writeSome = promisify(write)

/** Puts a file on the disk, without keeping this process waiting. */
export const syncLater = promisify(fsync)

/** As `syncFolder`, without keeping this process waiting. */
export async function syncFolderLater(path: string): Promise<void> {
  try {
    const fd = await openLater(path, 'r')
    try {
      await syncLater(fd)
    } finally {
      await closeLater(fd)
    }
  } catch (error) {
    throwUnlessUnsyncable(error)
  }
}

/** As `writeFully`, without keeping this process waiting. */
export async function writeLater(
  fd: number,
  bytes: Uint8Array,
  position: number | null = null,
): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const to = position === null ? null : position + at
    at += (await writeSome(fd, bytes, at, bytes.length - at, to)).bytesWritten
  }
}

/** As `readFully`, without keeping this process waiting. */
export async function readLater(fd: number, target: Uint8Array, at: number): Promise<number> {
  let got = 0
  try {
    while (got < target.length) {
      const { bytesRead } = await readSome(fd, target, got, target.length - got, at + got)
      if (bytesRead === 0) break
      got += bytesRead
    }
  } catch (error) {
    throwWithPath(fd, error)
  }
  return got
}

/** Removes files, without keeping this process waiting: the system takes long to free a large one. */
export async function removeLater(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await unlinkLater(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
}

/** Readable by their owner only: they hold the secret key of a sieve, or the URLs themselves. */
export const PRIVATE = 0o600

const { O_APPEND, O_CREAT, O_RDWR, O_TRUNC, O_WRONLY, O_NOFOLLOW = 0 } = constants
const OWN_FLAGS = {
  a: O_WRONLY | O_CREAT | O_APPEND,
  w: O_WRONLY | O_CREAT | O_TRUNC,
  'w+': O_RDWR | O_CREAT | O_TRUNC,
  'r+': O_RDWR,
  'a+': O_RDWR | O_CREAT | O_APPEND,
}

/** Opens a file for writing: the file itself, and never what a symbolic link in its place points to. */
export function openOwn(path: string, flags: keyof typeof OWN_FLAGS, mode: number = PRIVATE): number {
  try {
    return openSync(path, OWN_FLAGS[flags] | O_NOFOLLOW, mode)
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ELOOP'
      ? new Error('is a symbolic link, expected a file')
      : error
  }
}

/** Two drafts of one file may be in the making: each has a name of its own. */
let drafts = 0
/** Of the processes that see each other under the same numbers. */
const machine = createHash('sha256').update(`${hostname()} ${numbersOf()}`).digest('hex').slice(0, 8)

/**
 * The name of a draft of a file or folder, beside it. Those that processes of this machine left when they were killed are
 * removed.
 */
export function draftOf(path: string): string {
  const start = `${basename(path)}.draft-`
  for (const name of namesIn(dirname(path))) {
    if (!name.startsWith(start)) continue
    const [, made, pid] = /^([0-9a-f]{8})-(\d+)-\d+$/.exec(name.slice(start.length)) ?? []
    if (made === machine && !isRunning(Number(pid))) {
      rmSync(join(dirname(path), name), { recursive: true, force: true })
    }
  }
  return `${path}.draft-${machine}-${process.pid}-${drafts++}`
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // making the draft reports why
  }
}

/** A private file that is there whole, under its name, or not at all: written beside it, synced, then renamed. */
export class AtomicFile {
  readonly fd: number
  readonly #path: string
  readonly #draft: string
  #isClosed = false

  constructor(path: string) {
    this.#path = path
    try {
      this.#draft = draftOf(path)
      this.fd = openOwn(this.#draft, 'w')
    } catch (error) {
      throw diskError(path, error)
    }
  }

  /** Puts it in place. */
  commit(): void {
    try {
      fsyncSync(this.fd)
      this.#close()
      renameSync(this.#draft, this.#path)
      syncFolder(dirname(this.#path))
    } catch (error) {
      throw diskError(this.#path, error)
    }
  }

  /**
   * As `commit`, without keeping this process waiting for the disk. It gets its name in the same turn in which `isWanted`
   * is asked, so that it never takes the place of one that was written later. False: it is not wanted, and not in place.
   */
  async commitLater(isWanted: () => boolean): Promise<boolean> {
    try {
      await syncLater(this.fd)
      if (!isWanted()) return false
      this.#close()
      renameSync(this.#draft, this.#path)
      await syncFolderLater(dirname(this.#path))
      return true
    } catch (error) {
      throw diskError(this.#path, error)
    }
  }

  // Once only: the number may be another file's by then.
  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.fd)
  }

  /** Leaves no trace of it, without keeping this process waiting. */
  async abandonLater(): Promise<void> {
    try {
      this.#close()
      await removeLater([this.#draft])
    } catch {
      // the next writer of the folder removes it
    }
  }

  /** Leaves no trace of it. */
  abandon(): void {
    for (const step of [() => this.#close(), () => unlinkSync(this.#draft)]) {
      try {
        step()
      } catch {
        // already closed, or never there
      }
    }
  }
}

/** One line for a disk that is full, read-only or broken. */
export function diskError(path: string, error: unknown): SieveError {
  const { code } = error as NodeJS.ErrnoException
  const reasons: Record<string, string> = {
    ENOSPC: 'no space left on the device; free some and go on, nothing acknowledged is lost',
    EDQUOT: 'disk quota exceeded; nothing acknowledged is lost',
    EFBIG: 'the file may not grow further on this system; nothing acknowledged is lost',
    EIO: 'the device reports an input/output error; what was not synced before may be lost',
    EROFS: 'the file system is read-only',
  }
  return new SieveError('disk', `cannot write ${path}: ${(code && reasons[code]) ?? reasonOf(error)}`)
}
