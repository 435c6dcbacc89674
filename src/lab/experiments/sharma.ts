// sharma-keywords again: titles split into words, the words dealt round-robin to layers, and false positives counted
// by its Algorithm 5: of two halves, whatever is found in both is a false positive in one. Then comparisons that the paper left out.
import { Sieve, type SieveOptions } from '../../sieve.ts'
import { classicPlan, optimalHashes } from '../../sizing/classic.ts'
import { keywordLayers } from '../../sizing/keyword-layers.ts'
import type { Cell, Experiment, Lab, Plot, Table } from '../experiment.ts'
import { shuffle } from '../shuffle.ts'
import { generatedTitles, readTitles, type TitleTable } from '../titles.ts'
import {
  aboveZero,
  isAbove,
  MEASURED_COLUMNS,
  type MeasuredRate,
  measuredCells,
  measuredRate,
  pooled,
  ratePoint,
} from '../trial.ts'
import { count, listed, percent } from '../wording.ts'

/** The paper's error rate, and the improvement of precision that it expects. */
const TARGET = 0.05
const CLAIM = { least: 0.15, most: 0.3 }
/** More layers than a title has words hold nothing; the kernel has at most 64. */
const MOST_LAYERS = 64
/** Past this many hashes a single filter gains nothing that a few thousand titles could show. */
const MOST_HASHES = 32

interface Structure {
  readonly name: string
  readonly layers: number
  readonly options: SieveOptions
  /** The filter that it is compared with at the same memory. */
  readonly sameMemoryAs?: number
}

interface Measured extends Structure {
  readonly bitsPerTitle: number
  readonly hashes: number
  readonly rate: MeasuredRate
  readonly precision: number
}

interface Answered {
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
  return all
}

function create({ options }: Structure): Promise<Sieve> {
  return Sieve.create({ ...options, profile: 'raw', hash: 'murmur3' })
}

const seenIn = (answers: Uint8Array) => answers.reduce((sum, answer) => sum + answer, 0)

