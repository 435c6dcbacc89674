// Bare hosts: `example.com/a` and `//example.com/a` are read as https://example.com/a, as a browser's address bar does.

const LABEL = String.raw`[^\s./\\?#@:[\]<>"'\`{}|^%,;=&()*!$+~]{1,63}`
/** Host, port, and the end of the line or of the host. A name needs a dot; its last label is no number. */
const BARE = new RegExp(
  String.raw`^(?:(?:${LABEL}\.){1,126}(?!\d+\.?(?:[:/?#\s]|$))${LABEL}\.?|\d{1,3}(?:\.\d{1,3}){3}|localhost|\[[\da-f:.]{2,45}\])(?::\d{1,5})?(?:[/?#\s]|$)`,
  'i',
)
const SCHEME_RELATIVE = /^\/\/[^\s/\\?#]/
const USUAL = /^https?:\/\//i

/** The URL that a line stands for: itself, unless it begins with a host. */
export function withScheme(line: string): string {
  if (USUAL.test(line)) return line
  if (SCHEME_RELATIVE.test(line)) return `https:${line}`
  return BARE.test(line) ? `https://${line}` : line
}
