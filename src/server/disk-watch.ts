// A store whose disk refused a write, until the disk takes one again: tried once a second with a small file, since a server
// that is not ready for this reason may get no other write that would tell.
import { open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Faults } from './faults.ts'

const EVERY_MS = 1000
/** Enough for the next records of a log. */
const TRIAL_BYTES = 64 * 1024

export class DiskWatch {
  readonly #faults: Faults
  readonly #sieve: string
  readonly #folder: string
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(faults: Faults, sieve: string, folder: string) {
    this.#faults = faults
    this.#sieve = sieve
    this.#folder = folder
  }

  /** The disk refused a write. */
  refused(message: string): void {
    if (this.#isClosed) return
    this.#faults.begin('disk', message, this.#sieve)
    this.#later()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#try()
    }, EVERY_MS).unref()
  }

  async #try(): Promise<void> {
    const isWritable = await takesWrites(this.#folder)
    if (this.#isClosed) return
    if (isWritable) this.#faults.end('disk', this.#sieve)
    else this.#later()
  }
}

// The file is named as a draft of a snapshot: one that a crash left behind is cleared away when the store is opened.
async function takesWrites(folder: string): Promise<boolean> {
  const path = join(folder, `snapshot-trial.draft-${process.pid}`)
  try {
    const file = await open(path, 'w', 0o600)
    try {
      await file.writeFile(Buffer.alloc(TRIAL_BYTES))
      await file.sync()
    } finally {
      await file.close()
    }
    return true
  } catch {
    return false
  } finally {
    await unlink(path).catch(() => {})
  }
}
