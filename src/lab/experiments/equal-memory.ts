// What each approximate filter is worth at equal memory: its rate on new URLs as they come and on recombined ones, its
// speed, and how far it is from the log2(1/rate) bits per URL that no structure can do without.

import type { FilterKind } from '../../filters/filter.ts'
import { type FilterName, filterNames, filters } from '../../filters/registry.ts'
import { Sieve, type SieveOptions } from '../../sieve.ts'
import { limitBitsPerUrl, optimalHashes } from '../../sizing/classic.ts'
import { bareUrls } from '../bare-urls.ts'
import { ones, RATE_COLUMNS, rateCells } from '../counted.ts'
import type { Claim, Experiment, Lab, Plot, Result, Table } from '../experiment.ts'
import { clopperPearson } from '../interval.ts'
import { keptLines } from '../line-writer.ts'
import { Pieces, recombinedLines } from '../negatives.ts'
import { ownRate } from '../own-rate.ts'
import { Stopwatch } from '../stopwatch.ts'
import { count, factor, listed, percent, withInterval } from '../wording.ts'

const BITS_PER_URL = [8, 12, 16, 24, 32]
const MOST_URLS = 2_500_000
const QUICK_URLS = 60_000
const LAYERS = 4
const RECOMBINED = 200_000
/** Errors from which on a rate can be compared with others. */
const ENOUGH = 10

/** Filters of a fixed size; a filter that grows has its own experiment. */
const contenders = filterNames.filter((name) => !(filters[name] as FilterKind).can.grow)

interface Outcome {
  readonly filter: FilterName
  readonly bitsPerUrl: number
  readonly usedBits: number
  readonly hashes: number | null
  readonly held: number
  readonly natural: Errors
  readonly recombined: Errors
  readonly expectedRate: number
  readonly nsAdd: number
  readonly nsHit: number
  readonly nsMiss: number
}

interface Errors {
  readonly hits: number
  readonly trials: number
}

interface Questions {
  readonly inserted: Uint8Array
  readonly held: number
  readonly natural: Uint8Array
  readonly naturals: number
  readonly recombined: Uint8Array
  readonly recombineds: number
}

// Every second URL goes in, the others are the new ones: pages of the same sites at the same time, as a crawler meets.
async function questions(lab: Lab): Promise<Questions> {
  const urls = await bareUrls(lab, lab.quick ? QUICK_URLS : MOST_URLS)
  const even = urls.filter((i) => i % 2 === 0)
  const odd = urls.filter((i) => i % 2 === 1)
  const inserted = even.lines(0, even.count)
  const most = Math.min(RECOMBINED, even.count)
  const mixed = recombinedLines(new Pieces(even, LAYERS), most, lab.random('equal-memory recombined'))
  const known = await Sieve.create({ profile: 'raw', key: lab.key('equal-memory known') })
  known.addLines(inserted)
  // Added after the URLs themselves: what is new to it is neither one of them nor a repeat.
  const recombined = keptLines(mixed, known.addLines(mixed))
  return {
    inserted,
    held: even.count,
    natural: odd.lines(0, odd.count),
    naturals: odd.count,
    recombined: recombined.lines,
    recombineds: recombined.count,
  }
}

function optionsFor(filter: FilterName, bits: number, urls: number): SieveOptions {
  const isLayered = filter === 'multilayer' || filter === 'keyword-layers'
  if (!isLayered) return { filter, bits, expectedUrls: urls }
  // The XOR layer holds every URL: k is the best for it.
  const layers = filter === 'multilayer' ? LAYERS : 3
  const hashes = optimalHashes({ bits: Math.floor(bits / (layers + 1)), urls })
  return { filter, bits, expectedUrls: urls, layers, hashes }
}

async function judge(lab: Lab, filter: FilterName, bitsPerUrl: number, all: Questions): Promise<Outcome> {
  const { inserted, held, natural, naturals, recombined, recombineds } = all
  const options = optionsFor(filter, bitsPerUrl * held, held)
  const sieve: Sieve = await Sieve.create({ ...options, profile: 'raw', key: lab.key('equal-memory') })
  const [adding, hitting, missing] = [new Stopwatch(), new Stopwatch(), new Stopwatch()]
  adding.time(() => sieve.addLines(inserted))
  const found = ones(hitting.time(() => sieve.hasLines(inserted)))
  if (found !== held) throw new Error(`${filter} forgot ${held - found} of ${held} URLs`)
  const hits = ones(missing.time(() => sieve.hasLines(natural)))
  const stats = sieve.stats()
  return {
    filter,
    bitsPerUrl,
    usedBits: (stats.sizeBytes * 8) / held,
    hashes: sieve.plan.hashes,
    held,
    natural: { hits, trials: naturals },
    recombined: { hits: ones(sieve.hasLines(recombined)), trials: recombineds },
    expectedRate: ownRate(stats),
    nsAdd: adding.nsEach(held),
    nsHit: hitting.nsEach(held),
    nsMiss: missing.nsEach(naturals),
  }
}

