// The form of one value of a URL (a segment of its path, or the value of a parameter), found from its bytes alone.

/** Numbers of the forms: their names stand in the same order in src/shapes/forms.ts. */
export const EMPTY: u32 = 0
export const WORD: u32 = 1
export const NAME: u32 = 2
export const TEXT: u32 = 3
export const NUMBER: u32 = 4
export const YEAR: u32 = 5
export const DATE: u32 = 6
export const UUID: u32 = 7
export const HASH: u32 = 8
export const TOKEN: u32 = 9
export const LOCALE: u32 = 10
export const VERSION: u32 = 11
export const SLUG: u32 = 12
export const REST: u32 = 13
export const REPEAT: u32 = 14

const DIGIT: u32 = 1
const HEX: u32 = 2
const LOWER: u32 = 4
const UPPER: u32 = 8
const HYPHEN: u32 = 16
const JOIN: u32 = 32 // _ and +
const DOT: u32 = 64
const OTHER: u32 = 128
/** Where a value can end. */
export const STOP_SLASH: u32 = 256
export const STOP_QUESTION: u32 = 512
export const STOP_HASH: u32 = 1024
export const STOP_AND: u32 = 2048
export const STOP_SEMICOLON: u32 = 4096

/** What each byte is: a u16 each. */
const kinds: usize = memory.data(256 * 2, 16)
/** A byte for each two lower-case letters: whether they are a language. */
const locales: usize = memory.data(26 * 26, 16)
const LANGUAGES = 'ar bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu hy id is it ja ka kk ko lt lv mk mn ms mt nb nl nn no pl pt ro ru sk sl sq sr sv sw ta te th tr uk ur uz vi zh'

fillTables()

function fillTables(): void {
  for (let b: u32 = 0; b < 256; b++) {
    let kind = OTHER
    if (b >= 48 && b < 58) kind = DIGIT
    else if (b >= 97 && b < 123) kind = b < 103 ? HEX | LOWER : LOWER
    else if (b >= 65 && b < 91) kind = b < 71 ? HEX | UPPER : UPPER
    else if (b == 45) kind = HYPHEN
    else if (b == 95 || b == 43) kind = JOIN
    else if (b == 46) kind = DOT
    else if (b == 47) kind = OTHER | STOP_SLASH
    else if (b == 63) kind = OTHER | STOP_QUESTION
    else if (b == 35) kind = OTHER | STOP_HASH
    else if (b == 38) kind = OTHER | STOP_AND
    else if (b == 59) kind = OTHER | STOP_SEMICOLON
    store<u16>(kinds + (<usize>b << 1), <u16>kind)
  }
  const letters = changetype<usize>(LANGUAGES)
  for (let i: usize = 0; i < <usize>LANGUAGES.length; i += 3) {
    const place = (<u32>load<u16>(letters + (i << 1)) - 97) * 26 + <u32>load<u16>(letters + (i << 1), 2) - 97
    store<u8>(locales + <usize>place, 1)
  }
}

/** Hexadecimal values from this length on that have digits and letters are hashes. */
const HASH_LENGTH: u32 = 12
const TOKEN_LENGTH: u32 = 16
/** Words joined by hyphens or underscores from this number of joints on are slugs. */
const SLUG_JOINTS: u32 = 3
const MOST_EXTENSION: usize = 5

/** Of the last value: its end, its end without extension, and what it stands for: a number, a year, or a date as YYYYMMDD. */
export let formEnd: usize = 0
export let formStem: usize = 0
export let formValue: f64 = 0

// @ts-ignore: decorator
@inline
function kindAt(at: usize): u32 {
  return <u32>load<u16>(kinds + (<usize>load<u8>(at) << 1))
}

/**
 * The form of the value that begins at `start` and ends before a byte of `stops`, or at `end`. With `isFile` an extension such
 * as `.html` is left out.
 */
export function readForm(start: usize, end: usize, stops: u32, isFile: bool): u32 {
  let seen: u32 = 0
  let hyphens: u32 = 0
  let joints: u32 = 0
  let digits: u32 = 0
  let i = start
  for (; i < end; i++) {
    const kind = kindAt(i)
    if (kind & stops) break
    seen |= kind
    digits += <u32>(kind == DIGIT)
    hyphens += <u32>(kind == HYPHEN)
    joints += <u32>(kind == JOIN)
  }
  formEnd = i
  formStem = i
  if (i == start) return EMPTY
  if (isFile && (seen & DOT) != 0) {
    const stem = stemOf(start, i)
    if (stem < i) {
      const form = readForm(start, stem, 0, false)
      formEnd = i
      formStem = stem
      return form
    }
  }
  return formOf(start, i, seen, hyphens, joints, digits)
}

