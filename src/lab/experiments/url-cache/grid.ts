// The grid of url-caching's experiment: hash functions over m/n and k, each with its rate and the formula's.
import type { HashName } from '../../../hashes.ts'
import { classicRate, optimalHashes } from '../../../sizing/classic.ts'
import type { Cell, Lab, Table, UrlList } from '../../experiment.ts'
import { MEASURED_COLUMNS, type MeasuredRate, measuredCells, trial } from '../../trial.ts'
import { count } from '../../wording.ts'

/** The paper's k, and the bits per URL that its m = k·n / ln 2 gives. */
export const PAPER_HASHES = 3
export const PAPER_RATIO = PAPER_HASHES / Math.LN2

export interface Choice {
  readonly name: string
  readonly hash: HashName | readonly HashName[]
  readonly good: boolean
}

export const TRIO = 'the three in turn'
export const choices: readonly Choice[] = [
  { name: TRIO, hash: ['poly31', 'djb2', 'xor17'], good: false },
  { name: 'k of poly31', hash: 'poly31', good: false },
  { name: 'k of djb2', hash: 'djb2', good: false },
  { name: 'k of xor17', hash: 'xor17', good: false },
  { name: 'murmur3', hash: 'murmur3', good: true },
  { name: 'xxh64', hash: 'xxh64', good: true },
  { name: 'siphash', hash: 'siphash', good: true },
]

export interface GridCell {
  readonly choice: Choice
  readonly ratio: number
  readonly hashes: number
  readonly rate: MeasuredRate
  readonly expected: number
}

export const shownRatio = (ratio: number) => (ratio === PAPER_RATIO ? '3 / ln 2' : String(ratio))

/** The cell with the lowest measured rate among those of one hash and one m/n. */
export function lowest(cells: readonly GridCell[]): GridCell {
  return cells.reduce((a, b) => (b.rate.rate < a.rate.rate ? b : a))
}

export function gridTable(cells: readonly GridCell[], urls: number): Table {
  const rows = cells.map((cell): Cell[] => {
    const same = cells.filter(({ choice, ratio }) => choice === cell.choice && ratio === cell.ratio)
    const bits = Math.ceil(cell.ratio * urls)
    const marks = [
      lowest(same) === cell ? 'lowest' : '',
      optimalHashes({ bits, urls }) === cell.hashes ? '(m/n)·ln 2' : '',
    ]
    return [
      cell.choice.name,
      shownRatio(cell.ratio),
      cell.hashes,
      ...measuredCells(cell.rate),
      cell.expected,
      marks.filter(Boolean).join(', ') || null,
    ]
  })
  return {
    title: 'False positives over m and k',
    note: `${count(urls)} URLs held. "k of poly31" is k copies of one function from neighbouring start values: our construction, not the document's, which uses each function once. Marked: the k with the lowest rate measured, and the whole k that the formula names.`,
    columns: [
      { name: 'hash', as: 'text' },
      { name: 'm/n', as: 'text' },
      { name: 'k', as: 'count' },
      ...MEASURED_COLUMNS,
      { name: 'formula', as: 'rate' },
      { name: 'optimum', as: 'text' },
    ],
    rows,
  }
}

export async function grid(
  lab: Lab,
  list: UrlList,
  urls: number,
  ratios: readonly number[],
): Promise<GridCell[]> {
  const members = list.lines(0, urls)
  const queries = list.count - urls
  const strangers = list.lines(urls, list.count)
  const cells: GridCell[] = []
  for (const [i, choice] of choices.entries()) {
    for (const ratio of ratios) {
      const bits = Math.ceil(ratio * urls)
      const best = optimalHashes({ bits, urls })
      const ks = new Set(
        lab.quick
          ? [1, PAPER_HASHES, best, 2 * best]
          : [1, 2, PAPER_HASHES, best - 1, best, best + 1, best + 3],
      )
      lab.progress(
        (i + ratios.indexOf(ratio) / ratios.length) / choices.length,
        `${choice.name}, m/n = ${shownRatio(ratio)}`,
      )
      for (const k of [...ks].sort((a, b) => a - b)) {
        const { falsePositives } = await trial(
          { filter: 'classic', hash: choice.hash, key: lab.key('url-cache'), bits, hashes: k },
          members,
          strangers,
          queries,
        )
        const expected = classicRate({ bits, hashes: k, urls })
        cells.push({ choice, ratio, hashes: k, rate: falsePositives, expected })
      }
    }
  }
  return cells
}
