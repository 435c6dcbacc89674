// The ends of a text without what is unwanted there, in time linear in its length: a regular expression such as / +$/ is
// tried anew at every space of a long run that does not end the text.

/** The text without the characters at its end that are unwanted, given by their UTF-16 code. */
export function trimEnd(text: string, isUnwanted: (code: number) => boolean): string {
  let end = text.length
  while (end > 0 && isUnwanted(text.charCodeAt(end - 1))) end--
  return text.slice(0, end)
}

/** The text without the controls and spaces at both ends, as the WHATWG URL Standard strips them. */
export function stripControls(text: string): string {
  let start = 0
  while (start < text.length && isControlOrSpace(text.charCodeAt(start))) start++
  return trimEnd(text.slice(start), isControlOrSpace)
}

const isControlOrSpace = (code: number) => code <= 0x20
export const isSpace = (code: number) => code === 0x20
export const isSlash = (code: number) => code === 0x2f
export const isColon = (code: number) => code === 0x3a
