// What urlsieve throws on purpose: one line that says what it got, what it expected and what to do.

export type SieveErrorCode =
  /** An option, or a combination of options, that cannot be. */
  | 'option'
  /** The machine, or one WebAssembly memory, has no room for what was asked. */
  | 'room'
  /** A file that is not what was written: damaged, or no sieve at all. */
  | 'corrupt'
  /** A file of a format version this urlsieve does not read. */
  | 'version'
  /** Another process is writing there. */
  | 'locked'
  /** The disk is full, read-only or broken. */
  | 'disk'
  /** A server or cluster that does not answer, or refuses. */
  | 'network'

export class SieveError extends Error {
  readonly code: SieveErrorCode
  /** Of a call with many URLs that failed on the way: the verdicts of its first ones, which stand. */
  answered?: Uint8Array
  constructor(code: SieveErrorCode, message: string) {
    super(message)
    this.name = 'SieveError'
    this.code = code
  }
}
