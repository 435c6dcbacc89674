// The folder of a server with --data: one folder for each sieve, a store like any other, and in it `server.json` with
// what the store does not say. It is written first: a sieve whose making was cut short is made again, empty.
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { SieveError } from '../errors.ts'
import { AtomicFile, diskError, syncFolder, writeFully } from '../store/file.ts'
import { listStore, snapshotName } from '../store/layout.ts'
import { takeLock } from '../store/lock.ts'
import type { BloomSpec, SieveSpec } from './house.ts'
import { folderOf, nameBytes, nameFrom, nameOfFolder } from './names.ts'

const FILE = 'server.json'
const VERSION = 1
/** Folders on their way out. */
const DROPPED = '.dropped-'

/** What is remembered of a sieve beside its store. */
export interface Entry {
  readonly name: string
  readonly spec: SieveSpec
  readonly bloom?: BloomSpec
  readonly createdAt: Date
}

export class DataFolder {
  readonly path: string
  readonly #release: () => void
  #drops = 0

  /** Takes the folder for this process; another server may not. */
  constructor(path: string) {
    this.path = path
    try {
      mkdirSync(path, { recursive: true })
    } catch (error) {
      throw diskError(path, error)
    }
    this.#release = takeLock(join(path, 'lock'))
  }

  release(): void {
    this.#release()
  }

  folderOf(name: string): string {
    return join(this.path, folderOf(name))
  }

  /** The sieves there. Clears away what a drop has left; folders that are none of ours are left alone. */
  entries(): Entry[] {
    const entries: Entry[] = []
    for (const found of readdirSync(this.path, { withFileTypes: true })) {
      if (!found.isDirectory()) continue
      const folder = join(this.path, found.name)
      if (found.name.startsWith(DROPPED)) rmSync(folder, { recursive: true, force: true })
      else if (existsSync(join(folder, FILE))) entries.push(readEntry(join(folder, FILE)))
      else if (listStore(folder).snapshots.length > 0) {
        const name = nameOfFolder(found.name)
        if (name !== undefined) entries.push({ name, spec: {}, createdAt: new Date() })
      }
    }
    return entries.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
  }

  /** Whether the store of a name was made. */
  isMade(name: string): boolean {
    const folder = this.folderOf(name)
    return existsSync(folder) && listStore(folder).snapshots.length > 0
  }

  /** Writes down a sieve that is about to be made; with a .sieve file it begins with that. */
  write({ name, spec, bloom, createdAt }: Entry, file?: string): void {
    const folder = this.folderOf(name)
    try {
      mkdirSync(folder, { recursive: true })
      if (file !== undefined) copySynced(file, join(folder, snapshotName(1)))
      const entry = new AtomicFile(join(folder, FILE))
      const text = { version: VERSION, name: nameBytes(name).toString('hex'), spec, bloom, createdAt }
      try {
        writeFully(entry.fd, Buffer.from(`${JSON.stringify(text, null, 1)}\n`))
        entry.commit()
      } catch (error) {
        entry.abandon()
        throw error
      }
      syncFolder(this.path)
    } catch (error) {
      throw error instanceof SieveError ? error : diskError(folder, error)
    }
  }

  /** Takes a sieve's folder away: at once out of sight, then file by file. */
  remove(name: string): void {
    const folder = this.folderOf(name)
    const gone = join(this.path, `${DROPPED}${process.pid}-${this.#drops++}`)
    try {
      renameSync(folder, gone)
      syncFolder(this.path)
      rmSync(gone, { recursive: true, force: true })
    } catch (error) {
      throw diskError(folder, error)
    }
  }
}

// The file may lie on another device: it is copied, and on the disk before it counts.
function copySynced(from: string, to: string): void {
  copyFileSync(from, to)
  const fd = openSync(to, 'r+')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function readEntry(path: string): Entry {
  let text: { version?: unknown; name?: unknown; spec?: SieveSpec; bloom?: BloomSpec; createdAt?: unknown }
  try {
    text = JSON.parse(readFileSync(path, 'utf8')) as typeof text
  } catch (error) {
    throw new SieveError('corrupt', `cannot read ${path}: ${(error as Error).message}`)
  }
  if (text.version !== VERSION) {
    throw new SieveError('version', `${path} has version ${text.version}: this urlsieve reads ${VERSION}`)
  }
  const createdAt = new Date(String(text.createdAt))
  if (typeof text.name !== 'string' || Number.isNaN(createdAt.getTime())) {
    throw new SieveError('corrupt', `${path} has no name or no date: expected what a server wrote`)
  }
  const name = nameFrom(Buffer.from(text.name, 'hex'))
  return { name, spec: text.spec ?? {}, createdAt, ...(text.bloom && { bloom: text.bloom }) }
}
