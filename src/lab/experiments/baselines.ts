// The exact structures that the papers start from: linear and binary search, hash set and trie, beside the fingerprint
// filter. Time and bytes per URL as n grows, each only as far as it is bearable.

import type { FilterKind } from '../../filters/filter.ts'
import { LinearList } from '../../filters/linear.ts'
import { filters } from '../../filters/registry.ts'
import { SortedArray } from '../../filters/sorted-array.ts'
import { Sieve } from '../../sieve.ts'
import { type BareUrls, bareUrls } from '../bare-urls.ts'
import { ones } from '../counted.ts'
import type { Claim, Experiment, Lab, Plot, Result, Table } from '../experiment.ts'
import { LineWriter } from '../line-writer.ts'
import { numberedLines } from '../negatives.ts'
import { Stopwatch } from '../stopwatch.ts'
import { count, factor, listed } from '../wording.ts'

const STRUCTURES = ['linear', 'sorted-array', 'hash-set', 'trie', 'fingerprint'] as const
type Structure = (typeof STRUCTURES)[number]

const SIZES = [1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6]
const QUICK_SIZES = [1e3, 3e3, 1e4, 3e4]
/** Where the list is searched from its start there are n comparisons a query: few queries will do. */
const QUERIES = 50_000
const SLOW_QUERIES = 1_000
const SLOW_URLS = 20_000

export interface Outcome {
  readonly structure: Structure
  readonly urls: number
  readonly bytesPerUrl: number
  readonly wrong: number
  readonly nsAdd: number
  readonly nsHit: number
  readonly nsMiss: number
  /** Keys compared for a new URL; null: the structure does not compare keys, or nobody can count it. */
  readonly comparisons: number | null
}

const bearable = (structure: Structure): number =>
  (filters[structure] as FilterKind).comfortableUrls ?? Number.POSITIVE_INFINITY

// Evenly spread over the first n URLs, as lines.
function spread(urls: BareUrls, n: number, queries: number): Uint8Array {
  const writer = new LineWriter(queries * 80)
  for (let q = 0; q < queries; q++) {
    const i = Math.floor((q * n) / queries)
    writer.copy(urls.bytes, urls.starts[i]!, urls.ends[i]!).end()
  }
  return writer.lines
}

/** Keys that a structure of the first n URLs compares with a new one, on average: counted, whatever the machine does. */
export function comparisonsPerMiss(structure: Structure, urls: BareUrls, n: number): number | null {
  const list =
    structure === 'linear' ? new LinearList() : structure === 'sorted-array' ? new SortedArray() : null
  if (list === null) return null
  const keyAt = (i: number) => urls.bytes.subarray(urls.starts[i]!, urls.ends[i]!)
  const keys = Array.from({ length: n }, (_, i) => keyAt(i))
  for (const key of keys.sort(Buffer.compare)) list.restore(key)
  const queries = Math.min(n, SLOW_QUERIES)
  for (let q = 0; q < queries; q++)
    list.has(Buffer.concat([keyAt(Math.floor((q * n) / queries)), Buffer.from([0])]))
  return list.comparisons / queries
}

export interface PrefixBytes {
  readonly all: number
  readonly distinct: number
}

/** Bytes per URL of the first n URLs, and those behind the prefix that each shares with the one before it in sorted order. */
export function prefixBytes(urls: BareUrls, n: number): PrefixBytes {
  const keys = Array.from({ length: n }, (_, i) => urls.bytes.subarray(urls.starts[i]!, urls.ends[i]!)).sort(
    Buffer.compare,
  )
  let [all, distinct] = [0, 0]
  for (const [i, key] of keys.entries()) {
    const before = keys[i - 1]
    let shared = 0
    while (before !== undefined && shared < key.length && key[shared] === before[shared]) shared++
    all += key.length
    distinct += key.length - shared
  }
  return { all: all / n, distinct: distinct / n }
}

