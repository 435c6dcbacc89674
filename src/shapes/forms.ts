// The form of one value of a URL (a segment of its path, or the value of a parameter), found from its bytes alone. A value
// of a variable form is a place from the first URL on; the others are literals until the data show a place.

export const FORMS = [
  'empty',
  'word',
  'name',
  'text',
  'number',
  'year',
  'date',
  'uuid',
  'hash',
  'token',
  'locale',
  'version',
  'slug',
  'rest',
  'repeat',
] as const

export type Form = (typeof FORMS)[number]

/** The numbers of the forms, as they stand in byte arrays. */
export const FORM = Object.fromEntries(FORMS.map((form, i) => [form, i])) as Readonly<Record<Form, number>>

/** Forms from this one on are variable by themselves. */
export const FIRST_VARIABLE = FORM.number

const { empty, word, name, text, number, year, date, uuid, hash, token, locale, version, slug } = FORM

const DIGIT = 1
const HEX = 2
const LOWER = 4
const UPPER = 8
const HYPHEN = 16
const JOIN = 32 // _ and +
const DOT = 64
const OTHER = 128
/** Where a value can end. */
export const STOP = { slash: 256, question: 512, hash: 1024, and: 2048, semicolon: 4096 } as const

const kinds = new Uint16Array(256).fill(OTHER)
for (let b = 48; b < 58; b++) kinds[b] = DIGIT
for (let b = 97; b < 123; b++) kinds[b] = b < 103 ? HEX | LOWER : LOWER
for (let b = 65; b < 91; b++) kinds[b] = b < 71 ? HEX | UPPER : UPPER
kinds[45] = HYPHEN
kinds[95] = JOIN
kinds[43] = JOIN
kinds[46] = DOT
kinds[47] = OTHER | STOP.slash
kinds[63] = OTHER | STOP.question
kinds[35] = OTHER | STOP.hash
kinds[38] = OTHER | STOP.and
kinds[59] = OTHER | STOP.semicolon

/** Hexadecimal values from this length on that have digits and letters are hashes. */
const HASH_LENGTH = 12
const TOKEN_LENGTH = 16
/** Words joined by hyphens or underscores from this number of joints on are slugs. */
const SLUG_JOINTS = 3
const MOST_EXTENSION = 5

const locales = new Set(
  `ar bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu hy id is it ja ka kk ko lt lv mk mn ms mt nb nl nn no
   pl pt ro ru sk sl sq sr sv sw ta te th tr uk ur uz vi zh`
    .split(/\s+/)
    .map((code) => code.charCodeAt(0) * 256 + code.charCodeAt(1)),
)

/** Reads values one after another; its fields describe the last one. */
export class FormReader {
  /** Where the value ends. */
  end = 0
  /** End of the value without its extension; the end of the value where there is none. */
  stem = 0
  /** The value, where the form is a number, a year or a date (as YYYYMMDD). */
  value = 0

  /**
   * The form of the value that begins at `start` and ends before a byte of `stops`, or at `end`. With `isFile` an extension
   * such as `.html` is left out.
   */
  read(bytes: Uint8Array, start: number, end: number, stops: number, isFile: boolean): number {
    let seen = 0
    let hyphens = 0
    let joints = 0
    let digits = 0
    let i = start
    for (; i < end; i++) {
      const kind = kinds[bytes[i]!]!
      if ((kind & stops) !== 0) break
      seen |= kind
      if (kind === DIGIT) digits++
      else if (kind === HYPHEN) hyphens++
      else if (kind === JOIN) joints++
    }
    this.end = i
    this.stem = i
    if (i === start) return empty
    if (isFile && (seen & DOT) !== 0) {
      this.#findExtension(bytes, start, i)
      const { stem } = this
      if (stem < i) {
        const form = this.read(bytes, start, stem, 0, false)
        this.end = i
        this.stem = stem
        return form
      }
    }
    return this.#formOf(bytes, start, i, seen, hyphens, joints, digits)
  }

