// The folder of a server with --data: one folder for each sieve, a store like any other, and in it `server.json` with
// what the store does not say. A sieve's folder is made aside and gets its name when all in it is on the disk; one that
// was written down and whose store was not made yet is made again, empty.
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
// No name of a sieve has a folder that begins with a dot.
/** Folders on their way out, and on their way in. */
const DROPPED = '.dropped-'
const COMING = '.coming-'
/** Dumps and loads that are under way. */
const TRANSFERS = '.transfers'

/** What is remembered of a sieve beside its store. */
export interface Entry {
  readonly name: string
  readonly spec: SieveSpec
  readonly bloom?: BloomSpec
  readonly createdAt: Date
}

/** A sieve whose entry cannot be read: its name is that of its folder, where the folder's tells no name. */
export interface BadEntry {
  readonly name: string
  readonly folder: string
  readonly error: SieveError
}

export class DataFolder {
  readonly path: string
  readonly #release: () => void
  #made = 0
  #dropped = 0
  /** Folders that are being removed. */
  readonly #removals = new Set<Promise<void>>()

  /** Takes the folder for this process; another server may not. */
  constructor(path: string) {
    this.path = path
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw diskError(path, error)
    }
    this.#release = takeLock(join(path, 'lock'))
  }

  /** Kept when all that is to be removed is gone. */
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

  /** A folder for dumps and loads, empty at the start: nobody else writes here while this process has the lock. */
  get transfers(): string {
    return join(this.path, TRANSFERS)
  }

  /** The sieves there. Clears away what a crash has left; folders that are none of ours are left alone. */
  entries(): { entries: Entry[]; bad: BadEntry[] } {
    const entries: Entry[] = []
    const bad: BadEntry[] = []
    for (const found of readdirSync(this.path, { withFileTypes: true })) {
      if (!found.isDirectory()) continue
      const folder = join(this.path, found.name)
      if (found.name.startsWith(DROPPED) || found.name.startsWith(COMING)) void this.#clear(folder)
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

  /** Whether the store of a name was made, be it damaged now. */
  isMade(name: string): boolean {
    const folder = this.folderOf(name)
    return existsSync(folder) && hasStore(folder)
  }

  /** Makes the folder of a sieve that is about to be made; with a .sieve file it begins with that. */
  async write({ name, spec, bloom, createdAt }: Entry, file?: string): Promise<void> {
    const folder = this.folderOf(name)
    const aside = join(this.path, `${COMING}${process.pid}-${this.#made++}`)
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
      throw new SieveError('disk', `cannot make ${folder}: something is there already; move it elsewhere`)
    }
  }

  /** Takes a sieve's folder away: first out of sight, then file by file, while others are served. */
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

  // What cannot be removed is tried again at the next start.
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

// The file goes on under another name where the system can do that; from another device it is copied.
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

// What is written down of the sieve in a folder; null when the folder is none of ours.
function entryIn(folder: string, folderName: string): Entry | null {
  const path = join(folder, FILE)
  for (const name of readdirSync(folder)) if (name.startsWith(`${FILE}.draft-`)) rmSync(join(folder, name))
  if (!existsSync(path)) {
    const name = nameOfFolder(folderName)
    return name !== undefined && hasStore(folder) ? { name, spec: {}, createdAt: new Date() } : null
  }
  const entry = readEntry(path)
  if (folderOf(entry.name) === folderName) return entry
  throw new SieveError('corrupt', `${path} is that of the sieve '${entry.name}': its folder has another name`)
}