/** Algorithm 5: how many of a shuffled sample, as large as a half, are found in both halves. */
async function algorithm5(structure: Structure, titles: readonly string[], random: () => number) {
  const mixed = shuffle([...titles], random)
  const half = Math.floor(mixed.length / 2)
  const sample = shuffle([...mixed], random).slice(0, half)
  const first = await create(structure)
  const second = await create(structure)
  first.addMany(mixed.slice(0, half))
  second.addMany(mixed.slice(half))
  const inFirst = first.hasMany(sample)
  const inSecond = second.hasMany(sample)
  const both = inFirst.reduce((sum, found, i) => sum + (found & inSecond[i]!), 0)
  return { ...measuredRate(both, sample.length), bits: first.plan.bits!, hashes: first.plan.hashes!, half }
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

async function answer(lab: Lab, table: TitleTable, rounds: number): Promise<Answered> {
  const { titles } = table
  const half = Math.floor(titles.length / 2)
  const structures = structuresFor(titles, half)
  const measured: Measured[] = []
  for (const structure of structures) {
    const runs = []
    for (let round = 0; round < rounds; round++) {
      // The same splits for every structure.
      runs.push(await algorithm5(structure, titles, lab.random(`sharma ${table.name} ${round}`)))
    }
    const rate = pooled(runs)
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

function precisionAt(rate: number, present: number): number {
  return present / (present + (1 - present) * rate)
}

const layersOf = ({ measured }: Answered) => measured.filter(({ layers }) => layers > 0)

function mainTable(answers: readonly Answered[]): Table {
  const rows: Cell[][] = []
  for (const { table, measured } of answers) {
    const single = measured[0]!
    for (const one of measured) {
      rows.push([
        table.name,
        one.name,
        one.layers || null,
        one.hashes,
        one.bitsPerTitle,
        ...measuredCells(one.rate),
        one.precision,
        one === single ? null : one.precision / single.precision - 1,
      ])
    }
  }
  return {
    title: 'Algorithm 5: found in both halves',
    note: `Every filter is made for a ${percent(TARGET)} error. Precision is right answers ÷ answers "present": each title of the sample is in one half.`,
    columns: [
      { name: 'table', as: 'text' },
      { name: 'filter', as: 'text' },
      { name: 'layers', as: 'count' },
      { name: 'k', as: 'count' },
      { name: 'bits/title', as: 'ratio' },
      ...MEASURED_COLUMNS,
      { name: 'precision', as: 'rate' },
      { name: 'precision gained', as: 'rate' },
    ],
    rows,
  }
}

function orderTable(answers: readonly Answered[]): Table {
  const rows: Cell[][] = []
  for (const { table, measured, known } of answers) {
    for (const { kind, rates } of known) {
      rates.forEach(({ hits, trials, rate, low, high }, i) => {
        const { name, layers, sameMemoryAs } = measured[i]!
        if (trials === 0) return // no title has enough words for this many layers
        rows.push([table.name, kind, name, layers || sameMemoryAs || null, hits, trials, rate, low, high])
      })
    }
  }
  return {
    title: 'Absent titles made of known words',
    note: 'XOR forgets order: words that change places within a layer leave every bit as it was. Layers of a single filter: those it has the memory of.',
    columns: [
      { name: 'table', as: 'text' },
      { name: 'absent title', as: 'text' },
      { name: 'filter', as: 'text' },
      { name: 'layers', as: 'count' },
      ...MEASURED_COLUMNS,
    ],
    rows,
  }
}

function plots(answers: readonly Answered[]): Plot[] {
  const { table, measured } = answers[0]!
  const [single] = measured
  const layered = measured.filter(({ layers }) => layers > 0)
  const rival = measured.filter(({ sameMemoryAs }) => sameMemoryAs !== undefined)
  const byMemory = (list: readonly Measured[]) =>
    aboveZero(list.map((one) => ratePoint(one.bitsPerTitle, one.rate)))
  const best = layered.reduce((a, b) => (b.rate.rate < a.rate.rate ? b : a))
  const shares = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1]
  const precision = (one: Measured) => shares.map((x) => ({ x, y: precisionAt(one.rate.rate, x) }))
  return [
    {
      title: `False positives by memory, ${table.name}`,
      alt: 'False-positive rate of keyword layers and of single filters against bits per title.',
      x: { label: 'bits per title', log: true },
      y: { label: 'false-positive rate', log: true },
      kind: 'line',
      series: [
        { name: 'keyword layers', points: byMemory(layered) },
        { name: 'single filter', points: byMemory([single!, ...rival]) },
      ].filter(({ points }) => points.length > 0),
    },
    {
      title: `Precision by the share of present titles, ${table.name}`,
      alt: 'Precision of the single filter and of the best layers against the share of questions for titles that are there.',
      x: { label: 'share of questions for titles that are there', log: true },
      y: { label: 'precision' },
      kind: 'line',
      series: [
        { name: `single, ${percent(TARGET)} target`, points: precision(single!) },
        { name: `${best.layers} layers`, points: precision(best) },
      ],
    },
  ]
}

function finding(answers: readonly Answered[]): string {
  const gains = answers.flatMap((one) => {
    const single = one.measured[0]!
    return layersOf(one).map((layered) => ({
      one,
      single,
      layered,
      gain: layered.precision / single.precision - 1,
    }))
  })
  const best = gains.reduce((a, b) => (b.gain > a.gain ? b : a))
  const possible = 1 / best.single.precision - 1
  const isThere = best.gain >= CLAIM.least
  const claim = `the claimed ${percent(CLAIM.least)} to ${percent(CLAIM.most)}`
  const share = presentShare(best.single.rate.rate, best.layered.rate.rate, CLAIM.least)
  const pairs = answers.flatMap(({ measured }) =>
    measured.flatMap((rival, i) =>
      rival.sameMemoryAs === undefined ? [] : [[measured[i - 1]!, rival] as const],
    ),
  )
  const lost = pairs.filter(([layered, rival]) => isAbove(layered.rate, rival.rate)).length
  const won = pairs.filter(([layered, rival]) => isAbove(rival.rate, layered.rate)).length
  const order = answers.flatMap(({ measured, known }) =>
    known[1]!.rates.filter((_, i) => measured[i]!.layers > 0),
  )
  const swapped = pooled(order)
  return [
    `In Algorithm 5 the layers raise precision from ${percent(best.single.precision)} to ${percent(best.layered.precision)} at best (${best.one.table.name}, ${count(best.layered.layers)} layers), a gain of ${percent(best.gain)}: ${claim} is ${isThere ? '' : 'not '}there`,
    isThere
      ? '.'
      : `, and no filter could do better than ${percent(possible)} beside a single filter of that error; it would need fewer than ${percent(share)} of the questions to be for titles that are there.`,
    ` A single filter with the memory of the layers errs less in ${lost} of ${pairs.length} comparisons and more in ${won}; where two words of one layer change places the layers answer "present" for ${percent(swapped.rate)} of ${count(swapped.trials)} absent titles.`,
  ].join('')
}

export const sharma: Experiment = {
  name: 'sharma',
  title: 'Keyword layers for searching titles',
  source: 'sharma-keywords, Algorithm 5',
  question: 'Do words distributed over layers improve precision by 15 to 30 % over a single filter?',
  async run(lab) {
    const most = lab.quick ? 2000 : 50_000
    const rounds = lab.quick ? 4 : 20
    const tables: TitleTable[] = []
    for (const path of lab.tables) tables.push(await readTitles(path, most))
    const usable = tables.filter(({ titles }) => titles.length >= 8)
    if (usable.length === 0)
      usable.push(generatedTitles(lab.quick ? 2000 : 6000, lab.random('sharma titles')))
    const answers: Answered[] = []
    for (const table of usable) {
      lab.progress(answers.length / usable.length, table.name)
      answers.push(await answer(lab, table, rounds))
    }
    lab.progress(1, listed(usable.map(({ name }) => name)))
    return {
      finding: finding(answers),
      tables: [mainTable(answers), orderTable(answers)],
      plots: plots(answers),
    }
  },
}
