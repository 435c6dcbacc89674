// A body of lines, streamed in both directions: each chunk of the request is split into lines, passed to the sieve as one
// batch, and answered before the next chunk is read. Memory is one chunk and one incomplete line.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Items, keepLines, SieveError } from '../../index.ts'
import { Pace } from '../../store/pace.ts'
import type { Unread } from '../unread.ts'
import { BodyChunks } from './body-chunks.ts'
import type { HttpLimits } from './limits.ts'
import { Problem, problemOf } from './problems.ts'

/** The answer: the lines with this verdict, a JSON object per line, or the counts at the end. */
export type LineAnswer =
  | { readonly as: 'text'; readonly keep: 'new' | 'seen' }
  | { readonly as: 'ndjson' }
  | { readonly as: 'counts' }

/** Verdicts of lines: 1 new, 0 seen. */
export type AskLines = (items: Items) => Uint8Array | Promise<Uint8Array>
/** Forgets lines that were new and whose answer was not sent. */
export type RetractLines = (items: Items) => unknown

const NEWLINE = 10
/** How long the headers wait for a first line to be sent with them. */
const HEADERS_MS = 20
const NOTHING = Buffer.alloc(0)

export class LineExchange {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #limits: HttpLimits
  readonly #answer: LineAnswer
  readonly #headers: Readonly<Record<string, string>>
  readonly #unread: Unread
  /** Bytes of `#rest` in use: an incomplete line. */
  #restBytes = 0
  #rest = NOTHING
  #lines = 0
  #fresh = 0
  #headersSoon: NodeJS.Timeout | undefined
  /** Answers to be written before more is read. */
  #out: Uint8Array[] = []
  /** The new lines in them, and those in answers that the system has not taken yet. */
  #fresher: Items[] = []
  readonly #unsent = new Set<Items>()
  readonly #retract: RetractLines | undefined

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    limits: HttpLimits,
    answer: LineAnswer,
    headers: Readonly<Record<string, string>>,
    unread: Unread,
    retract?: RetractLines,
  ) {
    this.#unread = unread
    // Counts come at the end, and of the seen lines the new ones are not sent: then no line waits for its answer.
    const sendsNew = answer.as === 'ndjson' || (answer.as === 'text' && answer.keep === 'new')
    this.#retract = sendsNew ? retract : undefined
    this.#request = request
    this.#response = response
    this.#limits = limits
    this.#answer = answer
    this.#headers = headers
  }

  /**
   * Throws an error that occurs before the first answer. A later error is returned, and the answer is cut off, so that
   * the client notices that it is incomplete. Returns when the answer has left this process, or cannot.
   */
  async run(ask: AskLines): Promise<unknown> {
    const response = this.#response
    const over = new Promise<void>((resolve) => {
      response.once('finish', resolve).once('close', resolve)
      if (response.destroyed) resolve()
    })
    const error = await this.#exchange(ask)
    try {
      await this.#settle(over)
      return error
    } catch (failure) {
      return error ?? failure // the sieve may have been dropped
    }
  }

  async #exchange(ask: AskLines): Promise<unknown> {
    const response = this.#response
    try {
      const chunks = new BodyChunks(this.#request, this.#limits.bodyMs)
      // Many chunks may be available without waiting: other clients are served in between.
      const pace = new Pace()
      for (;;) {
        await pace.rest()
        const chunk = await chunks.next(this.#restBytes > 0)
        if (chunk === null) break
        const items = this.#cut(chunk)
        if (!items) continue
        chunks.lineEnded()
        await this.#ask(items, ask)
        if (!chunks.isLast) await this.#write()
      }
      if (this.#restBytes > 0) {
        const bytes = this.#joined(NOTHING)
        const items = { bytes, starts: Uint32Array.of(0), ends: Uint32Array.of(bytes.length) }
        await this.#ask(items, ask)
      }
    } catch (error) {
      if (!response.headersSent && this.#lines === 0) throw error
      this.#cutShort(error)
      return error
    } finally {
      clearTimeout(this.#headersSoon)
    }
    this.#begin()
    if (this.#answer.as === 'counts') {
      this.#out.push(
        Buffer.from(
          JSON.stringify({ lines: this.#lines, new: this.#fresh, seen: this.#lines - this.#fresh }),
        ),
      )
    }
    const isSent = this.#sending()
    response.end(this.#drain(), isSent)
    return null
  }

  // New lines whose answer was not sent when the connection broke are forgotten: no one got them.
  async #settle(over: Promise<void>): Promise<void> {
    if (!this.#retract) return
    await over
    for (const items of [...this.#unsent, ...this.#fresher]) await this.#retract(items)
  }

  // The new lines of the answers that are written next; to be called when the system has taken them.
  #sending(): (error?: Error | null) => void {
    const lines = this.#fresher
    this.#fresher = []
    for (const items of lines) this.#unsent.add(items)
    return (error) => {
      if (!error) for (const items of lines) this.#unsent.delete(items)
    }
  }

  // The complete lines of the rest and this chunk; what follows the last newline becomes the rest.
  #cut(chunk: Buffer): Items | null {
    const last = chunk.lastIndexOf(NEWLINE)
    if (last < 0) {
      this.#wait(chunk, this.#lines)
      return null
    }
    const bytes = this.#joined(chunk.subarray(0, last + 1))
    const starts: number[] = []
    const ends: number[] = []
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(NEWLINE, start)
      if (end - start > this.#limits.urlBytes) throw this.#tooLong(this.#lines + ends.length)
      starts.push(start)
      ends.push(end)
      start = end + 1
    }
    this.#wait(chunk.subarray(last + 1), this.#lines + ends.length)
    return { bytes, starts: new Uint32Array(starts), ends: new Uint32Array(ends) }
  }

  #joined(chunk: Buffer): Buffer {
    if (this.#restBytes === 0) return chunk
    const all = Buffer.concat([this.#rest.subarray(0, this.#restBytes), chunk])
    this.#restBytes = 0
    return all
  }

  // Copies: the chunk may be a thousand times larger.
  #wait(bytes: Buffer, line: number): void {
    const size = this.#restBytes + bytes.length
    if (size > this.#limits.urlBytes) throw this.#tooLong(line)
    if (size > this.#rest.length) {
      this.#rest = Buffer.concat(
        [this.#rest.subarray(0, this.#restBytes)],
        Math.max(size, 2 * this.#rest.length),
      )
    }
    this.#rest.set(bytes, this.#restBytes)
    this.#restBytes = size
  }

  #tooLong(line: number): Problem {
    return new Problem(
      413,
      `line ${line + 1} is longer than ${this.#limits.urlBytes} bytes: expected one URL per line`,
    )
  }

  // A batch that fails has the verdicts of its first lines, which stand.
  async #ask(items: Items, ask: AskLines): Promise<void> {
    try {
      this.#take(items, await ask(items))
    } catch (error) {
      if (error instanceof SieveError && error.answered) this.#take(items, error.answered)
      throw error
    }
  }

  // Counts the verdicts and appends the answers.
  #take(items: Items, verdicts: Uint8Array): void {
    this.#lines += verdicts.length
    for (let i = 0; i < verdicts.length; i++) this.#fresh += verdicts[i]!
    const answer = this.#answer
    if (answer.as === 'counts') return
    if (this.#retract && verdicts.includes(1)) this.#fresher.push(newOf(items, verdicts))
    const isText = answer.as === 'text'
    this.#out.push(
      isText ? keepLines({ lines: items.bytes, verdicts }, answer.keep) : encodeObjects(items, verdicts),
    )
  }

  #drain(): Uint8Array {
    const out = this.#out.length === 1 ? this.#out[0]! : Buffer.concat(this.#out)
    this.#out = []
    return out
  }

  async #write(): Promise<void> {
    this.#begin()
    const out = this.#drain()
    if (out.length === 0) this.#headersSoon ??= setTimeout(() => this.#response.flushHeaders(), HEADERS_MS)
    else if (!this.#response.write(out, this.#sending())) {
      this.#unread.wrote(this.#response, out.length)
      await this.#drained()
    }
  }

  #begin(): void {
    if (this.#response.headersSent) return
    const types = {
      text: 'text/plain; charset=utf-8',
      ndjson: 'application/x-ndjson',
      counts: 'application/json',
    }
    this.#response.writeHead(200, { ...this.#headers, 'content-type': types[this.#answer.as] })
  }

  async #drained(): Promise<void> {
    const response = this.#response
    const gone = new AbortController()
    const stop = () => gone.abort()
    response.once('close', stop)
    try {
      if (response.destroyed) stop()
      await once(response, 'drain', { signal: gone.signal })
    } catch {
      throw new Problem(400, 'the client has disconnected')
    } finally {
      response.off('close', stop)
    }
  }

  // The last line of NDJSON is the problem; the missing last chunk shows every client that the answer is incomplete.
  #cutShort(error: unknown): void {
    const response = this.#response
    const problem = problemOf(error)
    if (this.#answer.as === 'ndjson' && problem) this.#out.push(Buffer.from(`${problem.text}\n`))
    this.#begin()
    if (response.writable) response.write(this.#drain(), this.#sending())
    if (response.socket) response.socket.destroySoon()
    else response.destroy()
  }
}

const newOf = ({ bytes, starts, ends }: Items, verdicts: Uint8Array): Items => ({
  bytes,
  starts: starts.filter((_, i) => verdicts[i] === 1),
  ends: ends.filter((_, i) => verdicts[i] === 1),
})

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function encodeObjects({ bytes, starts, ends }: Items, verdicts: Uint8Array): Buffer {
  let out = ''
  for (let i = 0; i < verdicts.length; i++) {
    const url = JSON.stringify(decoder.decode(bytes.subarray(starts[i], ends[i])))
    out += `{"url":${url},"verdict":"${verdicts[i] === 1 ? 'new' : 'seen'}"}\n`
  }
  return Buffer.from(out)
}
