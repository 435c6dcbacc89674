// A long body {"urls": […]} as many clients write it, with escapes or line breaks: cut between its strings, and each part
// read by JSON.parse on its own, so that others are answered between. A long body of any other kind is refused.
import { isUtf8 } from 'node:buffer'
import { Pace } from '../../store/pace.ts'
import { Problem } from './problems.ts'

/** A body of up to this is parsed in one go. */
export const LONG_BYTES = 1024 * 1024
const PART_BYTES = 64 * 1024
/** Between two strings, and behind the list. */
const MOST_BLANKS = 64 * 1024
const HEAD = /^\s*\{\s*"urls"\s*:\s*\[/
const HEAD_BYTES = 256
const TAIL = /^\s*\}\s*$/
const QUOTE = 0x22
const COMMA = 0x2c
const CLOSE = 0x5d
const BACKSLASH = 0x5c

function other(why: string): Problem {
  return new Problem(
    400,
    `a JSON body of over ${LONG_BYTES} bytes (${why}): expected {"urls": […]} with strings and nothing else`,
  )
}

/** Gives the URLs to `take`, some at a time, with the number of those before. */
export async function readLongList(
  body: Buffer,
  take: (urls: readonly string[], before: number) => void,
): Promise<void> {
  const head = HEAD.exec(body.toString('latin1', 0, HEAD_BYTES))
  if (!head) throw other('it begins with something else')
  if (!isUtf8(body)) throw other('not UTF-8')
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
      if (!isEnd) throw other('it goes on behind the list')
      return
    }
    from = end + 1
  }
}

// Where the comma behind enough strings is, or the end of the list. Nothing but strings is passed over: what JSON.parse
// gets is short.
function endOfPart(body: Buffer, from: number): number {
  for (let at = from; ; at++) {
    const quote = afterBlanks(body, at)
    if (body[quote] !== QUOTE) throw other(`byte ${quote} does not begin a string`)
    at = afterBlanks(body, endOfString(body, quote) + 1)
    if (body[at] === CLOSE || (body[at] === COMMA && at - from >= PART_BYTES)) return at
    if (body[at] !== COMMA) throw other(`byte ${at} is neither a comma nor the end of the list`)
  }
}

function endOfString(body: Buffer, quote: number): number {
  for (let at = body.indexOf(QUOTE, quote + 1); at > 0; at = body.indexOf(QUOTE, at + 1)) {
    let first = at
    while (body[first - 1] === BACKSLASH) first--
    if ((at - first) % 2 === 0) return at
  }
  throw other('a string without an end')
}

function afterBlanks(body: Buffer, from: number): number {
  let at = from
  while (isBlank(body[at])) at++
  if (at - from > MOST_BLANKS) throw other(`more than ${MOST_BLANKS} blanks in a row`)
  return at
}

const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

function stringsOf(text: string): readonly string[] {
  let values: unknown[]
  try {
    values = JSON.parse(`[${text}]`) as unknown[]
  } catch (error) {
    throw other((error as Error).message.replaceAll(/\s+/g, ' '))
  }
  for (const value of values) if (typeof value !== 'string') throw other('a value that is no string')
  return values as string[]
}
