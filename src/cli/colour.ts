// Colour for people: on a terminal only, and not where NO_COLOR or TERM=dumb says otherwise.
import { isatty } from 'node:tty'

const codes = { bold: [1, 22], dim: [2, 22], green: [32, 39], yellow: [33, 39], red: [31, 39] } as const

export type Colour = keyof typeof codes

export type Paint = (colour: Colour, text: string) => string

/** Paints what goes to this descriptor, or leaves it as it is. */
export function paintFor(descriptor: number, env: NodeJS.ProcessEnv = process.env): Paint {
  const isOn = isatty(descriptor) && !env.NO_COLOR && env.TERM !== 'dumb'
  if (!isOn) return (_, text) => text
  return (colour, text) => `\x1b[${codes[colour][0]}m${text}\x1b[${codes[colour][1]}m`
}

/**
 * The two texts with what differs between their common beginning and end painted: what goes in the first, what comes in
 * the second.
 */
export function paintChange(paint: Paint, before: string, after: string): [before: string, after: string] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const painted = (text: string, colour: Colour) => {
    const middle = text.slice(start, text.length - end)
    if (middle === '') return text
    return text.slice(0, start) + paint(colour, middle) + text.slice(text.length - end)
  }
  return [painted(before, 'red'), painted(after, 'green')]
}
