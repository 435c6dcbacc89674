// The folder of a server with --data: one folder per sieve, which is a store, and in it `server.json` with what the store
// does not record. A sieve's folder is created under a temporary name and renamed once its contents are on disk; if the
// store itself was not created before a crash, it is created again, empty.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { copyFile, link, mkdir, open, rename, rm, statfs } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { SieveError, unreadable } from '../errors.ts'
import { diskError, syncFolderLater } from '../store/file.ts'
import { listStore, snapshotName } from '../store/layout.ts'
import { takeLock } from '../store/lock.ts'
import { ENTRY_VERSION, readEntry } from './entry-file.ts'
import { folderOf, nameBytes, nameOfFolder } from './names.ts'
import type { Purpose, SieveSpec, Storage } from './registry.ts'

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
  readonly purpose?: Purpose
  readonly createdAt: Date
  /** When it is dropped, in milliseconds since 1970. */
  readonly expiresAt?: number
  /** The name of its folder, when that does not follow from its own: it was renamed, or its first choice was taken. */
  readonly folder?: string
  /** The folder of the sieve that had its name before: a crash may have left it behind. */
  readonly replaces?: string
  /** An add created it: empty, it was never there. */
  readonly isByAdd?: boolean
}

/** The folder of a sieve, without its path. */
const folderIn = ({ name, folder }: Entry) => folder ?? folderOf(name)

/** A sieve whose entry cannot be read. Its name is derived from its folder, or is the folder's. */
export interface BadEntry {
  readonly name: string
  readonly folder: string
  readonly error: SieveError
}

export class DataFolder {
  readonly path: string
  /** Why the sieves can only be read: the disk refuses the lock. */
  readonly refusal: string | undefined
  readonly #release: () => void
  #created = 0
  #dropped = 0
  /** Folders that are being removed. */
  readonly #removals = new Set<Promise<void>>()
  /** Folders of sieves. */
  readonly #used = new Set<string>()

