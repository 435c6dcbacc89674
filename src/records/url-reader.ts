// Formats in which URLs stand among other things: sitemaps, and any text with URLs in it. A row is the URL alone.
import type { RecordBatch, RecordReader } from './format.ts'

/** The most of a text that is kept while a URL may still go on. */
const TAIL_CHARACTERS = 64 * 1024

abstract class UrlReader implements RecordReader {
  readonly #decoder = new TextDecoder('utf-8')
  #rest = ''

  push(chunk: Uint8Array): RecordBatch {
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true })
    const { urls, end } = this.find(text, false)
    this.#rest = text.slice(Math.max(end, text.length - TAIL_CHARACTERS))
    return batchOf(urls)
  }

  end(): RecordBatch {
    const { urls } = this.find(this.#rest + this.#decoder.decode(), true)
    this.#rest = ''
    return batchOf(urls)
  }

  /** The URLs of a text, and where the first that may be cut begins. */
  protected abstract find(text: string, isLast: boolean): { urls: string[]; end: number }
}

export function batchOf(urls: readonly string[]): RecordBatch {
  const rows = Buffer.from(urls.length > 0 ? `${urls.join('\n')}\n` : '')
  const ends: number[] = []
  for (let at = rows.indexOf(10); at >= 0; at = rows.indexOf(10, at + 1)) ends.push(at + 1)
  return { rows, ends, urls: rows, without: 0 }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decodeEntities(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi,
    (all, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[String(name).toLowerCase()]!
      const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
      return code <= 0x10ffff ? String.fromCodePoint(code) : String(all)
    },
  )
}

// Each part ends where the next one begins, so that a search takes linear time whatever the file holds.
const LOC = /<loc>([^<]*)(?:<!\[CDATA\[([^\]]*)\]\]>[^<]*)?<\/loc>/g

/** Sitemaps and sitemap indexes: the addresses in `<loc>`. */
export class SitemapReader extends UrlReader {
  protected find(text: string): { urls: string[]; end: number } {
    const urls: string[] = []
    let end = 0
    for (const match of text.matchAll(LOC)) {
      const url = decodeEntities(match[2] ?? match[1]!)
        .trim()
        .replaceAll(/[\n\r]/g, '')
      if (url) urls.push(url)
      end = match.index + match[0].length
    }
    const open = text.indexOf('<loc>', end)
    return { urls, end: open < 0 ? Math.max(end, text.length - '<loc>'.length) : open }
  }
}

/** A scheme, and all that follows up to what cannot be in a URL as people write it. */
const IN_TEXT = /https?:\/\/[^\s<>"'`{}|\\^[\]\u0000-\u001f\u007f]+/gi
/** Punctuation that ends the sentence, not the URL. */
const TRAILING = /[.,;:!?]+$/
/** The beginning of a URL at the end of a text. */
const URL_START = /h?t?t?p?s?:?\/?\/?$/i

/** Any text: everything that begins with http:// or https://. */
export class TextReader extends UrlReader {
  protected find(text: string, isLast: boolean): { urls: string[]; end: number } {
    const urls: string[] = []
    let end = text.length
    for (const { 0: found, index } of text.matchAll(IN_TEXT)) {
      if (!isLast && index + found.length === text.length) {
        end = index
        break
      }
      urls.push(trimmed(found))
    }
    if (end < text.length || isLast) return { urls, end }
    return { urls, end: text.length - URL_START.exec(text)![0].length }
  }
}

// A closing parenthesis belongs to the URL only when it was opened in it.
function trimmed(found: string): string {
  let url = found.replace(TRAILING, '')
  while (url.endsWith(')') && url.split(')').length > url.split('(').length) {
    url = url.slice(0, -1).replace(TRAILING, '')
  }
  return url
}
