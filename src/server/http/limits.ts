// What the HTTP side takes at most. Each limit has its own answer; docs/http.md lists them.

export interface HttpLimits {
  /** Bytes of a JSON body. Past it: 413. */
  readonly jsonBytes: number
  /** Bytes of one URL or line. Past it: 413. */
  readonly urlBytes: number
  /** URLs of one JSON request; a body of lines has no end of its own. Past it: 413. */
  readonly urlsPerRequest: number
  /** Bytes of a request's first line and headers. Past it: 431. */
  readonly headerBytes: number
  /** Bytes of all JSON bodies that wait for their end. Past it: 503. */
  readonly bufferBytes: number
  /** Open connections. Past it: 503. */
  readonly connections: number
  /** Listeners of /v1/live. Past it: 503. */
  readonly listeners: number
  /** For the headers of a request to arrive. After it: 408. */
  readonly headersMs: number
  /** For a JSON body to arrive, or for a line that has begun to end. After it: 408. */
  readonly bodyMs: number
  /** For a connection on which nothing moves, either way. After it, it is cut. */
  readonly idleMs: number
  /** For the next request on a connection. After it, it is closed. */
  readonly keepAliveMs: number
  /** For running requests when the server stops. After it, they are cut. */
  readonly graceMs: number
}

export const HTTP_LIMITS: HttpLimits = Object.freeze({
  jsonBytes: 16 * 1024 ** 2,
  urlBytes: 64 * 1024,
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
