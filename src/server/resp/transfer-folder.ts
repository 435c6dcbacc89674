// Where dumps and loads lie: they hold secret keys, so it is for this user only. A server with --data has a place for them
// in its folder. Another has one under the system's temporary folder, with a lock in it that dies with the process: what
// a killed server left there is removed by the next.
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

  /** `given`: a folder that is ours alone, made when it is needed. */
  constructor(given: string | undefined) {
    this.#given = given
  }

  /** A path for one more file. */
  next(): string {
    this.#path ??= this.#make()
    return join(this.#path, String(this.#files++))
  }

  /** Removes it with all that is in it. */
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

/** Removes the temporary folders of servers of this user that are no more. */
export async function removeDeadFolders(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const path = join(tmpdir(), name)
    if (!name.startsWith(PREFIX) || !isDead(path)) continue
    await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}

// Sure only of a folder, no link, of this user's own, with a lock that nobody holds.
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
