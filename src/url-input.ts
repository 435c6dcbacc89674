// What a caller passes to a sieve, checked before anything is marked: strings, lists of strings, bytes and items. Each
// error is one line that names the argument, what it is and what is expected.
import { SieveError } from './errors.ts'

/**
 * Items in one buffer, in the order of their places: item i is the bytes [starts[i], ends[i]), and neither starts nor
 * ends decrease.
 */
export interface Items {
  /** The buffer. */
  readonly bytes: Uint8Array
  /** Where each item begins. */
  readonly starts: Uint32Array
  /** Where each item ends: the byte behind its last. */
  readonly ends: Uint32Array
}

/** Bytes of URLs that go to the kernel together: small enough for the processor's cache. */
export const MANY_BYTES = 256 * 1024

const SHOWN_LENGTH = 40

function describe(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'function') return 'a function'
  if (value !== null && typeof value === 'object') {
    return Object.prototype.toString.call(value).replace(/^\[object (.*)\]$/, 'a $1')
  }
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}

/** The error for an argument of another type. */
export function wrongType(name: string, value: unknown, expected: string): SieveError {
  return new SieveError('option', `${name} is ${describe(value)}: expected ${expected}`)
}

/** Refuses what is not a string. */
export function checkUrl(url: unknown, name = 'url'): asserts url is string {
  if (typeof url !== 'string') throw wrongType(name, url, 'a string')
}

/** The URL of a host or folder, such as `example.com/blog`: with a scheme, and a slash at its end. */
export function folderUrl(folder: unknown): string {
  checkUrl(folder, 'folder')
  const text = folder.includes('://') ? folder : `https://${folder}`
  return /[?#]/.test(text) || text.endsWith('/') ? text : `${text}/`
}

/** Refuses what is not an array of strings, before the first of them is used. */
export function checkUrls(urls: unknown): asserts urls is readonly string[] {
  if (!Array.isArray(urls)) throw wrongType('urls', urls, 'an array of strings')
  const count = urls.length
  for (let i = 0; i < count; i++) {
    const url: unknown = urls[i]
    if (typeof url !== 'string') throw wrongType(`urls[${i}]`, url, 'a string')
  }
}

/**
 * The URLs from `from` on, before `end`, as an array of our own: `most` of them, or as many as are `MANY_BYTES` long, one
 * at least. Reading one may run code of the caller's, which may use the sieve; nothing of a batch is made before.
 */
export function readUrls(urls: readonly string[], from: number, end: number, most: number): string[] {
  const some: unknown[] = copied(urls, from, Math.min(end, from + most))
  let length = 0
  for (let i = 0; i < some.length; i++) {
    const url = some[i]
    if (typeof url !== 'string') throw wrongType(`urls[${from + i}]`, url, 'a string')
    length += url.length
    if (length > MANY_BYTES && i > 0) some.length = i
  }
  return some as string[]
}

// A subclass may make anything of a slice: its elements are copied one by one.
function copied(urls: readonly string[], from: number, to: number): string[] {
  const isPlain = (urls.constructor as unknown) === Array
  const some: string[] = isPlain ? urls.slice(from, to) : []
  // One by one too where the list has become shorter since it was checked: what is not there is refused as such.
  for (let i = from + some.length; i < to; i++) some.push(urls[i]!)
  return some
}

/** A checked copy, for a call that waits for its turn: the caller may change the list meanwhile. */
export function copyUrls(urls: readonly string[]): string[] {
  checkUrls(urls)
  const copy: string[] = []
  for (const [i, url] of urls.entries()) {
    checkUrl(url, `urls[${i}]`)
    copy.push(url)
  }
  return copy
}

// By its tag, which an array of another realm has too (a test runner's, a worker's).
function isArrayOf(type: 'Uint8Array' | 'Uint32Array', value: unknown): boolean {
  return ArrayBuffer.isView(value) && (value as Uint8Array)[Symbol.toStringTag] === type
}

/** Refuses what is not bytes. */
export function checkBytes(bytes: unknown, name = 'bytes'): asserts bytes is Uint8Array {
  if (!isArrayOf('Uint8Array', bytes)) throw wrongType(name, bytes, 'a Uint8Array')
}

/** Refuses items that are not within their bytes or not in order, before the first of them is used. */
export function checkItems(items: Items): void {
  if (items === null || typeof items !== 'object') {
    throw wrongType('items', items, 'an object with bytes, starts and ends')
  }
  const { bytes, starts, ends } = items
  checkBytes(bytes, 'items.bytes')
  for (const [name, value] of [
    ['items.starts', starts],
    ['items.ends', ends],
  ] as const) {
    if (!isArrayOf('Uint32Array', value)) throw wrongType(name, value, 'a Uint32Array')
  }
  if (starts.length !== ends.length) {
    throw new SieveError(
      'option',
      `items with ${starts.length} starts and ${ends.length} ends: expected as many`,
    )
  }
  let lastStart = 0
  let lastEnd = 0
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i]!
    const end = ends[i]!
    if (start < lastStart || end < lastEnd || start > end) throw outOfOrder(i, start, end)
    lastStart = start
    lastEnd = end
  }
  if (lastEnd > bytes.length) {
    throw new SieveError(
      'option',
      `items end at ${lastEnd}: expected at most the ${bytes.length} bytes there are`,
    )
  }
}

function outOfOrder(i: number, start: number, end: number): SieveError {
  return new SieveError(
    'option',
    `item ${i} is bytes ${start} to ${end}: expected starts and ends that never decrease, each start at most its end`,
  )
}
