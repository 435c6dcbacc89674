// Optimal layering: the best split of a given memory over one filter of whole URLs and one for each layer of segments,
// from measured statistics of the segments; then that split against one filter of the same memory, counted.
import { bareUrls } from '../bare-urls.ts'
import type { Claim, Experiment, Lab, Plot, Result, Table } from '../experiment.ts'
import { Pieces } from '../negatives.ts'
import { PlainBits, plainHash } from '../plain-bits.ts'
import {
  isAbove,
  MEASURED_COLUMNS,
  type MeasuredRate,
  measuredCells,
  measuredRate,
  ratePoint,
} from '../trial.ts'
import { count, factor, listed, percent } from '../wording.ts'

const LAYERS = 4
const BITS_PER_URL = [6, 8, 10, 12]
const URLS = 800_000
const QUICK_URLS = 60_000
/** Memory is given out in steps of this share. */
const STEP = 1 / 400

interface Statistics {
  readonly urls: number
  /** Distinct segments of each layer. */
  readonly distinct: readonly number[]
  /** Share of new URLs by the set of layers that do not know their segment, as bits. */
  readonly unknown: readonly number[]
}

interface Split {
  /** Bits of the filter of whole URLs, and of each layer. */
  readonly whole: number
  readonly layers: readonly number[]
}

interface Compared {
  readonly bitsPerUrl: number
  readonly split: Split
  readonly predicted: number
  readonly layered: MeasuredRate
  readonly single: MeasuredRate
}

/** Of `bits` for `entries`: the rate, with the best k. */
const rateFor = (bits: number, entries: number): number => (entries === 0 ? 1 : 0.6185 ** (bits / entries))

export function predictedRate(split: Split, { urls, distinct, unknown }: Statistics): number {
  const rates = split.layers.map((bits, layer) => rateFor(bits, distinct[layer]!))
  const passing = unknown.reduce(
    (sum, share, set) =>
      sum +
      share * rates.reduce((product, rate, layer) => ((set >> layer) & 1 ? product * rate : product), 1),
    0,
  )
  return rateFor(split.whole, urls) * passing
}

/** Gives out the memory a step at a time to whatever lowers the logarithm of the rate most: each gives less and less. */
export function bestSplit(bits: number, statistics: Statistics): Split {
  const step = bits * STEP
  const layers = statistics.distinct.map(() => 0)
  let whole = 0
  for (let given = 0; given < 1 / STEP; given++) {
    const tries = [
      { whole: whole + step, layers: [...layers] },
      ...layers.map((_, layer) => ({ whole, layers: layers.map((m, i) => (i === layer ? m + step : m)) })),
    ]
    const rates = tries.map((split) => predictedRate(split, statistics))
    const best = rates.indexOf(Math.min(...rates))
    if (best === 0) whole += step
    else layers[best - 1]! += step
  }
  return { whole, layers }
}

const bestHashes = (bits: number, entries: number): number =>
  Math.max(1, Math.round((bits / Math.max(1, entries)) * Math.LN2))

function measure(split: Split, statistics: Statistics, added: Pieces, queried: Pieces): MeasuredRate {
  const whole = new PlainBits(Math.ceil(split.whole))
  const k = bestHashes(split.whole, statistics.urls)
  const layers = split.layers.map((bits, layer) =>
    bits < 1
      ? null
      : { bits: new PlainBits(Math.ceil(bits)), k: bestHashes(bits, statistics.distinct[layer]!) },
  )
  const hashes = (pieces: Pieces, url: number) => {
    const { bytes, starts, ends } = pieces.urls
    return {
      whole: plainHash(bytes, starts[url]!, ends[url]!, 9),
      segment: (layer: number) => plainHash(bytes, pieces.start(url, layer), pieces.end(url, layer), layer),
    }
  }
  for (let url = 0; url < added.urls.count; url++) {
    const of = hashes(added, url)
    whole.add(of.whole, k)
    for (let layer = 0; layer < added.counts[url]!; layer++) {
      const own = layers[layer]
      if (own) own.bits.add(of.segment(layer), own.k)
    }
  }
  let hits = 0
  for (let url = 0; url < queried.urls.count; url++) {
    const of = hashes(queried, url)
    let isSeen = whole.knows(of.whole, k)
    for (let layer = 0; isSeen && layer < queried.counts[url]!; layer++) {
      const own = layers[layer]
      if (own) isSeen = own.bits.knows(of.segment(layer), own.k)
    }
    if (isSeen) hits++
  }
  return measuredRate(hits, queried.urls.count)
}

function statisticsOf(added: Pieces, queried: Pieces): Statistics {
  const text = new TextDecoder('latin1')
  const known = Array.from({ length: LAYERS }, () => new Set<string>())
  const segment = (pieces: Pieces, url: number, layer: number) =>
    text.decode(pieces.urls.bytes.subarray(pieces.start(url, layer), pieces.end(url, layer)))
  for (let url = 0; url < added.urls.count; url++)
    for (let layer = 0; layer < added.counts[url]!; layer++) known[layer]!.add(segment(added, url, layer))
  const unknown = Array.from({ length: 2 ** LAYERS }, () => 0)
  for (let url = 0; url < queried.urls.count; url++) {
    let set = 0
    for (let layer = 0; layer < queried.counts[url]!; layer++)
      if (!known[layer]!.has(segment(queried, url, layer))) set |= 1 << layer
    unknown[set]! += 1 / queried.urls.count
  }
  return { urls: added.urls.count, distinct: known.map(({ size }) => size), unknown }
}

