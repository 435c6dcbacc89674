// The measurements of sharma-keywords' experiment: its Algorithm 5 over re-splits of the titles, and absent titles made of
// known words.
import { Sieve, type SieveOptions } from '../../../sieve.ts'
import { classicPlan, optimalHashes } from '../../../sizing/classic.ts'
import { keywordLayers } from '../../../sizing/keyword-layers.ts'
import type { Lab } from '../../experiment.ts'
import { shuffle } from '../../shuffle.ts'
import { SplitFilter } from '../../split-filter.ts'
import type { TitleTable } from '../../titles.ts'
import { clustered, type MeasuredRate, measuredRate } from '../../trial.ts'

/** The paper's error rate, and the improvement of precision that it expects. */
export const TARGET = 0.05
export const CLAIM = { least: 0.15, most: 0.3 }
/** More layers than a title has words hold nothing; the kernel has at most 64. */
const MOST_LAYERS = 64
/** Past this many hashes a single filter gains nothing that a few thousand titles could show. */
const MOST_HASHES = 32

const WORDS = 'words in one filter (Algorithms 1 and 2)'

interface Structure {
  readonly name: string
  readonly layers: number
  readonly options: SieveOptions
  /** The filter that it is compared with at the same memory. */
  readonly sameMemoryAs?: number
  /** The words of a title in it, not the title: its Algorithms 1 and 2. */
  readonly ofWords?: boolean
}

export interface Measured extends Structure {
  readonly bitsPerTitle: number
  readonly hashes: number
  readonly rate: MeasuredRate
  readonly precision: number
}

export interface Answered {
  readonly table: TitleTable
  readonly measured: readonly Measured[]
  /** Kinds of absent titles made of known words, by structure: how many were "found". */
  readonly known: readonly { readonly kind: string; readonly rates: readonly MeasuredRate[] }[]
}

/** The words of a title as the kernel sees them: ASCII letters and digits, and whatever is not ASCII. */
export function wordsOf(title: string): string[] {
  return title.match(/[A-Za-z0-9\u0080-\u{10ffff}]+/gu) ?? []
}

/** The ways to read "layers = keywords ÷ hash count": keywords of a title on average, of the longest, of all titles. */
export function layerReadings(titles: readonly string[], hashes: number): { name: string; layers: number }[] {
  const words = titles.map(wordsOf)
  const longest = Math.max(1, ...words.map((list) => list.length))
  const mean = words.reduce((sum, list) => sum + list.length, 0) / titles.length
  const distinct = new Set(words.flat()).size
  const layers = (keywords: number) =>
    Math.min(MOST_LAYERS, longest, keywordLayers({ keywords: Math.round(keywords), hashes }))
  const readings = [
    { name: 'words of a mean title ÷ k', layers: layers(mean) },
    { name: 'words of the longest ÷ k', layers: layers(longest) },
    { name: 'distinct words ÷ k', layers: layers(distinct) },
  ]
  return readings.filter((reading, i) => readings.findIndex((one) => one.layers === reading.layers) === i)
}

function structuresFor(titles: readonly string[], half: number): Structure[] {
  const { bits, hashes } = classicPlan({ urls: half, rate: TARGET })
  const single = (m: number, k: number): SieveOptions => ({ filter: 'classic', bits: m, hashes: k })
  const all: Structure[] = [{ name: 'single, same target', layers: 0, options: single(bits, hashes) }]
  for (const { name, layers } of layerReadings(titles, hashes)) {
    const total = bits * (layers + 1)
    all.push({
      name: `layers: ${name}`,
      layers,
      options: { filter: 'keyword-layers', layers, bitsPerLayer: bits, hashes },
    })
    const best = Math.min(MOST_HASHES, optimalHashes({ bits: total, urls: half }))
    all.push({ name: 'single, same memory', layers: 0, options: single(total, best), sameMemoryAs: layers })
  }
  all.push({ name: WORDS, layers: 0, options: single(bits, hashes), ofWords: true })
  return all
}

function create({ options, ofWords }: Structure): Promise<Sieve | SplitFilter> {
  const own: SieveOptions = { ...options, profile: 'raw', hash: 'murmur3' }
  return ofWords ? SplitFilter.create(own, 'words') : Sieve.create(own)
}

const planOf = (filter: Sieve | SplitFilter) => (filter instanceof SplitFilter ? filter.sieve : filter).plan

const seenIn = (answers: Uint8Array) => answers.reduce((sum, answer) => sum + answer, 0)

