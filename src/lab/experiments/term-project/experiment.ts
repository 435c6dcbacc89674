// The term project, Fig. 3 to 5: hash table, classic and multi-layer filter with a 5 % target, by its Algorithm 5; and
// the linear and binary search of its introduction, on a sample.

import { Sieve, type SieveOptions } from '../../../sieve.ts'
import { type BareUrls, bareUrls } from '../../bare-urls.ts'
import { RATE_COLUMNS, rateCells } from '../../counted.ts'
import type { Cell, Experiment, Lab, Plot, Result, Table } from '../../experiment.ts'
import { clopperPearson } from '../../interval.ts'
import { shuffle } from '../../shuffle.ts'
import { SplitFilter } from '../../split-filter.ts'
import { Stopwatch } from '../../stopwatch.ts'
import { count, factor, percent, withInterval } from '../../wording.ts'
import { linesOf, PRINTED_FILES, type Replicated, replicaTable, replicate } from './procedure.ts'
import {
  claims,
  LINEAR_QUERIES,
  type Outcome,
  PRINTED_HOURS,
  PRINTED_LINEAR_SECONDS,
  PRINTED_QUERIES,
  printedHours,
  SEGMENTS,
  STRUCTURES,
  type Structure,
  TARGET,
} from './verdicts.ts'

const SIZES = [32_432, 269_452, 1_562_978]
const QUICK_SIZES = [4_000, 16_000, 64_000]
/** Hashes of the BF that gets the memory of MLBF: more would be better still, and slower. */
const LARGE_HASHES = 16
/** Printed for 1,562,978 URLs: the lowest and highest of its runs. */
const PRINTED = {
  urls: 1_562_978,
  falsePositives: { BF: [50_372, 51_014], MLBF: [16_282, 16_580] },
  insertionSeconds: { 'hash table': [1.6, 1.6], BF: [3.7, 4.1], MLBF: [11.7, 12.1] },
  querySeconds: { 'hash table': [1, 1], BF: [1.7, 1.9], MLBF: [7.8, 8.7] },
} as const
/** What linear and binary search are measured on; past it they are reckoned. */
const SAMPLE = { linear: 4_000, 'sorted-array': 32_000 } as const
const QUICK_SAMPLE = { linear: 1_000, 'sorted-array': 8_000 } as const

function options(structure: Structure, urls: number, mlbfBytes: number): SieveOptions {
  if (structure === 'hash table') return { filter: 'hash-set' }
  const sizes = { expectedUrls: urls, falsePositiveRate: TARGET, hash: 'murmur3' } as const
  if (structure === 'BF' || structure === SEGMENTS) return { filter: 'classic', ...sizes }
  if (structure === 'MLBF') return { filter: 'multilayer', ...sizes, layers: 1, depth: 'grow' }
  return { filter: 'classic', hash: 'murmur3', sizeBytes: Math.floor(mlbfBytes), hashes: LARGE_HASHES }
}

// Algorithm 5: halves B and C in a filter each, then T, as many rows as a half holds, shuffled from all. What is in
// both filters is a false positive of one of them, since the rows are distinct.
async function algorithm5(lab: Lab, urls: BareUrls): Promise<Outcome[]> {
  const half = Math.floor(urls.count / 2)
  const halves = [urls.lines(0, half), urls.lines(half, urls.count)]
  const rows = Uint32Array.from({ length: urls.count }, (_, i) => i)
  const order = shuffle(rows, lab.random(`term-project ${urls.count}`))
  const sample = linesOf(urls, order.subarray(0, half))
  const outcomes: Outcome[] = []
  let mlbfBytes = 0
  for (const structure of STRUCTURES) {
    const inserting = new Stopwatch()
    const querying = new Stopwatch()
    const found: Uint8Array[] = []
    let bytes = 0
    let layers: number | null = null
    for (const lines of halves) {
      const sizes: SieveOptions = { ...options(structure, urls.count - half, mlbfBytes), profile: 'raw' }
      const filter: Sieve | SplitFilter = await (structure === SEGMENTS
        ? SplitFilter.create(sizes, 'segments')
        : Sieve.create(sizes))
      inserting.time(() => filter.addLines(lines))
      found.push(querying.time(() => filter.hasLines(sample)))
      const stats = (filter instanceof SplitFilter ? filter.sieve : filter).stats()
      bytes += stats.sizeBytes
      if (stats.layers) layers = Math.max(layers ?? 0, stats.layers.length - 1)
    }
    if (structure === 'MLBF') mlbfBytes = Math.max(64, bytes / 2)
    let falsePositives = 0
    for (let i = 0; i < half; i++) falsePositives += found[0]![i]! & found[1]![i]!
    outcomes.push({
      urls: urls.count,
      structure,
      queries: half,
      falsePositives,
      insertionSeconds: inserting.seconds,
      querySeconds: querying.seconds,
      bytes,
      layers,
    })
  }
  return outcomes
}