function comparedTable(all: readonly Compared[]): Table {
  return {
    title: 'The best split of the memory against one filter',
    note: 'Predicted from the segments’ statistics, then counted. Shares of the memory: for whole URLs, and for the layers 1 to 4. The filter of whole URLs is a plain one: no XOR.',
    columns: [
      { name: 'bits/URL', as: 'count' },
      { name: 'filter', as: 'text' },
      { name: 'whole URLs', as: 'rate' },
      { name: 'layers 1 to 4', as: 'text' },
      ...MEASURED_COLUMNS,
      { name: 'predicted', as: 'rate' },
    ],
    rows: all.flatMap(({ bitsPerUrl, split, predicted, layered, single }) => {
      const total = split.whole + split.layers.reduce((sum, bits) => sum + bits, 0)
      const shares = split.layers.map((bits) => percent(Number((bits / total).toFixed(3)))).join(', ')
      return [
        [bitsPerUrl, 'best split', split.whole / total, shares, ...measuredCells(layered), predicted],
        [bitsPerUrl, 'one filter', 1, null, ...measuredCells(single), 0.6185 ** bitsPerUrl],
      ]
    }),
  }
}

async function run(lab: Lab): Promise<Result> {
  lab.progress(0, 'URLs')
  const urls = await bareUrls(lab, lab.quick ? QUICK_URLS : URLS)
  const added = new Pieces(
    urls.filter((i) => i % 2 === 0),
    LAYERS,
  )
  const queried = new Pieces(
    urls.filter((i) => i % 2 === 1),
    LAYERS,
  )
  const statistics = statisticsOf(added, queried)
  const compared = BITS_PER_URL.map((bitsPerUrl, i): Compared => {
    lab.progress((i + 0.5) / BITS_PER_URL.length, `${bitsPerUrl} bits per URL`)
    const bits = bitsPerUrl * statistics.urls
    const split = bestSplit(bits, statistics)
    const one: Split = { whole: bits, layers: statistics.distinct.map(() => 0) }
    return {
      ...{ bitsPerUrl, split, predicted: predictedRate(split, statistics) },
      layered: measure(split, statistics, added, queried),
      single: measure(one, statistics, added, queried),
    }
  })
  lab.progress(1, 'done')
  const wins = compared.filter(({ layered, single }) => isAbove(single, layered))
  const last = compared.at(-1)!
  const saved = Math.log(last.layered.rate / last.single.rate) / Math.log(0.6185)
  const claims: Claim[] = [
    {
      source: 'ours',
      claim:
        'some split of the memory over layers beats one filter, where the segments’ statistics are known',
      verdict: wins.length > 0 ? 'confirmed' : 'wrong',
      number: `${percent(last.layered.rate)} against ${percent(last.single.rate)} at ${last.bitsPerUrl} bits per URL, worth ${factor(Math.max(0, saved))} bits`,
    },
  ]
  const shares = statistics.distinct.map(
    (distinct, i) => `${percent(Number((distinct / statistics.urls).toFixed(3)))} in layer ${i + 1}`,
  )
  return {
    claims,
    finding: `With ${listed(shares)} distinct segments per URL the best split gives whole URLs ${percent(Number((last.split.whole / (last.bitsPerUrl * statistics.urls)).toFixed(3)))} of the memory at ${last.bitsPerUrl} bits; it has a lower rate than one filter in ${wins.length} of ${compared.length} sizes (${percent(last.layered.rate)} against ${percent(last.single.rate)} over ${count(last.layered.trials)} new URLs). A layer is worth its memory when the share of new URLs that it alone can reject is larger than its distinct segments per URL.`,
    tables: [comparedTable(compared)],
    plots: [ratePlot(compared)],
  }
}

function ratePlot(compared: readonly Compared[]): Plot {
  return {
    title: 'Rate of the best split and of one filter',
    alt: 'False-positive rate against bits per URL, for the best split over layers and for one filter.',
    x: { label: 'bits per URL' },
    y: { label: 'false-positive rate', log: true },
    kind: 'line',
    series: [
      {
        name: 'best split',
        points: compared.map(({ bitsPerUrl, layered }) => ratePoint(bitsPerUrl, layered)),
      },
      { name: 'one filter', points: compared.map(({ bitsPerUrl, single }) => ratePoint(bitsPerUrl, single)) },
    ],
  }
}

export const layering: Experiment = {
  name: 'layering',
  title: 'The best layers',
  source: 'ours, of cen-2010',
  question: 'Given the statistics of the segments, does any split of the memory over layers beat one filter?',
  run,
}
