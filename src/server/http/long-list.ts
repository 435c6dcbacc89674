// Parses a long body {"urls": […]} with escapes or line breaks: it is split between its strings, and each part is parsed by
// JSON.parse, so that other clients are served in between. A long body of any other form is refused.
import { isUtf8 } from 'node:buffer'
import { Pace } from '../../store/pace.ts'
import { Problem } from './problems.ts'

/** A body of at most this size is parsed in one step. */
export const LONG_BYTES = 1024 * 1024
const PART_BYTES = 64 * 1024
/** Limit for white space between two strings and after the list. */
const MOST_BLANKS = 64 * 1024
const HEAD = /^\s*\{\s*"urls"\s*:\s*\[/
const HEAD_BYTES = 256
const TAIL = /^\s*\}\s*$/
const QUOTE = 0x22
const COMMA = 0x2c
const CLOSE = 0x5d
const BACKSLASH = 0x5c

function unexpected(why: string): Problem {
  return new Problem(
    400,
    `a JSON body of more than ${LONG_BYTES} bytes (${why}): expected {"urls": […]} with strings and nothing else`,
  )
}

/** Passes the URLs to `take` in parts, each with the number of URLs before it. */
export async function readLongList(
  body: Buffer,
  take: (urls: readonly string[], before: number) => void,
): Promise<void> {
  const head = HEAD.exec(body.toString('latin1', 0, HEAD_BYTES))
  if (!head) throw unexpected('it begins with something else')
  if (!isUtf8(body)) throw unexpected('not UTF-8')
  const pace = new Pace()
  let before = 0
  for (let from = head[0].length; ; ) {
    await pace.rest()
    const end = endOfPart(body, from)
    const urls = stringsOf(body.toString('utf8', from, end))
    take(urls, before)
    before += urls.length
    if (body[end] === CLOSE) {
      const isEnd = body.length - end <= MOST_BLANKS && TAIL.test(body.toString('latin1', end + 1))
      if (!isEnd) throw unexpected('there is more after the list')
      return
    }
    from = end + 1
  }
}

// The offset of the comma after about PART_BYTES of strings, or of the end of the list. Only strings are skipped, so what
// JSON.parse gets is short.
function endOfPart(body: Buffer, from: number): number {
  for (let at = from; ; at++) {
    const quote = afterBlanks(body, at)
    if (body[quote] !== QUOTE) throw unexpected(`byte ${quote} does not begin a string`)
    at = afterBlanks(body, endOfString(body, quote) + 1)
    if (body[at] === CLOSE || (body[at] === COMMA && at - from >= PART_BYTES)) return at
    if (body[at] !== COMMA) throw unexpected(`byte ${at} is neither a comma nor the end of the list`)
  }
}

function endOfString(body: Buffer, quote: number): number {
  for (let at = body.indexOf(QUOTE, quote + 1); at > 0; at = body.indexOf(QUOTE, at + 1)) {
    let first = at
    while (body[first - 1] === BACKSLASH) first--
    if ((at - first) % 2 === 0) return at
  }
  throw unexpected('a string without an end')
}

function afterBlanks(body: Buffer, from: number): number {
  let at = from
  while (isBlank(body[at])) at++
  if (at - from > MOST_BLANKS) throw unexpected(`more than ${MOST_BLANKS} blanks in a row`)
  return at
}

const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

function stringsOf(text: string): readonly string[] {
  let values: unknown[]
  try {
    values = JSON.parse(`[${text}]`) as unknown[]
  } catch (error) {
    throw unexpected((error as Error).message.replaceAll(/\s+/g, ' '))
  }
  for (const value of values) if (typeof value !== 'string') throw unexpected('a value that is not a string')
  return values as string[]
}