  /** Locks the folder for this process; on a disk that refuses writes, opens it for reading. */
  constructor(path: string) {
    this.path = path
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw diskError(path, error)
    }
    try {
      this.#release = takeLock(join(path, 'lock'))
    } catch (error) {
      if (!(error instanceof SieveError && error.code === 'disk')) throw error
      this.#release = () => {}
      this.refusal = readingOnly(error)
    }
  }

  /** Throws when the sieves can only be read. */
  checkWritable(): void {
    if (this.refusal !== undefined) throw new SieveError('disk', this.refusal)
  }

  /** Resolves when all removals have ended. */
  async cleared(): Promise<void> {
    while (this.#removals.size > 0) await Promise.all(this.#removals)
  }

  async release(): Promise<void> {
    await this.cleared()
    this.#release()
  }

  async storage(): Promise<Storage> {
    const where = { kind: 'folder', place: this.path } as const
    try {
      const { bsize, bavail, blocks } = await statfs(this.path)
      return { ...where, freeBytes: bavail * bsize, totalBytes: blocks * bsize }
    } catch {
      return where
    }
  }

  folderOf(entry: Entry): string {
    return join(this.path, folderIn(entry))
  }

  /** A folder for dumps and loads, emptied at start: only the process with the lock writes here. */
  get transfers(): string | undefined {
    return this.refusal === undefined ? join(this.path, TRANSFERS) : undefined
  }

  /** The sieves in the folder. Removes what a crash left behind; other folders are left as they are. */
  entries(): { entries: Entry[]; bad: BadEntry[] } {
    const entries: Entry[] = []
    const bad: BadEntry[] = []
    for (const found of readdirSync(this.path, { withFileTypes: true })) {
      if (!found.isDirectory()) continue
      const folder = join(this.path, found.name)
      if (found.name.startsWith(DROPPED) || found.name.startsWith(CREATED)) this.#tidy(folder)
      else if (found.name === TRANSFERS) this.#tidy(folder)
      else {
        try {
          if (this.refusal === undefined) removeDrafts(folder)
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
    const kept = entries.filter((entry) => !this.#isReplaced(entry, entries))
    kept.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
    for (const entry of kept) this.#used.add(folderIn(entry))
    const names = new Set(kept.map(({ name }) => name))
    return { entries: kept, bad: bad.map((one) => (names.has(one.name) ? withFolderName(one) : one)) }
  }

  // A crash came between the renaming of a sieve and the removal of the one that had its name: that one is removed now.
  #isReplaced(entry: Entry, all: readonly Entry[]): boolean {
    const folder = folderIn(entry)
    if (!all.some(({ name, replaces }) => replaces === folder && name === entry.name)) return false
    if (this.refusal !== undefined) return true
    const gone = this.#droppedName()
    renameSync(join(this.path, folder), gone)
    void this.#clear(gone)
    return true
  }

  /** Whether the store of a sieve was created; it may be damaged. */
  isMade(entry: Entry): boolean {
    const folder = this.folderOf(entry)
    return existsSync(folder) && hasStore(folder)
  }

  /**
   * Creates the folder of a sieve before its store; a .sieve file becomes its first snapshot. Returns the entry with its
   * folder: a renamed sieve may have the one that follows from the name.
   */
  async create(given: Entry, file?: string): Promise<Entry> {
    const own = folderOf(given.name)
    let name = own
    for (let i = 1; this.#used.has(name); i++) name = `${own}~${i}`
    const entry = name === own ? given : { ...given, folder: name }
    const folder = this.folderOf(entry)
    const aside = join(this.path, `${CREATED}${process.pid}-${this.#created++}`)
    this.#used.add(name)
    try {
      await mkdir(aside, { mode: 0o700 })
      if (file !== undefined) await putSynced(file, join(aside, snapshotName(1)))
      await writeSynced(join(aside, FILE), textOf(entry))
      await syncFolderLater(aside)
      await rename(aside, folder)
      await syncFolderLater(this.path).catch((error: unknown) => {
        renameSync(folder, aside)
        throw error
      })
      return entry
    } catch (error) {
      this.#used.delete(name)
      await this.#clear(aside)
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
        throw diskError(folder, error)
      }
      throw new SieveError('disk', `cannot create ${folder}: it exists already; move it elsewhere`)
    }
  }

  /** Replaces the entry of a sieve by this one, with the same folder: on disk before the promise resolves. */
  async rewrite(entry: Entry): Promise<void> {
    const folder = this.folderOf(entry)
    const draft = join(folder, `${FILE}.draft-${process.pid}-${this.#created++}`)
    try {
      await writeSynced(draft, textOf(entry))
      await rename(draft, join(folder, FILE))
      await syncFolderLater(folder)
    } catch (error) {
      await rm(draft, { force: true }).catch(() => {})
      throw diskError(folder, error)
    }
  }

  /** Removes a sieve's folder: renames it, then deletes its files in the background. */
  async remove(folder: string): Promise<void> {
    const gone = this.#droppedName()
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
    this.#used.delete(basename(folder))
    await this.#clear(gone)
  }

  #tidy(folder: string): void {
    if (this.refusal === undefined) void this.#clear(folder)
  }

  #droppedName(): string {
    return join(this.path, `${DROPPED}${process.pid}-${this.#dropped++}`)
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

function textOf({ name, purpose, ...rest }: Entry): string {
  const kind = purpose === 'set' ? { kind: purpose } : { bloom: purpose }
  const hex = nameBytes(name).toString('hex')
  const text = { version: ENTRY_VERSION, name: hex, ...kind, ...rest }
  return `${JSON.stringify(text, null, 1)}\n`
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A damaged sieve under the name of its folder: the name that follows from it is that of another sieve. */
const withFolderName = (bad: BadEntry): BadEntry => ({ ...bad, name: `damaged:${basename(bad.folder)}` })

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

function removeDrafts(folder: string): void {
  for (const name of readdirSync(folder)) if (name.startsWith(`${FILE}.draft-`)) rmSync(join(folder, name))
}

/** Why a sieve, or all of them, can only be read. */
export const readingOnly = ({ message }: Error) =>
  `${message}; what is there is answered, nothing is added: restart the server when the disk takes writes`

// The entry of the sieve in a folder; null when the folder is not a sieve's.
function entryIn(folder: string, folderName: string): Entry | null {
  const path = join(folder, FILE)
  if (!existsSync(path)) {
    const name = nameOfFolder(folderName)
    return name !== undefined && hasStore(folder) ? { name, spec: {}, createdAt: new Date() } : null
  }
  const entry = readEntry(path)
  if (folderIn(entry) === folderName) return entry
  throw new SieveError('corrupt', `${path} names the sieve '${entry.name}', whose folder has another name`)
}
