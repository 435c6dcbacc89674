// Titles for the keyword experiment: a column of a CSV table, or made up from a seed with words as unevenly used as
// in the titles of films.
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { createGunzip } from 'node:zlib'
import { parse } from 'csv-parse'

export interface TitleTable {
  readonly name: string
  /** The column they come from. */
  readonly column: string
  /** Distinct, in the table's order. */
  readonly titles: readonly string[]
}

/** Rows that are looked at to find a column of text when none is called "title". */
const ROWS_TO_JUDGE = 50

/** The first `most` distinct titles of a CSV file (.gz too): its title column, else the first column of text. */
export async function readTitles(path: string, most: number): Promise<TitleTable> {
  const parser = parse({ bom: true, relax_column_count: true, relax_quotes: true, skip_empty_lines: true })
  const file = createReadStream(path)
  file.on('error', (error) => parser.destroy(error))
  if (path.endsWith('.gz')) {
    const gunzip = createGunzip()
    gunzip.on('error', (error) => parser.destroy(error))
    file.pipe(gunzip).pipe(parser)
  } else file.pipe(parser)
  const titles = new Set<string>()
  const early: string[][] = []
  let header: string[] | undefined
  let column = -1
  const take = (row: readonly string[]) => {
    const title = row[column]?.replace(/\s+/g, ' ').trim()
    if (title) titles.add(title)
  }
  const choose = () => {
    column = textColumn(header ?? [], early)
    for (const row of early) take(row)
  }
  for await (const row of parser as AsyncIterable<string[]>) {
    if (!header) header = row
    else if (column >= 0) take(row)
    else if (early.push(row) === ROWS_TO_JUDGE) choose()
    if (titles.size >= most) break
  }
  file.destroy()
  if (column < 0) choose()
  return { name: basename(path), column: header?.[column] ?? '', titles: [...titles].slice(0, most) }
}

/** A column named title, else one whose name has it, else the first whose values are mostly words. */
export function textColumn(header: readonly string[], rows: readonly (readonly string[])[]): number {
  const names = header.map((name) => name.trim().toLowerCase())
  const named = names.indexOf('title')
  if (named >= 0) return named
  const similar = names.findIndex((name) => name.includes('title'))
  if (similar >= 0) return similar
  const isText = (value: string | undefined) => value !== undefined && /^\p{L}/u.test(value.trim())
  const text = names.findIndex((_, i) => rows.filter((row) => isText(row[i])).length * 2 > rows.length)
  return Math.max(0, text)
}

const syllables = 'ka lo mi ren tas vel dor in sha pu ger non qui bel tor as fen wo zi lum'.split(' ')

/** How many words a title has: shares for 1, 2, 3 …, as in lists of films. */
const LENGTHS = [0.2, 0.3, 0.22, 0.12, 0.08, 0.04, 0.02, 0.01, 0.006, 0.004]

/** `count` distinct titles; words are drawn from `words` by Zipf's law. */
export function generatedTitles(count: number, random: () => number, words = 6000): TitleTable {
  const vocabulary = Array.from({ length: words }, (_, i) => wordOf(i))
  // Sums of 1/rank and no powers: divisions and additions are the same on any machine.
  const sums = new Float64Array(words)
  for (let i = 0; i < words; i++) sums[i] = (sums[i - 1] ?? 0) + 1 / (i + 1)
  const word = () => {
    const wanted = random() * sums[words - 1]!
    let [low, high] = [0, words - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! > wanted) high = middle
      else low = middle + 1
    }
    return vocabulary[low]!
  }
  const titles = new Set<string>()
  while (titles.size < count) {
    let size = 1
    for (let left = random(); size <= LENGTHS.length && left >= LENGTHS[size - 1]!; size++) {
      left -= LENGTHS[size - 1]!
    }
    titles.add(Array.from({ length: size }, word).join(' '))
  }
  return { name: 'generated titles', column: 'title', titles: [...titles] }
}

function wordOf(rank: number): string {
  let left = rank + syllables.length
  let word = ''
  for (; left > 0; left = Math.floor(left / syllables.length)) word += syllables[left % syllables.length]
  return word
}
