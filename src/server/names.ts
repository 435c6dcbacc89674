// Names of sieves: any bytes over RESP, text over HTTP, a folder on the disk. Each step can be undone, so two names
// never meet in one folder, on file systems that ignore case neither.
import { createHash } from 'node:crypto'
import { SieveError } from '../errors.ts'

/** A name's bytes at most. */
export const MOST_NAME_BYTES = 200
const MOST_FOLDER_LETTERS = 200
/** Names of files in the data folder, which no sieve's folder may have. */
const TAKEN = /^lock$/

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Bytes that are no UTF-8 are written as these lone surrogates, which no text has. */
const ESCAPE = 0xdc00

/** The name that bytes are: their text, or, where they are no UTF-8, each byte past ASCII escaped. */
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

/** Throws one line for a name that cannot be. */
export function checkName(name: string): void {
  const bytes = nameBytes(name)
  if (bytes.length === 0) throw new SieveError('option', 'the name is empty: expected a name for the sieve')
  if (bytes.length > MOST_NAME_BYTES) {
    throw new SieveError('option', `a name of ${bytes.length} bytes: expected at most ${MOST_NAME_BYTES}`)
  }
  if (nameFrom(bytes) !== name) throw new SieveError('option', 'the name is no text: expected UTF-8')
}

/** One line for the name of a sieve that is there. */
export function nameTaken(name: string): SieveError {
  return new SieveError('option', `the name '${name}' is taken: choose another, or drop that sieve first`)
}

/** One line for a sieve that was dropped while someone still uses it. */
export function wasDropped(name: string): SieveError {
  return new SieveError('option', `the sieve '${name}' was dropped meanwhile: begin again`)
}

/**
 * The folder of a name: small letters, digits, - and _ as they are, any other byte as %xx; a long one by its digest. The
 * first letter of a name that a file has is written as %xx too.
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

/** The name of a folder that `folderOf` made; undefined for any other. */
export function nameOfFolder(folder: string): string | undefined {
  if (!/^(?:[a-z0-9_-]|%[0-9a-f]{2})+$/.test(folder)) return undefined
  const letters = folder.replaceAll(/%(..)/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return nameFrom(Buffer.from(letters, 'latin1'))
}
