// How long a URL may be: its profile works on it in one step, which no other client may have to wait for.
import { SieveError } from '../errors.ts'

/** Bytes of a URL that is added, looked for or forgotten. */
export const MOST_URL_BYTES = 64 * 1024
/** Bytes of a URL that is explained: each rule of its profile shows what it made of it. */
export const MOST_EXPLAINED_BYTES = 16 * 1024

/** Throws a SieveError for a URL that is too long. */
export function checkUrlBytes(bytes: number, most = MOST_URL_BYTES): void {
  if (bytes <= most) return
  const what = most === MOST_EXPLAINED_BYTES ? ' to be explained' : ''
  throw new SieveError('option', `a URL of ${bytes} bytes: expected at most ${most}${what}`)
}

export function checkExplained(url: string): void {
  checkUrlBytes(Buffer.byteLength(url), MOST_EXPLAINED_BYTES)
}