async function measure(
  lab: Lab,
  structure: Structure,
  urls: BareUrls,
  sizes: readonly number[],
): Promise<Outcome[]> {
  const sieve: Sieve = await Sieve.create({ filter: structure, profile: 'raw', key: lab.key('baselines') })
  // The engine compiles as it runs: a first pass that nobody looks at.
  const warm: Sieve = await Sieve.create({ filter: structure, profile: 'raw' })
  for (let pass = 0; pass < 3; pass++) warm.addLines(urls.lines(0, sizes[0]!))
  for (let pass = 0; pass < 3; pass++) warm.hasLines(urls.lines(0, sizes[0]!))
  const outcomes: Outcome[] = []
  let added = 0
  for (const n of sizes) {
    const [adding, hitting, missing] = [new Stopwatch(), new Stopwatch(), new Stopwatch()]
    const fresh = urls.lines(added, n)
    let wrong = n - added - ones(adding.time(() => sieve.addLines(fresh)))
    const queries = Math.min(n, bearable(structure) < SLOW_URLS ? SLOW_QUERIES : QUERIES)
    const hits = spread(urls, n, queries)
    // New ones: URLs past n where there are some, so that every structure gets natural ones; else numbered ones.
    const misses =
      n + queries <= urls.count ? urls.lines(n, n + queries) : numberedLines(urls, n - queries, n)
    wrong += queries - ones(hitting.time(() => sieve.hasLines(hits)))
    wrong += ones(missing.time(() => sieve.hasLines(misses)))
    outcomes.push({
      structure,
      urls: n,
      bytesPerUrl: sieve.stats().sizeBytes / n,
      wrong,
      nsAdd: adding.nsEach(n - added),
      nsHit: hitting.nsEach(queries),
      nsMiss: missing.nsEach(queries),
      comparisons: comparisonsPerMiss(structure, urls, n),
    })
    added = n
  }
  return outcomes
}

function outcomeTable(outcomes: readonly Outcome[]): Table {
  return {
    title: 'Exact structures as n grows',
    note: 'ns/add covers the URLs added since the previous row; each structure is measured only up to a tolerable time. Bytes of the four in JavaScript are computed from V8’s layout of their keys and tables, not measured in the process. Wrong answers: of all adds and queries. Keys compared with a new URL are counted; verdicts on growth rest on them, since times depend on what else the machine does.',
    columns: [
      { name: 'structure', as: 'text' },
      { name: 'n', as: 'count' },
      { name: 'bytes/URL', as: 'ratio' },
      { name: 'wrong answers', as: 'count' },
      { name: 'keys compared/miss', as: 'ratio' },
      { name: 'ns/add', as: 'time', timing: true },
      { name: 'ns/hit', as: 'time', timing: true },
      { name: 'ns/miss', as: 'time', timing: true },
    ],
    rows: outcomes.map((outcome) => [
      outcome.structure,
      outcome.urls,
      outcome.bytesPerUrl,
      outcome.wrong,
      outcome.comparisons,
      outcome.nsAdd,
      outcome.nsHit,
      outcome.nsMiss,
    ]),
  }
}

function plots(outcomes: readonly Outcome[]): Plot[] {
  const plot = (title: string, label: string, of: (outcome: Outcome) => number): Plot => ({
    title,
    alt: `${title}, against the number of URLs, for ${listed(STRUCTURES)}`,
    x: { label: 'URLs', log: true },
    y: { label, log: true },
    kind: 'line',
    series: STRUCTURES.map((structure) => ({
      name: structure,
      points: outcomes
        .filter((outcome) => outcome.structure === structure)
        .map((outcome) => ({ x: outcome.urls, y: of(outcome) })),
    })).filter(({ points }) => points.length > 0),
  })
  return [
    plot('Time to add a URL', 'ns', ({ nsAdd }) => nsAdd),
    plot('Time to query a new URL', 'ns', ({ nsMiss }) => nsMiss),
    plot('Memory of a URL', 'bytes', ({ bytesPerUrl }) => bytesPerUrl),
  ]
}

function finding(outcomes: readonly Outcome[]): string {
  const of = (structure: Structure) => outcomes.filter((outcome) => outcome.structure === structure)
  const growthOf = (structure: Structure) => {
    const all = of(structure)
    return `${structure} ${factor(all.at(-1)!.nsMiss / all[0]!.nsMiss)} times (${count(all[0]!.urls)} to ${count(all.at(-1)!.urls)} URLs)`
  }
  const set = of('hash-set').at(-1)!
  const prints = of('fingerprint').find(({ urls }) => urls === set.urls)!
  const smallest = [...outcomes]
    .filter(({ urls }) => urls === set.urls)
    .sort((a, b) => a.bytesPerUrl - b.bytesPerUrl)[0]!
  const compare = (ours: number, theirs: number, less: string, more: string) =>
    ours < theirs ? `${factor(theirs / ours)} times ${less}` : `${factor(ours / theirs)} times ${more}`
  const wrong = outcomes.reduce((sum, outcome) => sum + outcome.wrong, 0)
  return [
    `From the smallest to the largest n of each, a question costs more by a factor of: ${listed(STRUCTURES.map(growthOf))}.`,
    `At ${count(set.urls)} URLs fingerprint takes ${prints.bytesPerUrl.toFixed(1)} bytes per URL, ${compare(prints.bytesPerUrl, set.bytesPerUrl, 'less', 'more')} than hash-set, and adds ${compare(prints.nsAdd, set.nsAdd, 'faster', 'slower')}; the smallest there is ${smallest.structure}.`,
    wrong === 0 ? 'None gave a wrong answer.' : `Wrong answers: ${count(wrong)}.`,
  ].join(' ')
}

