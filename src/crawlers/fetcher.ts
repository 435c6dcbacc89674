// HTTP requests within limits: bytes of the headers, bytes of the body before and after decoding, total seconds. Does not
// follow redirects: the caller checks each target. A body that exceeds a limit is cut, and `cut` is set.

import { setMaxListeners } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import type { LookupFunction } from 'node:net'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

export interface FetchLimits {
  /** Bytes of a body, before and after decoding. */
  readonly bodyBytes: number
  /** Bytes of all headers of a response. */
  readonly headerBytes: number
  /** From the request to the last byte of the body. */
  readonly timeoutMs: number
}

/** Why a body is incomplete. */
export type Cut = 'size' | 'time'

/** Nested encodings that are decoded; servers use one. */
const MOST_ENCODINGS = 2
/** Idle connections are closed after this time: a crawl of many hosts would keep one of each. */
const IDLE_MS = 3000
const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

export class Fetcher {
  readonly #userAgent: string
  readonly #limits: FetchLimits
  readonly #lookup: LookupFunction | undefined
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true, timeout: IDLE_MS }),
    'https:': new https.Agent({ keepAlive: true, timeout: IDLE_MS }),
  }
  readonly #end = new AbortController()

  constructor(userAgent: string, limits: FetchLimits, lookup?: LookupFunction) {
    this.#userAgent = userAgent
    this.#limits = limits
    this.#lookup = lookup
    // One listener per request in progress.
    setMaxListeners(0, this.#end.signal)
  }

  /** The response to a GET, before its body: read the body or `discard` it. Throws when there is none in time. */
  get(url: string, bodyBytes = this.#limits.bodyBytes): Promise<Answer> {
    const { timeoutMs, headerBytes } = this.#limits
    const { protocol } = new URL(url)
    if (protocol !== 'http:' && protocol !== 'https:') {
      return Promise.reject(new Error(`'${protocol}' cannot be fetched: expected http: or https:`))
    }
    const { request } = protocol === 'http:' ? http : https
    return new Promise((resolve, reject) => {
      const sent = request(url, {
        agent: this.#agents[protocol],
        headers: { 'user-agent': this.#userAgent, accept: ACCEPT, 'accept-encoding': 'gzip, br' },
        maxHeaderSize: headerBytes,
        signal: this.#end.signal,
        ...(this.#lookup && { lookup: this.#lookup }),
      })
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        sent.destroy()
      }, timeoutMs)
      sent.on('close', () => clearTimeout(timer))
      sent.on('error', (error) => {
        reject(new Error(isLate ? `no answer within ${timeoutMs / 1000} s` : reasonOf(error)))
      })
      sent.on('response', (response) => resolve(new Answer(response, bodyBytes, () => isLate)))
      sent.end()
    })
  }

  /** Aborts all requests in progress. */
  close(): void {
    this.#end.abort()
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }
}

export class Answer {
  readonly status: number
  /** Why `body` was cut. */
  cut: Cut | null = null
  readonly #response: http.IncomingMessage
  readonly #bodyBytes: number
  readonly #isLate: () => boolean

  constructor(response: http.IncomingMessage, bodyBytes: number, isLate: () => boolean) {
    this.status = response.statusCode ?? 0
    this.#response = response
    this.#bodyBytes = bodyBytes
    this.#isLate = isLate
    // Without a listener an error after the last read would end the process.
    response.on('error', () => {})
  }

  get contentType(): string {
    return this.#response.headers['content-type'] ?? ''
  }

  /** The target of a redirect as the server wrote it; browsers read it as UTF-8. */
  get location(): string | undefined {
    const { location } = this.#response.headers
    return location && Buffer.from(location, 'latin1').toString()
  }

  /** The values of X-Robots-Tag, one per header. */
  get robotsTags(): readonly string[] {
    return this.#response.headersDistinct['x-robots-tag'] ?? []
  }

  /** Closes the connection without reading the body. */
  discard(): void {
    this.#response.destroy()
  }

  /** The decoded body in chunks, cut at the limits. Throws when the connection breaks or the encoding is damaged. */
  async *body(): AsyncGenerator<Buffer> {
    const decoders = this.#decoders()
    const most = this.#bodyBytes
    let wireBytes = 0
    this.#response.on('data', (piece: Buffer) => {
      wireBytes += piece.length
      // A decoder can consume input without output.
      if (wireBytes <= most || decoders.length === 0) return
      this.cut ??= 'size'
      this.#response.destroy()
    })
    // The callback only receives errors, which the loop below gets too.
    const source = decoders.reduce<Readable>(
      (from, to) => pipeline(from, to, () => {}) as Transform,
      this.#response,
    )
    let bytes = 0
    try {
      for await (const piece of source as AsyncIterable<Buffer>) {
        const room = most - bytes
        bytes += piece.length
        if (piece.length > room) {
          this.cut = 'size'
          if (room > 0) yield piece.subarray(0, room)
          return
        }
        yield piece
      }
    } catch (error) {
      if (this.#isLate()) this.cut ??= 'time'
      if (this.cut === null) throw new Error(reasonOf(error))
    } finally {
      this.#response.destroy()
    }
  }

  #decoders(): Transform[] {
    const names = (this.#response.headers['content-encoding'] ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && name !== 'identity')
    if (names.length > MOST_ENCODINGS) {
      this.discard()
      throw new Error(`${names.length} content encodings: expected at most ${MOST_ENCODINGS}`)
    }
    return names.reverse().map((name) => {
      const unpacker = unpackerOf(name)
      if (unpacker) return unpacker
      this.discard()
      throw new Error(`content encoding '${name.slice(0, 40)}': expected gzip, deflate or br`)
    })
  }
}

// An encoded stream that ends early is decoded as far as possible, as in browsers.
function unpackerOf(name: string): Transform | null {
  const zlib = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
  if (name === 'gzip' || name === 'x-gzip') return createGunzip(zlib)
  if (name === 'deflate') return createInflate(zlib)
  if (name !== 'br') return null
  const flush = constants.BROTLI_OPERATION_FLUSH
  return createBrotliDecompress({ flush, finishFlush: flush })
}

/** One line. An error of several addresses has messages only in its parts. */
function reasonOf(error: unknown): string {
  const { message, errors, code } = error as Error & { errors?: Error[]; code?: string }
  return (message || errors?.[0]?.message || code || 'no answer').split('\n')[0]!
}
