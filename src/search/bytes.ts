// The bytes of a table: a file that is read in parts, or a whole input in memory (a pipe, a .gz).
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'

/** Identifies the content of a file that was indexed. */
export interface Identity {
  readonly sizeBytes: number
  readonly modifiedMs: number
  readonly sha256: string
}

export interface Bytes {
  readonly sizeBytes: number
  /** The bytes [from, to). */
  read(from: number, to: number): Buffer
  close(): void
}

const CHUNK_BYTES = 256 * 1024

/** All bytes, in chunks. */
export function* chunksOf(bytes: Bytes): Generator<Buffer> {
  for (let at = 0; at < bytes.sizeBytes; at += CHUNK_BYTES) {
    yield bytes.read(at, Math.min(at + CHUNK_BYTES, bytes.sizeBytes))
  }
}

export function memoryBytes(buffer: Buffer): Bytes {
  return { sizeBytes: buffer.length, read: (from, to) => buffer.subarray(from, to), close() {} }
}

/** Throws the system's error when there is no such file; `EISDIR` for a folder. */
export function fileBytes(path: string): Bytes {
  const fd = openSync(path, 'r')
  const stat = fstatSync(fd)
  if (stat.isDirectory()) {
    closeSync(fd)
    throw Object.assign(new Error('is a folder'), { code: 'EISDIR' })
  }
  return {
    sizeBytes: stat.size,
    read(from, to) {
      const buffer = Buffer.allocUnsafe(to - from)
      let got = 0
      while (got < buffer.length) {
        const more = readSync(fd, buffer, got, buffer.length - got, from + got)
        if (more === 0) break
        got += more
      }
      return buffer.subarray(0, got)
    },
    close: () => closeSync(fd),
  }
}

/** Of the file at `path` on disk. Compute it before reading, so that a later change is detected. */
export function identify(path: string): Identity {
  const { size, mtimeMs } = statSync(path)
  return { sizeBytes: size, modifiedMs: mtimeMs, sha256: contentHash(path) }
}

/** Whether the file still has the content that was indexed; read only when its modification time differs. */
export function isUnchanged(path: string, known: Identity): boolean {
  const { size, mtimeMs } = statSync(path)
  if (size !== known.sizeBytes) return false
  return mtimeMs === known.modifiedMs || contentHash(path) === known.sha256
}

function contentHash(path: string): string {
  const bytes = fileBytes(path)
  try {
    const hash = createHash('sha256')
    for (const chunk of chunksOf(bytes)) hash.update(chunk)
    return hash.digest('hex')
  } finally {
    bytes.close()
  }
}