const rateOf = ({ hits, trials }: Errors): number => hits / Math.max(1, trials)

/** Bits per URL more than the limit at this rate. */
const waste = ({ usedBits }: Outcome, rate: number): number => usedBits - limitBitsPerUrl(rate)

function mainTable(outcomes: readonly Outcome[]): Table {
  return {
    title: 'Every approximate filter at the same memory',
    note: 'Half of the URLs are added, the other half are the queries: every second one, without its scheme. Waste: bits per URL above the limit log2(1/rate), and in per cent of it; "at most" uses the upper end of the interval, the only bound where there was no error.',
    columns: [
      { name: 'bits/URL', as: 'count' },
      { name: 'filter', as: 'text' },
      { name: 'bits used/URL', as: 'ratio' },
      { name: 'k', as: 'count' },
      ...RATE_COLUMNS,
      { name: 'rate by stats()', as: 'rate' },
      { name: 'waste, bits', as: 'ratio' },
      { name: 'waste, %', as: 'ratio' },
      { name: 'waste at most, bits', as: 'ratio' },
      { name: 'ns/add', as: 'time', timing: true },
      { name: 'ns/hit', as: 'time', timing: true },
      { name: 'ns/miss', as: 'time', timing: true },
    ],
    rows: outcomes.map((outcome) => {
      const rate = rateOf(outcome.natural)
      const { upper } = clopperPearson(outcome.natural)
      return [
        outcome.bitsPerUrl,
        outcome.filter,
        outcome.usedBits,
        outcome.hashes,
        ...rateCells(outcome.natural.hits, outcome.natural.trials),
        outcome.expectedRate,
        rate > 0 ? waste(outcome, rate) : null,
        rate > 0 && rate < 1 ? (waste(outcome, rate) / limitBitsPerUrl(rate)) * 100 : null,
        waste(outcome, upper),
        outcome.nsAdd,
        outcome.nsHit,
        outcome.nsMiss,
      ]
    }),
  }
}

function recombinedTable(outcomes: readonly Outcome[]): Table {
  return {
    title: 'The same filters queried for recombined segments',
    note: 'New URLs made of the beginning of one that is in and the rest of another: every segment is known at its place.',
    columns: [
      { name: 'bits/URL', as: 'count' },
      { name: 'filter', as: 'text' },
      ...RATE_COLUMNS,
      { name: 'rate / rate of natural ones', as: 'ratio' },
    ],
    rows: outcomes.map(({ bitsPerUrl, filter, natural, recombined }) => [
      bitsPerUrl,
      filter,
      ...rateCells(recombined.hits, recombined.trials),
      natural.hits > 0 && recombined.trials > 0 ? rateOf(recombined) / rateOf(natural) : null,
    ]),
  }
}

function ratePlot(title: string, of: (outcome: Outcome) => Errors, outcomes: readonly Outcome[]): Plot {
  return {
    title,
    alt: `${title}, for each approximate filter, beside the information limit`,
    x: { label: 'bits per URL' },
    y: { label: 'false-positive rate', log: true },
    kind: 'line',
    series: [
      ...contenders.map((filter) => ({
        name: filter,
        points: outcomes
          .filter((outcome) => outcome.filter === filter && of(outcome).trials > 0)
          .map((outcome) => {
            const { lower, upper } = clopperPearson(of(outcome))
            if (of(outcome).hits === 0) return { x: outcome.bitsPerUrl, y: upper, bound: true as const }
            return { x: outcome.bitsPerUrl, y: rateOf(of(outcome)), low: lower, high: upper }
          }),
      })),
      { name: 'limit', points: BITS_PER_URL.filter((b) => b <= 24).map((b) => ({ x: b, y: 2 ** -b })) },
    ].filter(({ points }) => points.length > 0),
  }
}

function finding(outcomes: readonly Outcome[]): string {
  const sentences: string[] = []
  const at = (bits: number) => outcomes.filter((outcome) => outcome.bitsPerUrl === bits)
  const compared = (bits: number) => at(bits).filter(({ natural }) => natural.hits >= ENOUGH).length
  // The most memory at which every filter has enough errors to be compared; or at least two.
  const descending = [...BITS_PER_URL].reverse()
  const bits =
    descending.find((b) => compared(b) === contenders.length) ?? descending.find((b) => compared(b) >= 2)
  if (bits !== undefined) {
    const here = at(bits)
    const byRate = [...here].sort((a, b) => rateOf(a.natural) - rateOf(b.natural))
    const [best, worst] = [byRate[0]!, byRate.at(-1)!]
    const shown = ({ natural }: Outcome) => withInterval(rateOf(natural), clopperPearson(natural))
    sentences.push(
      `With ${bits} bits per URL and ${count(best.held)} URLs ${best.filter} errs least on new URLs as they come, ${shown(best)}, and ${worst.filter} most, ${shown(worst)}.`,
    )
    const suffering = here.filter(
      ({ natural, recombined }) =>
        recombined.trials > 0 && clopperPearson(recombined).lower > clopperPearson(natural).upper,
    )
    sentences.push(
      suffering.length === 0
        ? 'No filter errs more on recombined segments.'
        : `On recombined segments ${listed(suffering.map(({ filter, recombined }) => `${filter} has a rate of ${percent(rateOf(recombined))}`))}; the others have the same rate as on any new URL.`,
    )
  }
  const fastest = (of: (outcome: Outcome) => number) =>
    [...outcomes].filter(({ bitsPerUrl }) => bitsPerUrl === 16).sort((a, b) => of(a) - of(b))[0]!.filter
  const quickest = [...new Set([fastest(({ nsAdd }) => nsAdd), fastest(({ nsMiss }) => nsMiss)])]
  sentences.push(
    `Fastest at 16 bits: ${quickest.length === 1 ? `${quickest[0]}, for adding and querying` : `${quickest[0]} for adding, ${quickest[1]} for querying`}.`,
  )
  return sentences.join(' ')
}

