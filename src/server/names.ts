// Names of sieves: any bytes over RESP, text over HTTP, a folder on disk. Each conversion is reversible, so two names never
// share a folder, even on file systems that ignore case.
import { createHash } from 'node:crypto'
import { SieveError } from '../errors.ts'

/** Longest name. */
export const MOST_NAME_BYTES = 200
const MOST_FOLDER_LETTERS = 200
/** Names of files in the data folder. */
const TAKEN = /^lock$/

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Bytes of a name that is not UTF-8 are stored as lone surrogates from here on, which no valid text contains. */
const ESCAPE = 0xdc00

/** The name for these bytes: their text or, if they are not UTF-8, with each byte past ASCII escaped. */
export function nameFrom(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    return String.fromCharCode(...Array.from(bytes, (byte) => (byte < 0x80 ? byte : ESCAPE + byte)))
  }
}

/** The bytes of a name. */
export function nameBytes(name: string): Buffer {
  if (!/\p{Surrogate}/u.test(name)) return Buffer.from(name)
  return Buffer.from(
    name.replaceAll(/[\udc80-\udcff]/gu, (c) => String.fromCharCode(c.charCodeAt(0) - ESCAPE)),
    'latin1',
  )
}

/** Throws a SieveError for an invalid name. */
export function checkName(name: string): void {
  const bytes = nameBytes(name)
  if (bytes.length === 0) throw new SieveError('option', 'the name is empty: expected a name for the sieve')
  if (bytes.length > MOST_NAME_BYTES) {
    throw new SieveError('option', `a name of ${bytes.length} bytes: expected at most ${MOST_NAME_BYTES}`)
  }
  if (nameFrom(bytes) !== name) throw new SieveError('option', 'the name is not valid text: expected UTF-8')
}

/** The error for a name that another sieve has. */
export function nameTaken(name: string): SieveError {
  return new SieveError('option', `the name '${name}' is taken: choose another, or drop that sieve first`)
}

/** The error for a sieve that was dropped while it is still in use. */
export function wasDropped(name: string): SieveError {
  return new SieveError('option', `the sieve '${name}' was dropped meanwhile: create it again`)
}

/**
 * The folder of a sieve: lower-case letters, digits, - and _ as they are, any other byte as %xx; for a long name its
 * digest. If a file has that name, the first letter is also written as %xx.
 */
export function folderOf(name: string): string {
  const bytes = nameBytes(name)
  const folder = Array.from(bytes, (byte) => {
    const letter = String.fromCharCode(byte)
    return /[a-z0-9_-]/.test(letter) ? letter : `%${byte.toString(16).padStart(2, '0')}`
  }).join('')
  if (TAKEN.test(folder)) return `%${bytes[0]!.toString(16)}${folder.slice(1)}`
  if (folder.length <= MOST_FOLDER_LETTERS) return folder
  return `~${createHash('sha256').update(bytes).digest('hex')}`
}

/** The inverse of `folderOf`; undefined for a digest or any other folder. */
export function nameOfFolder(folder: string): string | undefined {
  if (!/^(?:[a-z0-9_-]|%[0-9a-f]{2})+$/.test(folder)) return undefined
  const letters = folder.replaceAll(/%(..)/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return nameFrom(Buffer.from(letters, 'latin1'))
}
