// The printed percentages of term-project, by the procedure of its program: ⌈lines / 2⌉ rows of the file are queried, and
// the rows found in both filters are divided by all lines of the file. Its large file also has URLs that occur twice, once in
// each half: they are found in both, rightly, and counted as false positives.
import { Sieve, type SieveOptions } from '../../../sieve.ts'
import type { BareUrls } from '../../bare-urls.ts'
import type { Cell, Claim, Lab, Table } from '../../experiment.ts'
import { LineWriter } from '../../line-writer.ts'
import { shuffle } from '../../shuffle.ts'
import { SplitFilter } from '../../split-filter.ts'
import { count, percent } from '../../wording.ts'

/** The lines of its three files, and what it printed: the lowest and highest count of its runs. */
interface Printed {
  readonly lines: number
  /** URLs that are in both halves: in each printed count 210 to 230 are rows of them. */
  readonly repeats: number
  readonly counts: { readonly [s in Replica]?: readonly [number, number] }
}

const REPLICAS = ['BF', 'MLBF', 'segments in one filter'] as const
type Replica = (typeof REPLICAS)[number]

export const PRINTED_FILES: readonly Printed[] = [
  { lines: 32_432, repeats: 0, counts: {} },
  { lines: 304_964, repeats: 0, counts: { BF: [7_616, 7_764], MLBF: [114, 149] } },
  { lines: 1_562_978, repeats: 220, counts: { BF: [50_372, 51_014], MLBF: [16_282, 16_580] } },
]

const TARGET = 0.05

export interface Replicated {
  readonly printed: Printed
  readonly structure: Replica
  readonly lines: number
  readonly queries: number
  readonly found: number
  /** Of those: rows of URLs that are in both halves. */
  readonly repeats: number
}

/** The procedure over a file of `lines` rows: as many as the printed file has, or fewer where the list is shorter. */
export async function replicate(
  lab: Lab,
  urls: BareUrls,
  lines: number,
  printed: Printed,
): Promise<Replicated[]> {
  const twice = Math.round((printed.repeats * lines) / printed.lines)
  const half = Math.floor(lines / 2)
  // The last rows of the second half are URLs of the first.
  const rows = Uint32Array.from({ length: lines }, (_, i) => (i < lines - twice ? i : i - (lines - twice)))
  const random = lab.random(`term-project procedure ${lines}`)
  const order = shuffle(
    Uint32Array.from(rows, (_, i) => i),
    random,
  ).subarray(0, Math.ceil(lines / 2))
  const isRepeat = (row: number) => rows[row]! < twice
  const halves = [linesOf(urls, rows.subarray(0, half)), linesOf(urls, rows.subarray(half))]
  const queried = linesOf(
    urls,
    order.map((row) => rows[row]!),
  )
  const replicated: Replicated[] = []
  for (const structure of REPLICAS) {
    const found: Uint8Array[] = []
    for (const members of halves) {
      const filter = await create(structure, lines - half)
      filter.addLines(members)
      found.push(filter.hasLines(queried))
    }
    const both = order.filter((_, i) => found[0]![i]! & found[1]![i]!)
    replicated.push({
      printed,
      structure,
      lines,
      queries: order.length,
      found: both.length,
      repeats: both.filter(isRepeat).length,
    })
  }
  return replicated
}

function create(structure: Replica, urls: number): Promise<Sieve | SplitFilter> {
  const sizes = { expectedUrls: urls, falsePositiveRate: TARGET, hash: 'murmur3', profile: 'raw' } as const
  const options: SieveOptions =
    structure === 'MLBF'
      ? { filter: 'multilayer', ...sizes, layers: 1, depth: 'grow' }
      : { filter: 'classic', ...sizes }
  return structure === 'segments in one filter'
    ? SplitFilter.create(options, 'segments')
    : Sieve.create(options)
}

/** The URLs of these numbers, as lines. */
export function linesOf(urls: BareUrls, rows: Uint32Array): Uint8Array {
  const writer = new LineWriter(rows.length * 80)
  for (const i of rows) writer.copy(urls.bytes, urls.starts[i]!, urls.ends[i]!).end()
  return writer.lines
}

/** The printed counts over the printed lines. */
const printedShares = ({ printed, structure }: Replicated): readonly [number, number] | null => {
  const counts = printed.counts[structure]
  return counts ? [counts[0] / printed.lines, counts[1] / printed.lines] : null
}

const range = (of: readonly [number, number] | null | undefined, show: (n: number) => string): Cell =>
  of ? `${show(of[0])} … ${show(of[1])}` : null

export function replicaTable(replicated: readonly Replicated[]): Table {
  return {
    title: 'The printed percentages, by the procedure of the program',
    note: '⌈lines / 2⌉ rows are queried, in both filters; the rows found in both are divided by all lines. So a filter of 5 % prints 2.5 %. 220 URLs of the largest file are in both halves: their rows are found rightly. "Segments in one filter" is the classic filter as its Algorithms 1 and 2 print it. For 32,432 rows the project plotted bars without numbers.',
    columns: [
      { name: 'lines', as: 'count' },
      { name: 'structure', as: 'text' },
      { name: 'queries', as: 'count' },
      { name: 'found in both', as: 'count' },
      { name: 'of them true repeats', as: 'count' },
      { name: 'found / lines', as: 'rate' },
      { name: 'found / queries', as: 'rate' },
      { name: 'printed', as: 'text' },
      { name: 'printed / lines', as: 'text' },
    ],
    rows: replicated.map((one) => [
      one.lines,
      one.structure,
      one.queries,
      one.found,
      one.repeats,
      one.found / one.lines,
      one.found / one.queries,
      range(one.printed.counts[one.structure], count),
      range(printedShares(one), percent),
    ]),
  }
}

/** Within this of the printed share we call it reproduced. */
const NEAR = 0.1

export function replicaClaims(replicated: readonly Replicated[]): Claim[] {
  return replicated.flatMap((one): Claim[] => {
    const shares = printedShares(one)
    if (!shares) return []
    const share = one.found / one.lines
    const isNear = share >= shares[0] * (1 - NEAR) && share <= shares[1] * (1 + NEAR)
    return [
      {
        source: 'term-project, Fig. 3',
        claim: `${one.structure} finds ${range(one.printed.counts[one.structure], count)} of ${count(one.printed.lines)} rows falsely`,
        verdict: isNear ? 'confirmed' : 'not reproduced',
        number: `${percent(share)} of the lines by its procedure; printed ${range(shares, percent)}`,
      },
    ]
  })
}
