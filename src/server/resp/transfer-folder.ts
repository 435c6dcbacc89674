// The folder of dumps and loads, readable by this user only: the files contain secret keys. With --data it is in the data
// folder. Without, it is in the system's temporary folder, with a lock that ends with the process: the next server removes
// what a killed one left behind.
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskError } from '../../store/file.ts'
import { takeLock } from '../../store/lock.ts'

const PREFIX = 'urlsieve-dumps-'
const LOCK = 'lock'

export class TransferFolder {
  readonly #given: string | undefined
  #path: string | undefined
  #release: () => void = () => {}
  #files = 0

  /** `given`: a folder that only this server uses, created on first use. */
  constructor(given: string | undefined) {
    this.#given = given
  }

  /** The path of a new file. */
  next(): string {
    this.#path ??= this.#make()
    return join(this.#path, String(this.#files++))
  }

  /** Removes the folder and everything in it. */
  async close(): Promise<void> {
    if (this.#path === undefined) return
    this.#release()
    await rm(this.#path, { recursive: true, force: true })
    this.#path = undefined
  }

  #make(): string {
    const given = this.#given
    try {
      if (given !== undefined) {
        mkdirSync(given, { recursive: true, mode: 0o700 })
        return given
      }
      const path = mkdtempSync(join(tmpdir(), PREFIX))
      this.#release = takeLock(join(path, LOCK))
      return path
    } catch (error) {
      throw diskError(given ?? tmpdir(), error)
    }
  }
}

/** Removes the temporary folders of this user's servers that no longer run. */
export async function removeDeadFolders(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const path = join(tmpdir(), name)
    if (!name.startsWith(PREFIX) || !isDead(path)) continue
    await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}

// Only a folder, not a link, that this user owns and whose lock is free.
function isDead(path: string): boolean {
  try {
    const found = lstatSync(path)
    if (!found.isDirectory() || found.uid !== process.getuid?.()) return false
    if (!existsSync(join(path, LOCK))) return false
    takeLock(join(path, LOCK))()
    return true
  } catch {
    return false
  }
}
