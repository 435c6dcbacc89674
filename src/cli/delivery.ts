// What a sieve remembers across runs must have reached the reader. When the output fails, the new URLs of the batch that
// were not written are forgotten again where the filter can delete; where it cannot, one line reports how many are left.

import { formatCounted } from '../quantities.ts'
import { type Output, writeStderr } from './output.ts'

/** Forgets a URL; false when it was not remembered. */
export type Forget = (url: string) => boolean | Promise<boolean>

/** An output of new lines that keeps those whose writing failed. */
export class Delivery {
  readonly #output: Output
  #unwritten: Uint8Array = new Uint8Array(0)

  constructor(output: Output) {
    this.#output = output
  }

  /** New lines, each with its newline. */
  write(lines: Uint8Array): void {
    try {
      this.#output.write(lines)
    } catch (error) {
      // A line that was written in part does not reach the reader.
      this.#unwritten = lines.slice(lines.subarray(0, this.#output.written).lastIndexOf(10) + 1)
      throw error
    }
  }

  /** Forgets what was not written. Without `forget`, or where it fails, reports how many URLs are left. */
  async takeBack(forget: Forget | undefined): Promise<void> {
    const lines = this.#unwritten
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    let left = 0
    for (let at = 0; at < lines.length; ) {
      const newline = lines.indexOf(10, at)
      const end = newline < 0 ? lines.length : newline
      try {
        // A line that is not UTF-8 has no string to delete it by.
        if (!(await forget?.(decoder.decode(lines.subarray(at, end))))) left++
      } catch {
        left++
      }
      at = end + 1
    }
    warnOfUnwritten(left)
  }
}

/** Reports how many URLs are remembered that were not written, unless there are none. */
export function warnOfUnwritten(urls: number): void {
  if (urls === 0) return
  writeStderr(
    `urlsieve: warning: ${formatCounted(urls, 'new URL is remembered but was', 'new URLs are remembered but were')} not written: to get ${urls === 1 ? 'it' : 'them'}, run again with an empty --state folder\n`,
  )
}