/** Within a fifth we call a growth as claimed. */
const isNear = (work: number, claimed: number) => Math.abs(work / claimed - 1) < 0.2

/** From the smallest n of a structure to its largest: the factors of n, log n, keys compared and time of a miss. */
function growthOf(outcomes: readonly Outcome[]) {
  const [first, last] = [outcomes[0]!, outcomes.at(-1)!]
  return {
    urls: last.urls / first.urls,
    logs: Math.log2(last.urls) / Math.log2(first.urls),
    work: (last.comparisons ?? 0) / (first.comparisons ?? 1),
    times: last.nsMiss / first.nsMiss,
  }
}

export function claims(outcomes: readonly Outcome[], prefixes: PrefixBytes): Claim[] {
  const of = (structure: Structure) => outcomes.filter((outcome) => outcome.structure === structure)
  const [linear, binary, set] = (['linear', 'sorted-array', 'hash-set'] as const).map((name) =>
    growthOf(of(name)),
  )
  const largest = of('hash-set').at(-1)!
  // At the largest n that both were measured at.
  const bytes = of('sorted-array').findLast(({ urls }) => of('trie').some((other) => other.urls === urls))!
  const trie = of('trie').find(({ urls }) => urls === bytes.urls)!
  const prints = of('fingerprint').find(({ urls }) => urls === largest.urls)!
  const wrong = outcomes.reduce((sum, outcome) => sum + outcome.wrong, 0)
  return [
    {
      source: 'ours',
      claim: 'fingerprint takes a fraction of the memory of a hash set, with no wrong answer',
      verdict: wrong === 0 && prints.bytesPerUrl < largest.bytesPerUrl / 2 ? 'confirmed' : 'wrong',
      number: `${prints.bytesPerUrl.toFixed(1)} bytes per URL against ${largest.bytesPerUrl.toFixed(0)} at ${count(largest.urls)} URLs`,
    },
    {
      source: 'cen-2010, II; term-project, introduction',
      claim: 'the time of linear search rises in proportion to n',
      verdict: isNear(linear!.work, linear!.urls) ? 'confirmed' : 'not reproduced',
      number: `${factor(linear!.work)} times the keys compared for ${factor(linear!.urls)} times the URLs; ${factor(linear!.times)} times the time`,
    },
    {
      source: 'term-project, introduction',
      claim: 'that of binary search rises as log n',
      verdict: isNear(binary!.work, binary!.logs) ? 'confirmed' : 'not reproduced',
      number: `${factor(binary!.work)} times the keys compared where log n is ${factor(binary!.logs)} times as large; ${factor(binary!.times)} times the time (hash set, not counted: ${factor(set!.times)} for ${factor(set!.urls)} times the URLs)`,
    },
    {
      source: 'cen-2010, II (Igloo)',
      claim: 'a trie (here: of one byte per node) saves a lot of space by common prefixes',
      verdict: trie.bytesPerUrl < bytes.bytesPerUrl ? 'confirmed' : 'wrong',
      number: `${trie.bytesPerUrl.toFixed(0)} bytes per URL at ${count(trie.urls)}; the keys in a sorted array ${bytes.bytesPerUrl.toFixed(0)}. A radix trie would save: distinct prefixes have ${prefixes.distinct.toFixed(1)} of ${prefixes.all.toFixed(1)} bytes per URL`,
    },
  ]
}

async function run(lab: Lab): Promise<Result> {
  lab.progress(0, 'URLs')
  const wanted = lab.quick ? QUICK_SIZES : SIZES
  const urls = await bareUrls(lab, wanted.at(-1)! + QUERIES)
  const sizes = wanted.filter((n) => n <= urls.count)
  if (sizes.length === 0) sizes.push(urls.count)
  const outcomes: Outcome[] = []
  for (const [i, structure] of STRUCTURES.entries()) {
    lab.progress((i + 0.5) / STRUCTURES.length, structure)
    const mine = sizes.filter((n) => n <= bearable(structure))
    outcomes.push(...(await measure(lab, structure, urls, mine.length > 0 ? mine : sizes.slice(0, 1))))
  }
  lab.progress(1, 'done')
  return {
    claims: claims(outcomes, prefixBytes(urls, sizes.at(-1)!)),
    finding: finding(outcomes),
    tables: [outcomeTable(outcomes)],
    plots: plots(outcomes),
  }
}

export const baselines: Experiment = {
  name: 'baselines',
  title: 'Linear search, binary search, hash set, trie',
  source: 'cen-2010, term-project, url-caching',
  question: 'What do the exact structures cost per URL, in time and bytes, as the number of URLs grows?',
  run,
}