function formOf(start: usize, stem: usize, seen: u32, hyphens: u32, joints: u32, digits: u32): u32 {
  const length = <u32>(stem - start)
  if (seen == DIGIT) return digitsForm(start, length)
  if (seen & OTHER) return TEXT
  const letters = seen & (LOWER | UPPER)
  if (digits == 0 && hyphens + joints == 0 && (seen & DOT) == 0) {
    return length == 2 && letters == LOWER && isLocale(start) ? LOCALE : WORD
  }
  if ((seen & ~(DIGIT | HYPHEN)) == 0) return hyphenatedForm(start, length, hyphens, digits)
  if (seen & DOT) return isVersion(start, stem, digits, length) ? VERSION : NAME
  if (length == 36 && hyphens == 4 && joints == 0 && isUuid(start)) return UUID
  if (hyphens + joints == 0 && digits > 0) {
    if (length >= HASH_LENGTH && isHexOnly(start, stem)) return HASH
    if (length >= TOKEN_LENGTH && digits >= 2 && letters == (LOWER | UPPER)) return TOKEN
    if (length >= 20 && digits >= 4) return TOKEN
  }
  if (length == 5 && hyphens + joints == 1 && digits == 0 && isLocale(start)) {
    if (kindAt(start + 2) & (HYPHEN | JOIN)) return LOCALE
  }
  return hyphens + joints >= SLUG_JOINTS ? SLUG : NAME
}

// Where the extension begins; `end` where there is none.
function stemOf(start: usize, end: usize): usize {
  const least = max(start + 1, end - min(end, MOST_EXTENSION + 1))
  for (let i = end - 1; i >= least; i--) {
    const kind = kindAt(i)
    if (kind == DOT) return i < end - 1 && (kindAt(i + 1) & (LOWER | UPPER)) != 0 ? i : end
    if ((kind & (DIGIT | LOWER | UPPER)) == 0) return end
  }
  return end
}

function digitsForm(start: usize, length: u32): u32 {
  let value: f64 = 0
  for (let i: usize = 0; i < <usize>min(length, 15); i++) value = value * 10 + <f64>(<i32>load<u8>(start + i) - 48)
  formValue = value
  if (length == 4 && value >= 1900 && value < 2100) return YEAR
  if (length == 8 && isDay(<u32>value)) return DATE
  return NUMBER
}

// Digits and hyphens: a date, a month, a negative number, or a name such as a telephone number.
function hyphenatedForm(start: usize, length: u32, hyphens: u32, digits: u32): u32 {
  if (hyphens == 1 && load<u8>(start) == 45 && length > 1) {
    digitsForm(start + 1, length - 1)
    formValue = -formValue
    return NUMBER
  }
  const isDated = length > 4 && load<u8>(start + 4) == 45 && (hyphens == 1 || (hyphens == 2 && length > 6))
  if (!isDated || digits > 8) return NAME
  let years: u32 = 0
  let months: u32 = 0
  let days: u32 = 0
  let part = 0
  for (let at = start; at < start + <usize>length; at++) {
    const digit = <u32>load<u8>(at) - 48
    if (load<u8>(at) == 45) part++
    else if (part == 0) years = years * 10 + digit
    else if (part == 1) months = months * 10 + digit
    else days = days * 10 + digit
  }
  if (months > 12 || days > 31) return NAME
  const value = years * 10000 + months * 100 + (hyphens == 2 ? days : 1)
  if (!isDay(value)) return NAME
  formValue = <f64>value
  return DATE
}

/** Whether YYYYMMDD is a day from 1900 to 2099. */
function isDay(value: u32): bool {
  const month = (value / 100) % 100
  const day = value % 100
  return value >= 19000101 && value < 21000000 && month >= 1 && month <= 12 && day >= 1 && day <= 31
}

function isHexOnly(start: usize, end: usize): bool {
  for (let i = start; i < end; i++) if ((kindAt(i) & (DIGIT | HEX)) == 0) return false
  return true
}

function isUuid(start: usize): bool {
  for (let i: usize = 0; i < 36; i++) {
    const isHyphen = i == 8 || i == 13 || i == 18 || i == 23
    const kind = kindAt(start + i)
    if (isHyphen ? kind != HYPHEN : (kind & (DIGIT | HEX)) == 0) return false
  }
  return true
}

function isLocale(start: usize): bool {
  const first = (<u32>load<u8>(start) | 32) - 97
  const second = (<u32>load<u8>(start + 1) | 32) - 97
  return first < 26 && second < 26 && load<u8>(locales + <usize>(first * 26 + second)) != 0
}

/** 1.2, v1.2.3 or 2.0-rc1: digits and dots, at most a v before and a short ending. */
function isVersion(start: usize, end: usize, digits: u32, length: u32): bool {
  if (digits < 2 || length > 16) return false
  const from = (<u32>load<u8>(start) | 32) == 118 ? start + 1 : start
  if (kindAt(from) != DIGIT) return false
  let i = from
  while (i < end && (kindAt(i) & (DIGIT | DOT)) != 0) i++
  return i == end || end - i <= 6
}
