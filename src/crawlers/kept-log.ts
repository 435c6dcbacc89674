// The URLs that limits by shape have kept, in a file of the crawl's folder: read again when the crawl is continued, so that
// its limits go on counting. Appended in batches without waiting for the disk: what a crash loses is counted again, which
// errs towards "new".
import { closeSync, ftruncateSync, readSync } from 'node:fs'
import { openOwn, writeFully } from '../store/file.ts'

const NEWLINE = 10
const CHUNK_BYTES = 1024 * 1024

export class KeptLog {
  readonly #fd: number
  #end = 0

  /** Opens or creates the file. Call `read` next. */
  constructor(path: string) {
    this.#fd = openOwn(path, 'a+')
  }

  /** Every URL of earlier runs; a last line that is not whole is removed. */
  read(take: (url: string) => void): void {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    const decoder = new TextDecoder()
    let rest = ''
    let at = 0
    for (;;) {
      const bytes = readSync(this.#fd, chunk, 0, CHUNK_BYTES, at)
      if (bytes === 0) break
      const last = chunk.subarray(0, bytes).lastIndexOf(NEWLINE)
      if (last >= 0) this.#end = at + last + 1
      at += bytes
      const lines = (rest + decoder.decode(chunk.subarray(0, bytes), { stream: true })).split('\n')
      rest = lines.pop()!
      for (const line of lines) if (line !== '') take(line)
    }
    if (at > this.#end) ftruncateSync(this.#fd, this.#end)
  }

  append(urls: readonly string[]): void {
    if (urls.length > 0) writeFully(this.#fd, Buffer.from(`${urls.join('\n')}\n`))
  }

  close(): void {
    closeSync(this.#fd)
  }
}
