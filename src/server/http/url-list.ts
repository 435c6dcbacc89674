// Reads the body {"urls": […]} as items directly from its bytes: URLs rarely contain an escape, so no strings are needed.
// Any other body goes through JSON.parse and the schema.
import { isUtf8 } from 'node:buffer'
import type { Items } from '../../index.ts'
import type { HttpLimits } from './limits.ts'
import { Problem } from './problems.ts'

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const OPEN = 0x5b
const BACKSLASH = 0x5c
const CLOSE = 0x5d
/** "urls" with its quotes. */
const NAME = Buffer.from('"urls"')

export class UrlLists {
  readonly #urlBytes: number
  readonly #most: number
  readonly #starts: Uint32Array
  readonly #ends: Uint32Array

  constructor({ urlBytes, urlsPerRequest }: HttpLimits) {
    this.#urlBytes = urlBytes
    this.#most = urlsPerRequest
    this.#starts = new Uint32Array(urlsPerRequest)
    this.#ends = new Uint32Array(urlsPerRequest)
  }

  /** The items of a plain {"urls": […]}; null for any other body, valid or not. Throws a Problem past a limit. */
  read(body: Buffer): Items | null {
    // Without escapes and line breaks a string ends at the next quote, which indexOf finds quickly.
    if (body.includes(BACKSLASH) || hasControls(body) || !isUtf8(body)) return null
    let p = after(body, blanks(body, 0), 0x7b)
    if (p < 0) return null
    p = blanks(body, p)
    for (let i = 0; i < NAME.length; i++) if (body[p++] !== NAME[i]) return null
    p = after(body, blanks(body, p), 0x3a)
    if (p < 0) return null
    p = after(body, blanks(body, p), OPEN)
    if (p < 0) return null
    const n = this.#strings(body, p)
    if (n < 0) return null
    return { bytes: body, starts: this.#starts.slice(0, n), ends: this.#ends.slice(0, n) }
  }

  // Reads the strings of the array at `p` and the end of the body. Returns their number, or -1.
  #strings(body: Buffer, p: number): number {
    const starts = this.#starts
    const ends = this.#ends
    let n = 0
    p = blanks(body, p)
    if (body[p] === CLOSE) return endsAt(body, p + 1) ? 0 : -1
    for (;;) {
      if (body[p++] !== QUOTE) return -1
      if (n === this.#most) throw this.#tooMany()
      const end = body.indexOf(QUOTE, p)
      if (end < 0) return -1
      if (end - p > this.#urlBytes) throw this.#tooLong(n, end - p)
      starts[n] = p
      ends[n++] = end
      p = blanks(body, end + 1)
      const next = body[p++]
      if (next === CLOSE) return endsAt(body, p) ? n : -1
      if (next !== COMMA) return -1
      p = blanks(body, p)
    }
  }

  /** Throws a Problem for too many strings, or one that is too long or has a lone surrogate. */
  check(urls: readonly string[], before = 0): void {
    if (before + urls.length > this.#most) throw this.#tooMany()
    for (const [at, url] of urls.entries()) {
      const i = before + at
      const bytes = Buffer.byteLength(url)
      if (bytes > this.#urlBytes) throw this.#tooLong(i, bytes)
      // All lone surrogates are encoded alike, so different URLs would get the same key: an error towards "seen".
      if (/\p{Surrogate}/u.test(url)) {
        throw new Problem(400, `body/urls/${i}: half a character (a lone surrogate); expected whole ones`)
      }
    }
  }

  /** The same items from strings; `before`: the number of URLs of the list before them. */
  encode(urls: readonly string[], before = 0): Items {
    this.check(urls, before)
    const bytes = Buffer.from(urls.join(''))
    const starts = new Uint32Array(urls.length)
    const ends = new Uint32Array(urls.length)
    let used = 0
    for (let i = 0; i < urls.length; i++) {
      starts[i] = used
      used += Buffer.byteLength(urls[i]!)
      ends[i] = used
    }
    return { bytes, starts, ends }
  }

  #tooMany(): Problem {
    return new Problem(413, `more than ${this.#most} URLs: send fewer per request, or lines as text/plain`)
  }

  #tooLong(at: number, bytes: number): Problem {
    return new Problem(413, `body/urls/${at}: ${bytes} bytes; expected at most ${this.#urlBytes}`)
  }
}

/** Joins the items of a list that was read in parts. */
export function joinItems(parts: readonly Items[]): Items {
  const count = parts.reduce((sum, { starts }) => sum + starts.length, 0)
  const all = {
    bytes: Buffer.concat(parts.map(({ bytes }) => bytes)),
    starts: new Uint32Array(count),
    ends: new Uint32Array(count),
  }
  let [n, at] = [0, 0]
  for (const { bytes, starts, ends } of parts) {
    for (let i = 0; i < starts.length; i++, n++) {
      all.starts[n] = at + starts[i]!
      all.ends[n] = at + ends[i]!
    }
    at += bytes.length
  }
  return all
}

/** Whether any byte is a control character: four bytes per step, by the borrow from a byte's top bit. */
function hasControls(body: Buffer): boolean {
  const { buffer, byteOffset, length } = body
  const skipped = Math.min(length, -byteOffset & 3)
  const words = new Int32Array(buffer, byteOffset + skipped, (length - skipped) >> 2)
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    if (((word - 0x20202020) & ~word & 0x80808080) !== 0) return true
  }
  for (let i = 0; i < skipped; i++) if (body[i]! < SPACE) return true
  for (let i = skipped + words.length * 4; i < length; i++) if (body[i]! < SPACE) return true
  return false
}

function blanks(body: Uint8Array, p: number): number {
  while (body[p] === SPACE) p++
  return p
}

// The offset after the byte `wanted` if it is at `p`; else -1.
const after = (body: Uint8Array, p: number, wanted: number) => (body[p] === wanted ? p + 1 : -1)

// Whether only a closing brace follows.
function endsAt(body: Uint8Array, p: number): boolean {
  p = after(body, blanks(body, p), 0x7d)
  return p > 0 && blanks(body, p) === body.length
}
