// The linear scans that the filters are compared with, over rows in memory. Neither reads a file nor parses it.
import { distinctWords } from './words.ts'

/** Whether a text contains all the words: the final check. */
export function holdsAll(text: string, words: readonly string[]): boolean {
  const held = distinctWords(text)
  return words.every((word) => held.has(word))
}

/** A row ready for `scanPrepared`: its words with a space before and after each. */
export function prepare(words: Iterable<string>): string {
  return ` ${[...words].join(' ')} `
}

/** Splits every row's text into words and compares them: a scan without preparation. */
export function scanTexts(texts: readonly string[], words: readonly string[]): number[] {
  const found: number[] = []
  for (let row = 0; row < texts.length; row++) if (holdsAll(texts[row]!, words)) found.push(row)
  return found
}

/** Searches rows that are already split, normalised and lower-cased: the fairest comparison, and the faster one. */
export function scanPrepared(prepared: readonly string[], words: readonly string[]): number[] {
  const needles = words.map((word) => ` ${word} `)
  const found: number[] = []
  for (let row = 0; row < prepared.length; row++) {
    const text = prepared[row]!
    let all = true
    for (let i = 0; all && i < needles.length; i++) all = text.includes(needles[i]!)
    if (all) found.push(row)
  }
  return found
}