/** The structures of the papers, as they wrote them. */
const PAPERS = ['multilayer', 'keyword-layers', 'eigenvalue'] as const

function claims(outcomes: readonly Outcome[]): Claim[] {
  const at = (filter: FilterName) => outcomes.filter((outcome) => outcome.filter === filter)
  const classic = at('classic')
  const compare = (filter: FilterName) => {
    const pairs = at(filter).map((one) => ({
      one,
      rival: classic.find(({ bitsPerUrl }) => bitsPerUrl === one.bitsPerUrl)!,
    }))
    const wins = pairs.filter(
      ({ one, rival }) => clopperPearson(one.natural).upper < clopperPearson(rival.natural).lower,
    ).length
    // The most memory at which both have errors enough to be compared.
    const { one, rival } =
      [...pairs]
        .reverse()
        .find((pair) => pair.one.natural.hits >= ENOUGH && pair.rival.natural.hits >= ENOUGH) ?? pairs[0]!
    return { wins, of: pairs.length, one, rival }
  }
  const numbers = ({ one, rival }: ReturnType<typeof compare>) =>
    `${percent(rateOf(one.natural))} against ${percent(rateOf(rival.natural))} of classic at ${one.bitsPerUrl} bits per URL`
  const beaten = PAPERS.filter((filter) => compare(filter).wins === 0)
  const layered = (['multilayer', 'keyword-layers'] as const).flatMap((filter) =>
    at(filter).filter(({ natural }) => natural.hits >= 10 * ENOUGH),
  )
  const off = Math.max(
    ...layered.map(({ natural, expectedRate }) => Math.abs(Math.log(expectedRate / rateOf(natural)))),
  )
  const [cuckoo, least] = [compare('cuckoo'), compare('multilayer')]
  return [
    {
      source: 'ours',
      claim: 'at equal memory the classic filter beats every structure of the papers',
      verdict: beaten.length === PAPERS.length ? 'confirmed' : 'wrong',
      number: `multilayer ${numbers(least)}`,
    },
    ...PAPERS.map((filter) => {
      const compared = compare(filter)
      return {
        source: {
          multilayer: 'cen-2010',
          'keyword-layers': 'sharma-keywords',
          eigenvalue: 'jiang-eigenvalue',
        }[filter],
        claim: `${filter} has a lower rate than a classic filter, on new URLs at equal memory`,
        verdict: compared.wins > 0 ? ('confirmed' as const) : ('wrong' as const),
        number: numbers(compared),
      }
    }),
    {
      source: 'ours',
      claim: 'cuckoo needs fewer bits than classic at low rates',
      verdict: cuckoo.wins > 0 ? 'confirmed' : 'not reproduced',
      number: numbers(cuckoo),
    },
    {
      source: 'ours',
      claim: 'rates.pieces of the layered filters is their rate on new URLs, within a factor of 1.5',
      verdict: off < Math.log(1.5) ? 'confirmed' : 'not reproduced',
      number:
        layered.length > 0
          ? `within a factor of ${factor(Math.exp(off))} here, where every second URL is a query`
          : 'too few errors',
    },
  ]
}

async function run(lab: Lab): Promise<Result> {
  lab.progress(0, 'URLs')
  const all = await questions(lab)
  const outcomes: Outcome[] = []
  const steps = BITS_PER_URL.length * contenders.length
  for (const bits of BITS_PER_URL) {
    for (const filter of contenders) {
      lab.progress(outcomes.length / steps, `${filter}, ${bits} bits per URL`)
      outcomes.push(await judge(lab, filter, bits, all))
    }
  }
  lab.progress(1, 'done')
  return {
    claims: claims(outcomes),
    finding: finding(outcomes),
    tables: [mainTable(outcomes), recombinedTable(outcomes)],
    plots: [
      ratePlot('Rate on new URLs as they come', ({ natural }) => natural, outcomes),
      ratePlot('Rate on recombined segments', ({ recombined }) => recombined, outcomes),
    ],
  }
}

export const equalMemory: Experiment = {
  name: 'equal-memory',
  title: 'Every filter at the same memory',
  source: 'ours',
  question: 'What is the false-positive rate of each approximate filter when all have the same bits per URL?',
  run,
}
