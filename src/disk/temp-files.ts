// Temporary files: their names are removed as soon as they are open, so that nothing is left of them however the process ends.
import { randomBytes } from 'node:crypto'
import { openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { SieveError } from '../errors.ts'
import { PRIVATE } from '../store/file.ts'
import type { RunFile } from './run.ts'

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the device',
  EDQUOT: 'disk quota exceeded',
  EFBIG: 'the file may not grow further on this system',
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  ENOENT: 'no such folder',
  ENOTDIR: 'it is not a folder',
}

export class TempFiles {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  create(): RunFile {
    const path = join(this.folder, `urlsieve-${process.pid}-${randomBytes(6).toString('hex')}`)
    try {
      const fd = openSync(path, 'wx+', PRIVATE)
      unlinkSync(path)
      return { fd, path, errorOf: this.errorOf }
    } catch (error) {
      throw this.errorOf(error)
    }
  }

  readonly errorOf = (error: unknown): SieveError => {
    const { code, message } = error as NodeJS.ErrnoException
    const why = (code && REASONS[code]) ?? message
    return new SieveError('disk', `cannot write temporary files to ${this.folder}: ${why}`)
  }
}
