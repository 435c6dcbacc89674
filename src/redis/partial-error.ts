// The error of a call that the cluster answered in part.
import { SieveError } from '../errors.ts'

/** The verdict of a URL whose call failed: it may be marked or not. */
export const UNKNOWN = 2

/**
 * A call that the cluster did not answer whole. `answered` has the first answers, which stand, as everywhere;
 * `verdicts` has all that are known and 2 for the others: those may be marked or not, so treat them as "new".
 */
export class RedisSieveError extends SieveError {
  readonly verdicts: Uint8Array
  constructor(cause: SieveError, verdicts: Uint8Array) {
    super(cause.code, cause.wording, cause)
    this.name = 'RedisSieveError'
    this.verdicts = verdicts
    const first = verdicts.indexOf(UNKNOWN)
    this.answered = verdicts.slice(0, first < 0 ? verdicts.length : first)
  }
}

/** The verdict of a URL whose tag others have left: it is to be asked for elsewhere. */
export const LEFT = 3

/** A tag that others have left: the sieve has more tags than this process knows of. */
export class LeftTagError extends SieveError {
  constructor() {
    super('network', 'the sieve has more tags now: open it again')
  }
}
