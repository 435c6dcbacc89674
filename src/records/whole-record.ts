// Records without a URL: each is compared as a whole, and never equals a URL.

/** Bytes that were not UTF-8 when they were decoded, or halves of a character: replacing them could merge two URLs. */
const LOST = /\ufffd|\p{Surrogate}/u
/** A word and a colon, then white space: a remark, though a browser would parse it. */
const REMARK = /^[a-z][a-z0-9+.-]*:(?!\/\/)\S*\s/i

/** Whether a field holds a URL, and not `N/A`, a relative reference or something else. */
export const isUrl = (text: string): boolean => URL.canParse(text) && !LOST.test(text) && !REMARK.test(text)

/** Not a byte of UTF-8: no key of a URL begins with it, and no profile changes such a line. */
const MARK = '\xff'

/** The line that stands for a record without a URL, one byte per character: another line for other bytes. */
export function wholeRecord(record: Buffer): string {
  // Latin-1 has no character for a newline besides its own.
  const text = record.toString('latin1').replaceAll('\n', '\u2424')
  return MARK + Buffer.from(text).toString('latin1')
}
