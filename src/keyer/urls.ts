// URLs as a caller has them: a list of strings, newline-separated bytes, or items of one buffer.
import { checkBytes, checkItems, checkUrls, copyUrls, type Items } from '../url-input.ts'

export type Urls =
  | { readonly strings: readonly string[] }
  | { readonly lines: Uint8Array }
  | { readonly items: Items }

/** Throws a SieveError for input of another type, before the first URL is used. */
export function checkUrlsOf(urls: Urls): void {
  if ('lines' in urls) checkBytes(urls.lines)
  else if ('items' in urls) checkItems(urls.items)
  else checkUrls(urls.strings)
}

/** A checked copy, for a call that waits for its turn: the caller may change the input meanwhile. */
export function copyUrlsOf(urls: Urls): Urls {
  if ('strings' in urls) return { strings: copyUrls(urls.strings) }
  checkUrlsOf(urls)
  // A Buffer's slice would share its memory.
  if ('lines' in urls) return { lines: new Uint8Array(urls.lines) }
  const { bytes, starts, ends } = urls.items
  return { items: { bytes: new Uint8Array(bytes), starts: starts.slice(), ends: ends.slice() } }
}

/** How many URLs there are; of lines, which are not counted before they are cut, a first guess. */
export function countOf(urls: Urls): number {
  if ('lines' in urls) return 1024
  return 'items' in urls ? urls.items.starts.length : urls.strings.length
}