/** Algorithm 5: which of a shuffled sample, as large as a half, are found in both halves. */
async function algorithm5(structure: Structure, titles: readonly string[], random: () => number) {
  const numbers = Uint32Array.from(titles, (_, i) => i)
  const mixed = shuffle(numbers, random).slice()
  const half = Math.floor(mixed.length / 2)
  const sample = shuffle(mixed.slice(), random).subarray(0, half)
  const named = (list: Uint32Array) => Array.from(list, (i) => titles[i]!)
  const first = await create(structure)
  const second = await create(structure)
  first.addMany(named(mixed.subarray(0, half)))
  second.addMany(named(mixed.subarray(half)))
  const inFirst = first.hasMany(named(sample))
  const inSecond = second.hasMany(named(sample))
  const { bits, hashes } = planOf(first)
  const both = inFirst.map((found, i) => found & inSecond[i]!)
  return { sample, both, bits: bits!, hashes: hashes! }
}

/** Absent titles made of the words of those that are there; `layers` is the number that same-layer swaps are for. */
export function madeOfKnownWords(
  titles: readonly string[],
  layers: number,
  random: () => number,
): { kind: string; absent: string[] }[] {
  const words = titles.map(wordsOf)
  const present = new Set(words.map((list) => list.join(' ')))
  const absent = (lists: readonly (readonly string[])[]) => [
    ...new Set(lists.map((list) => list.join(' ')).filter((title) => title !== '' && !present.has(title))),
  ]
  const swapped = words
    .filter((list) => list.length > layers)
    .map((list) => {
      const other = [...list]
      ;[other[0], other[layers]] = [list[layers]!, list[0]!]
      return other
    })
  const mixed = words
    .filter((list) => list.length > 1)
    .map((list) => {
      const other = words[Math.floor(random() * words.length)]!
      return list.map((word, i) => (i % 2 === 1 ? (other[i] ?? word) : word))
    })
  return [
    { kind: 'its words backwards', absent: absent(words.map((list) => list.toReversed())) },
    { kind: 'two words of one layer swapped', absent: absent(swapped) },
    { kind: 'words of two titles mixed in place', absent: absent(mixed) },
  ]
}

export async function answer(lab: Lab, table: TitleTable, rounds: number): Promise<Answered> {
  const { titles } = table
  const half = Math.floor(titles.length / 2)
  const structures = structuresFor(titles, half)
  const measured: Measured[] = []
  for (const structure of structures) {
    const runs = []
    // The same titles in every split: a cluster for each.
    const clusters = titles.map(() => ({ hits: 0, trials: 0 }))
    for (let round = 0; round < rounds; round++) {
      // The same splits for every structure.
      const run = await algorithm5(structure, titles, lab.random(`sharma ${table.name} ${round}`))
      runs.push(run)
      for (const [i, title] of run.sample.entries()) {
        clusters[title]!.trials++
        clusters[title]!.hits += run.both[i]!
      }
    }
    const rate = clustered(clusters)
    measured.push({
      ...structure,
      bitsPerTitle: runs[0]!.bits / half,
      hashes: runs[0]!.hashes,
      rate,
      // Each title of the sample is in exactly one half, and found there: that many answers are right.
      precision: rate.trials / (rate.trials + rate.hits),
    })
  }
  const held = titles.slice(0, half)
  const kinds = new Map<string, MeasuredRate[]>()
  for (const structure of structures) {
    const sieve = await create(structure)
    sieve.addMany(held)
    const layers = Math.max(1, structure.layers || (structure.sameMemoryAs ?? 1))
    for (const { kind, absent } of madeOfKnownWords(held, layers, lab.random('sharma words'))) {
      kinds.set(kind, [
        ...(kinds.get(kind) ?? []),
        measuredRate(seenIn(sieve.hasMany(absent)), absent.length),
      ])
    }
  }
  return { table, measured, known: [...kinds].map(([kind, rates]) => ({ kind, rates })) }
}

/** How many of all questions must be for titles that are there, at most, for precision to improve by `gain`. */
export function presentShare(single: number, layered: number, gain: number): number {
  const odds = (single - (1 + gain) * layered) / gain
  return odds <= 0 ? 0 : odds / (1 + odds)
}

export function precisionAt(rate: number, present: number): number {
  return present / (present + (1 - present) * rate)
}

export const layersOf = ({ measured }: Answered) => measured.filter(({ layers }) => layers > 0)
