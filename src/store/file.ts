// Files as a store needs them: written whole or not at all, read straight to where the bytes belong.
import { closeSync, fsyncSync, openSync, readSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { SieveError } from '../errors.ts'

/** Makes what happened to the names in a folder last. */
export function syncFolder(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

export function writeFully(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at)
}

/** Reads until `target` is full or the file ends; returns how many bytes there were. */
export function readFully(fd: number, target: Uint8Array, at: number): number {
  let got = 0
  while (got < target.length) {
    const n = readSync(fd, target, got, target.length - got, at + got)
    if (n === 0) break
    got += n
  }
  return got
}

/** Two drafts of one file may be in the making: each has a name of its own. */
let drafts = 0

/** A file that is there whole, under its name, or not at all: written beside it, synced, then renamed. */
export class AtomicFile {
  readonly fd: number
  readonly #path: string
  readonly #draft: string
  #isClosed = false

  constructor(path: string) {
    this.#path = path
    this.#draft = `${path}.draft-${process.pid}-${drafts++}`
    try {
      this.fd = openSync(this.#draft, 'w')
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

  // Once only: the number may be another file's by then.
  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.fd)
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
  const { code, message } = error as NodeJS.ErrnoException
  const reasons: Record<string, string> = {
    ENOSPC: 'no space left on the device; free some and go on, nothing acknowledged is lost',
    EDQUOT: 'disk quota exceeded; nothing acknowledged is lost',
    EFBIG: 'the file may not grow further on this system; nothing acknowledged is lost',
    EROFS: 'the file system is read-only',
    EACCES: 'permission denied',
    EPERM: 'not permitted',
    ENOENT: 'no such file or folder',
    ENOTDIR: 'a part of the path is no folder',
  }
  return new SieveError('disk', `cannot write ${path}: ${(code && reasons[code]) ?? message}`)
}
