// Limits of the HTTP server. Each has its own answer; docs/http.md lists them.

import { MOST_URL_BYTES } from '../url-limits.ts'

export interface HttpLimits {
  /** Bytes of a JSON body. Past it: 413. */
  readonly jsonBytes: number
  /** Bytes of one URL or line. Past it: 413. */
  readonly urlBytes: number
  /** URLs of one JSON request; a body of lines has no such limit. Past it: 413. */
  readonly urlsPerRequest: number
  /** Bytes of a request's first line and headers. Past it: 431. */
  readonly headerBytes: number
  /** Bytes of all incomplete JSON bodies. Past it: 503. */
  readonly bufferBytes: number
  /** Open connections. Past it: 503. */
  readonly connections: number
  /** Listeners of /v1/live. Past it: 503. */
  readonly listeners: number
  /** Time for the headers of a request to arrive. After it: 408. */
  readonly headersMs: number
  /** Time for a JSON body, or for the rest of a line, to arrive. After it: 408. */
  readonly bodyMs: number
  /** Time without a byte in either direction. After it the connection is closed. */
  readonly idleMs: number
  /** Time until the next request on a connection. After it the connection is closed. */
  readonly keepAliveMs: number
  /** Time for running requests when the server stops. After it they are aborted. */
  readonly graceMs: number
}

export const HTTP_LIMITS: HttpLimits = Object.freeze({
  jsonBytes: 16 * 1024 ** 2,
  urlBytes: MOST_URL_BYTES,
  urlsPerRequest: 100_000,
  headerBytes: 16 * 1024,
  bufferBytes: 256 * 1024 ** 2,
  connections: 1024,
  listeners: 64,
  headersMs: 10_000,
  bodyMs: 30_000,
  idleMs: 120_000,
  keepAliveMs: 60_000,
  graceMs: 5_000,
})