  #formOf(
    bytes: Uint8Array,
    start: number,
    stem: number,
    seen: number,
    hyphens: number,
    joints: number,
    digits: number,
  ): number {
    const length = stem - start
    if (seen === DIGIT) return this.#digits(bytes, start, length)
    if ((seen & OTHER) !== 0) return text
    const letters = seen & (LOWER | UPPER)
    if (digits === 0 && hyphens + joints === 0 && (seen & DOT) === 0)
      return length === 2 && letters === LOWER && isLocale(bytes, start) ? locale : word
    if ((seen & ~(DIGIT | HYPHEN)) === 0) return this.#hyphenated(bytes, start, length, hyphens, digits)
    if ((seen & DOT) !== 0) return isVersion(bytes, start, stem, digits, length) ? version : name
    if (length === 36 && hyphens === 4 && joints === 0 && isUuid(bytes, start)) return uuid
    if (hyphens + joints === 0 && digits > 0) {
      if (length >= HASH_LENGTH && isHexOnly(bytes, start, stem)) return hash
      if (length >= TOKEN_LENGTH && digits >= 2 && letters === (LOWER | UPPER)) return token
      if (length >= 20 && digits >= 4) return token
    }
    if (length === 5 && hyphens + joints === 1 && digits === 0 && isLocale(bytes, start)) {
      if ((kinds[bytes[start + 2]!]! & (HYPHEN | JOIN)) !== 0) return locale
    }
    return hyphens + joints >= SLUG_JOINTS ? slug : name
  }

  #findExtension(bytes: Uint8Array, start: number, end: number): void {
    const least = Math.max(start + 1, end - MOST_EXTENSION - 1)
    for (let i = end - 1; i >= least; i--) {
      const kind = kinds[bytes[i]!]!
      if (kind === DOT) {
        if (i < end - 1 && (kinds[bytes[i + 1]!]! & (LOWER | UPPER)) !== 0) this.stem = i
        return
      }
      if ((kind & (DIGIT | LOWER | UPPER)) === 0) return
    }
  }

  #digits(bytes: Uint8Array, start: number, length: number): number {
    let value = 0
    for (let i = 0; i < Math.min(length, 15); i++) value = value * 10 + bytes[start + i]! - 48
    this.value = value
    if (length === 4 && value >= 1900 && value < 2100) return year
    if (length === 8 && isDay(value)) return date
    return number
  }

  // Digits and hyphens: a date, a month, a negative number, or a name such as a telephone number.
  #hyphenated(bytes: Uint8Array, start: number, length: number, hyphens: number, digits: number): number {
    if (hyphens === 1 && bytes[start] === 45 && length > 1) {
      this.#digits(bytes, start + 1, length - 1)
      this.value = -this.value
      return number
    }
    const isDated = bytes[start + 4] === 45 && (hyphens === 1 || (hyphens === 2 && length > 6))
    if (!isDated || digits > 8) return name
    const numbers = [0, 0, 0]
    for (let i = start, part = 0; i < start + length; i++) {
      if (bytes[i] === 45) part++
      else numbers[part] = numbers[part]! * 10 + bytes[i]! - 48
    }
    const [y, m, d] = numbers as [number, number, number]
    const value = y * 10_000 + m * 100 + (hyphens === 2 ? d : 1)
    if (!isDay(value)) return name
    this.value = value
    return date
  }
}

/** Whether YYYYMMDD is a day from 1900 to 2099. */
function isDay(value: number): boolean {
  const month = Math.floor(value / 100) % 100
  const day = value % 100
  return value >= 19_000_101 && value < 21_000_000 && month >= 1 && month <= 12 && day >= 1 && day <= 31
}

function isHexOnly(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if ((kinds[bytes[i]!]! & (DIGIT | HEX)) === 0) return false
  return true
}

function isUuid(bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < 36; i++) {
    const isHyphen = i === 8 || i === 13 || i === 18 || i === 23
    const kind = kinds[bytes[start + i]!]!
    if (isHyphen ? kind !== HYPHEN : (kind & (DIGIT | HEX)) === 0) return false
  }
  return true
}

function isLocale(bytes: Uint8Array, start: number): boolean {
  return locales.has((bytes[start]! | 32) * 256 + (bytes[start + 1]! | 32))
}

/** 1.2, v1.2.3 or 2.0-rc1: digits and dots, at most a v before and a short ending. */
function isVersion(bytes: Uint8Array, start: number, end: number, digits: number, length: number): boolean {
  if (digits < 2 || length > 16) return false
  const from = (bytes[start]! | 32) === 118 ? start + 1 : start
  if (kinds[bytes[from]!] !== DIGIT) return false
  let i = from
  while (i < end && (kinds[bytes[i]!]! & (DIGIT | DOT)) !== 0) i++
  return i === end || end - i <= 6
}
