// The folder of a server with --data: one folder per sieve, which is a store, and in it `server.json` with what the store
// does not record. A sieve's folder is created under a temporary name and renamed once its contents are on disk; if the
// store itself was not created before a crash, it is created again, empty.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { copyFile, link, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SieveError, unreadable } from '../errors.ts'
import { diskError, syncFolderLater } from '../store/file.ts'
import { listStore, snapshotName } from '../store/layout.ts'
import { takeLock } from '../store/lock.ts'
import { ENTRY_VERSION, readEntry } from './entry-file.ts'
import { folderOf, nameBytes, nameOfFolder } from './names.ts'
import type { BloomSpec, SieveSpec } from './registry.ts'

const FILE = 'server.json'
// No sieve has a folder whose name begins with a dot.
/** Folders that are being removed, and folders that are being created. */
const DROPPED = '.dropped-'
const CREATED = '.coming-'
/** Dumps and loads in progress. */
const TRANSFERS = '.transfers'

/** What `server.json` records of a sieve. */
export interface Entry {
  readonly name: string
  readonly spec: SieveSpec
  readonly bloom?: BloomSpec
  readonly createdAt: Date
}

/** A sieve whose entry cannot be read. Its name is derived from its folder, or is the folder's. */
export interface BadEntry {
  readonly name: string
  readonly folder: string
  readonly error: SieveError
}

export class DataFolder {
  readonly path: string
  readonly #release: () => void
  #created = 0
  #dropped = 0
  /** Folders that are being removed. */
  readonly #removals = new Set<Promise<void>>()

  /** Locks the folder for this process. */
  constructor(path: string) {
    this.path = path
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw diskError(path, error)
    }
    this.#release = takeLock(join(path, 'lock'))
  }

  /** Resolves when all removals have ended. */
  async cleared(): Promise<void> {
    while (this.#removals.size > 0) await Promise.all(this.#removals)
  }

  async release(): Promise<void> {
    await this.cleared()
    this.#release()
  }

  folderOf(name: string): string {
    return join(this.path, folderOf(name))
  }

  /** A folder for dumps and loads, emptied at start: only the process with the lock writes here. */
  get transfers(): string {
    return join(this.path, TRANSFERS)
  }

  /** The sieves in the folder. Removes what a crash left behind; other folders are left as they are. */
  entries(): { entries: Entry[]; bad: BadEntry[] } {
    const entries: Entry[] = []
    const bad: BadEntry[] = []
    for (const found of readdirSync(this.path, { withFileTypes: true })) {
      if (!found.isDirectory()) continue
      const folder = join(this.path, found.name)
      if (found.name.startsWith(DROPPED) || found.name.startsWith(CREATED)) void this.#clear(folder)
      else if (found.name === TRANSFERS) rmSync(folder, { recursive: true, force: true })
      else {
        try {
          const entry = entryIn(folder, found.name)
          if (entry) entries.push(entry)
        } catch (error) {
          bad.push({
            name: nameOfFolder(found.name) ?? found.name,
            folder,
            error: asSieveError(folder, error),
          })
        }
      }
    }
    entries.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
    return { entries, bad }
  }

  /** Whether the store of a sieve was created; it may be damaged. */
  isMade(name: string): boolean {
    const folder = this.folderOf(name)
    return existsSync(folder) && hasStore(folder)
  }

  /** Creates the folder of a sieve before its store; a .sieve file becomes its first snapshot. */
  async write({ name, spec, bloom, createdAt }: Entry, file?: string): Promise<void> {
    const folder = this.folderOf(name)
    const aside = join(this.path, `${CREATED}${process.pid}-${this.#created++}`)
    const text = { version: ENTRY_VERSION, name: nameBytes(name).toString('hex'), spec, bloom, createdAt }
    try {
      await mkdir(aside, { mode: 0o700 })
      if (file !== undefined) await putSynced(file, join(aside, snapshotName(1)))
      const entry = await open(join(aside, FILE), 'wx', 0o600)
      try {
        await entry.writeFile(`${JSON.stringify(text, null, 1)}\n`)
        await entry.sync()
      } finally {
        await entry.close()
      }
      await syncFolderLater(aside)
      await rename(aside, folder)
      await syncFolderLater(this.path).catch((error: unknown) => {
        renameSync(folder, aside)
        throw error
      })
    } catch (error) {
      await this.#clear(aside)
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
        throw diskError(folder, error)
      }
      throw new SieveError('disk', `cannot create ${folder}: it exists already; move it elsewhere`)
    }
  }

  /** Removes a sieve's folder: renames it, then deletes its files in the background. */
  async remove(folder: string): Promise<void> {
    const gone = join(this.path, `${DROPPED}${process.pid}-${this.#dropped++}`)
    try {
      renameSync(folder, gone)
    } catch (error) {
      throw diskError(folder, error)
    }
    try {
      await syncFolderLater(this.path)
    } catch (error) {
      renameSync(gone, folder)
      throw diskError(folder, error)
    }
    await this.#clear(gone)
  }

  // What cannot be removed is removed at the next start.
  #clear(folder: string): Promise<void> {
    const work: Promise<void> = rm(folder, { recursive: true, force: true })
      .catch(() => {})
      .finally(() => this.#removals.delete(work))
    this.#removals.add(work)
    return work
  }
}

const hasStore = (folder: string): boolean => {
  const { snapshots, logs } = listStore(folder)
  return snapshots.length + logs.length > 0
}

// Links the file; if the system cannot, for example from another device, copies it.
async function putSynced(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch {
    await copyFile(from, to)
  }
  const file = await open(to, 'r+')
  try {
    await file.chmod(0o600)
    await file.sync()
  } finally {
    await file.close()
  }
}

const asSieveError = (folder: string, error: unknown): SieveError =>
  error instanceof SieveError ? error : unreadable(folder, (error as Error).message)

// The entry of the sieve in a folder; null when the folder is not a sieve's.
function entryIn(folder: string, folderName: string): Entry | null {
  const path = join(folder, FILE)
  for (const name of readdirSync(folder)) if (name.startsWith(`${FILE}.draft-`)) rmSync(join(folder, name))
  if (!existsSync(path)) {
    const name = nameOfFolder(folderName)
    return name !== undefined && hasStore(folder) ? { name, spec: {}, createdAt: new Date() } : null
  }
  const entry = readEntry(path)
  if (folderOf(entry.name) === folderName) return entry
  throw new SieveError('corrupt', `${path} names the sieve '${entry.name}', whose folder has another name`)
}
