// The files of a run that remembers: what was written to them is on the disk before the store that says so.
import type { Delivered } from '../journal.ts'

export class DeliveredFiles implements Delivered {
  readonly #files: readonly Delivered[]

  constructor(files: readonly Delivered[]) {
    this.#files = files
  }

  sync(): void {
    for (const file of this.#files) file.sync()
  }

  async syncLater(): Promise<void> {
    for (const file of this.#files) await file.syncLater()
  }
}
