// Reports a disk that refuses writes until it accepts them again: tested once a second with a small file, because a server
// that is not ready may get no other write.
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
  /** Why the disk refuses writes, until it accepts them. */
  refusal: string | undefined

  constructor(faults: Faults, sieve: string, folder: string) {
    this.#faults = faults
    this.#sieve = sieve
    this.#folder = folder
  }

  /** Reports that the disk refused a write. */
  refused(message: string): void {
    if (this.#isClosed) return
    this.refusal = message
    this.#faults.begin('disk', message, this.#sieve)
    this.#schedule()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#try()
    }, EVERY_MS).unref()
  }

  async #try(): Promise<void> {
    const isWritable = await isWritableFolder(this.#folder)
    if (this.#isClosed) return
    if (!isWritable) {
      this.#schedule()
      return
    }
    this.refusal = undefined
    this.#faults.end('disk', this.#sieve)
  }
}

// The file is named as a draft of a snapshot, which opening the store removes if a crash left it behind.
async function isWritableFolder(folder: string): Promise<boolean> {
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
