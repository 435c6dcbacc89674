// Reading. A file that is read whole: never more of it than is stated, whatever it is and however large it says that it is.
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { SieveError, unreadable } from '../errors.ts'
import { formatBytes } from '../quantities.ts'
import { reasonOf } from './system-error.ts'

export const KiB = 1024
export const MiB = 1024 ** 2
/** Of one buffer, in every version of Node. */
export const MOST_BUFFER_BYTES = 2 ** 31 - 1
const CHUNK_BYTES = 64 * KiB

/**
 * The bytes of a file, at most that many. Throws the system's error, or one that says what was expected. `isStream`: it may be a
 * pipe, as `<(command)` of a shell is.
 */
export function readWhole(path: string, mostBytes: number, { isStream = false } = {}): Buffer {
  const tooLong = () => new Error(`longer than ${formatBytes(mostBytes)}, the most that is expected`)
  // A pipe without a writer does not answer otherwise.
  const fd = openSync(path, isStream ? 'r' : constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const stat = fstatSync(fd)
    if (stat.isDirectory()) throw Object.assign(new Error('is a folder, expected a file'), { code: 'EISDIR' })
    if (!stat.isFile() && !isStream) throw new Error('a device or a pipe, expected a file')
    if (stat.size > mostBytes) throw tooLong()
    const parts: Buffer[] = []
    let size = 0
    for (;;) {
      // One byte more than it states: a file of /proc states none.
      const part = Buffer.allocUnsafe(Math.max(Math.min(stat.size - size, mostBytes) + 1, CHUNK_BYTES))
      const got = readSync(fd, part, 0, part.length, null)
      if (got === 0) return Buffer.concat(parts, size)
      parts.push(part.subarray(0, got))
      size += got
      if (size > mostBytes) throw tooLong()
    }
  } finally {
    closeSync(fd)
  }
}

/** One line for a file that cannot be read. */
export function readError(path: string, error: unknown): SieveError {
  return error instanceof SieveError ? error : unreadable(path, reasonOf(error))
}

/** The system names no path when reading from an open file fails. */
export function throwWithPath(fd: number, error: unknown): never {
  let path: string | undefined
  try {
    path = readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    // only Linux knows
  }
  throw path === undefined ? error : readError(path, error)
}

/** Reads until `target` is full or the file ends; returns how many bytes there were. */
export function readFully(fd: number, target: Uint8Array, at: number): number {
  let got = 0
  try {
    while (got < target.length) {
      const n = readSync(fd, target, got, target.length - got, at + got)
      if (n === 0) break
      got += n
    }
  } catch (error) {
    throwWithPath(fd, error)
  }
  return got
}