interface Search {
  readonly structure: string
  readonly filter: 'linear' | 'sorted-array'
  readonly held: number
  readonly queries: number
  readonly seconds: number
}

async function search(filter: Search['filter'], urls: BareUrls, held: number): Promise<Search> {
  const sieve: Sieve = await Sieve.create({ filter, profile: 'raw' })
  sieve.addLines(urls.lines(0, held))
  const queries = Math.min(held, filter === 'linear' ? 1_000 : 20_000)
  const every = Math.floor(held / queries)
  const lines = linesOf(
    urls,
    Uint32Array.from({ length: queries }, (_, i) => i * every),
  )
  const querying = new Stopwatch()
  querying.time(() => sieve.hasLines(lines))
  const structure = filter === 'linear' ? 'linear search' : 'binary search'
  return { structure, filter, held, queries, seconds: querying.seconds }
}

/** Time of `queries` at n URLs, reckoned from the sample: in proportion to n, or to log n. */
function extrapolate({ filter, held, queries, seconds }: Search, urls: number, wanted: number): number {
  const longer = filter === 'linear' ? urls / held : Math.log2(urls) / Math.log2(held)
  return (seconds / queries) * longer * wanted
}

const printed = (
  of: { readonly [s in Structure]?: readonly number[] },
  { urls, structure }: Outcome,
): Cell => {
  const range = urls === PRINTED.urls ? of[structure] : undefined
  if (!range) return null
  return range[0] === range[1]
    ? range[0]!.toLocaleString('en-US')
    : range.map((n) => n.toLocaleString('en-US')).join(' … ')
}

function outcomeTable(outcomes: readonly Outcome[]): Table {
  return {
    title: 'Fig. 3 to 5: Algorithm 5 with a 5 % target',
    note: 'Two halves, one filter each; queries are as many rows as a half, shuffled from all, to both filters; a row found in both is a false positive. BF hashes the whole URL; MLBF grows a layer for each segment; "segments in one filter" is the classic filter as its Algorithms 1 and 2 print it. murmur3, seeds 0 … k − 1. What the printed counts are divided by is in the last table.',
    columns: [
      { name: 'n', as: 'count' },
      { name: 'structure', as: 'text' },
      ...RATE_COLUMNS,
      { name: 'printed', as: 'text' },
      { name: 'layers', as: 'count' },
      { name: 'bytes/URL', as: 'ratio' },
      { name: 'insertion, s', as: 'time', timing: true },
      { name: 'printed insertion, s', as: 'text' },
      { name: 'query, s', as: 'time', timing: true },
      { name: 'printed query, s', as: 'text' },
    ],
    rows: outcomes.map((outcome) => {
      const { urls, structure, queries, falsePositives, bytes, layers, insertionSeconds, querySeconds } =
        outcome
      return [
        urls,
        structure,
        ...rateCells(falsePositives, queries),
        printed(PRINTED.falsePositives, outcome),
        layers,
        bytes / urls,
        insertionSeconds,
        printed(PRINTED.insertionSeconds, outcome),
        querySeconds,
        printed(PRINTED.querySeconds, outcome),
      ]
    }),
  }
}

function searchTable(searches: readonly Search[], sizes: readonly number[]): Table {
  return {
    title: 'Linear and binary search, extrapolated from a sample',
    note: `Measured on the sample only. Extrapolated: linear search in proportion to n, binary search to log n. The project’s notebook printed ${PRINTED_LINEAR_SECONDS} s for ${LINEAR_QUERIES} queries by linear search, and reckoned ${PRINTED_HOURS} hours for ${count(PRINTED_QUERIES)}; 100 queries times ${count(PRINTED_QUERIES / LINEAR_QUERIES)} are ${factor(printedHours())} hours.`,
    columns: [
      { name: 'structure', as: 'text' },
      { name: 'URLs in the sample', as: 'count' },
      { name: 'ns/query in the sample', as: 'time', timing: true },
      { name: 'n', as: 'count' },
      { name: 'extrapolated: s for 100 queries', as: 'time', timing: true },
      { name: 'extrapolated: s for n / 2 queries', as: 'time', timing: true },
    ],
    rows: searches.flatMap((one) =>
      sizes.map((n) => [
        one.structure,
        one.held,
        (one.seconds * 1e9) / one.queries,
        n,
        extrapolate(one, n, LINEAR_QUERIES),
        extrapolate(one, n, Math.floor(n / 2)),
      ]),
    ),
  }
}

function plots(outcomes: readonly Outcome[]): Plot[] {
  const middle = (range: readonly number[]) => (range[0]! + range.at(-1)!) / 2
  const ours = (of: (outcome: Outcome) => number) =>
    STRUCTURES.map((structure) => ({
      name: structure,
      points: outcomes
        .filter((outcome) => outcome.structure === structure)
        .map((outcome) => ({ x: outcome.urls, y: of(outcome) })),
    }))
  const theirs = (of: { readonly [s in Structure]?: readonly number[] }) =>
    STRUCTURES.filter((structure) => of[structure]).map((structure) => ({
      name: `${structure}, printed`,
      printed: true,
      points: [{ x: PRINTED.urls, y: middle(of[structure]!) }],
    }))
  const x = { label: 'URLs', log: true }
  return [
    {
      title: 'Fig. 3: false positives',
      alt: 'False positives of BF and MLBF against the number of URLs, beside the printed counts',
      x,
      y: { label: 'false positives', log: true },
      kind: 'line',
      series: [
        ...(['BF', 'MLBF', 'BF, memory of MLBF'] as const).map((name) => ({
          name,
          points: outcomes
            .filter(({ structure }) => structure === name)
            .map(({ urls, queries, falsePositives }) => {
              const { lower, upper } = clopperPearson({ hits: falsePositives, trials: queries })
              if (falsePositives === 0) return { x: urls, y: upper * queries, bound: true as const }
              return { x: urls, y: falsePositives, low: lower * queries, high: upper * queries }
            }),
        })),
        ...theirs(PRINTED.falsePositives),
      ].filter(({ points }) => points.length > 0),
    },
    {
      title: 'Fig. 4: query time',
      alt: 'Seconds for queries of half as many URLs, for hash table, BF and MLBF, beside the printed times',
      x,
      y: { label: 'seconds', log: true },
      kind: 'line',
      series: [...ours(({ querySeconds }) => querySeconds), ...theirs(PRINTED.querySeconds)],
    },
    {
      title: 'Fig. 5: insertion time',
      alt: 'Seconds for inserting all URLs, for hash table, BF and MLBF, beside the printed times',
      x,
      y: { label: 'seconds', log: true },
      kind: 'line',
      series: [...ours(({ insertionSeconds }) => insertionSeconds), ...theirs(PRINTED.insertionSeconds)],
    },
  ]
}

function finding(outcomes: readonly Outcome[], searches: readonly Search[]): string {
  const n = outcomes.at(-1)!.urls
  const last = (structure: Structure) =>
    outcomes.find((outcome) => outcome.urls === n && outcome.structure === structure)!
  const [table, bf, mlbf, large] = STRUCTURES.map(last) as [Outcome, Outcome, Outcome, Outcome]
  const rate = ({ falsePositives, queries }: Outcome) =>
    withInterval(falsePositives / queries, clopperPearson({ hits: falsePositives, trials: queries }))
  const fewer = mlbf.falsePositives < bf.falsePositives
  const bigger = mlbf.bytes / bf.bytes
  const ratio = (of: (outcome: Outcome) => number) =>
    `${factor(of(mlbf) / of(bf))} times the ${of === insertion ? 'insertion' : 'query'} time`
  const insertion = ({ insertionSeconds }: Outcome) => insertionSeconds
  const query = ({ querySeconds }: Outcome) => querySeconds
  const slow = searches.map((one) => `${one.structure} ${seconds(extrapolate(one, n, Math.floor(n / 2)))}`)
  const wrong = table.falsePositives
  return [
    `At ${count(n)} URLs the false-positive rate of BF is ${rate(bf)}, target ${percent(TARGET)}, and that of MLBF ${rate(mlbf)}: ${fewer ? 'fewer' : 'not fewer'}, with ${factor(bigger)} times the memory, ${ratio(insertion)} and ${ratio(query)}.`,
    `A BF with that memory has ${rate(large)}: ${large.falsePositives < mlbf.falsePositives ? 'the layers are not worth their memory' : large.falsePositives === mlbf.falsePositives ? 'no difference' : 'the layers are worth their memory here'}.`,
    `The hash table errs ${wrong === 0 ? 'never' : `${count(wrong)} times`} and takes ${factor(table.bytes / bf.bytes)} times the memory of BF.`,
    `Extrapolated from a sample, ${count(Math.floor(n / 2))} queries would take ${slow.join(' and ')}.`,
  ].join(' ')
}

function seconds(value: number): string {
  if (value >= 7200) return `${factor(value / 3600)} hours`
  return value >= 120 ? `${factor(value / 60)} minutes` : `${factor(value)} s`
}

async function run(lab: Lab): Promise<Result> {
  lab.progress(0, 'URLs')
  const wanted = lab.quick ? QUICK_SIZES : SIZES
  const urls = await bareUrls(lab, wanted.at(-1)!)
  // With fewer URLs than the project had, its sizes are scaled down.
  const scale = urls.count / wanted.at(-1)!
  const sizes = wanted.map((n) => Math.round(n * scale))
  const outcomes: Outcome[] = []
  for (const [i, n] of sizes.entries()) {
    lab.progress((i + 0.5) / (sizes.length + 1), `${count(n)} URLs`)
    outcomes.push(...(await algorithm5(lab, urls.first(n))))
  }
  const replicated: Replicated[] = []
  for (const printed of PRINTED_FILES) {
    const lines = Math.round(printed.lines * scale * (wanted.at(-1)! / SIZES.at(-1)!))
    lab.progress(sizes.length / (sizes.length + 1), `the printed procedure, ${count(lines)} rows`)
    replicated.push(...(await replicate(lab, urls, lines, printed)))
  }
  lab.progress((sizes.length + 0.5) / (sizes.length + 1), 'linear and binary search')
  const sample = lab.quick ? QUICK_SAMPLE : SAMPLE
  const searches = [
    await search('linear', urls, Math.min(urls.count, sample.linear)),
    await search('sorted-array', urls, Math.min(urls.count, sample['sorted-array'])),
  ]
  lab.progress(1, 'done')
  return {
    claims: claims(outcomes, replicated),
    finding: finding(outcomes, searches),
    tables: [outcomeTable(outcomes), searchTable(searches, sizes), replicaTable(replicated)],
    plots: plots(outcomes),
  }
}

export const termProject: Experiment = {
  name: 'term-project',
  title: 'Hash table, Bloom filter, multi-layer Bloom filter',
  source: 'term-project, Fig. 3 to 5',
  question:
    'With a 5 % target, what are the false-positive rates of a Bloom filter and a multi-layer one, and their cost compared with a hash table?',
  run,
}
