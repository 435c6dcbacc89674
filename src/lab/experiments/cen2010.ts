// cen-2010, Fig. 5 to 7: the multi-layer filter against a classic one with the paper's m, k and L; then what the paper
// did not ask: the same memory for both, and new URLs made of known segments.

import { Sieve, type SieveOptions, type Stats } from '../../sieve.ts'
import { classicFill } from '../../sizing/classic.ts'
import { bareUrls } from '../bare-urls.ts'
import { ones, RATE_COLUMNS, rateCells } from '../counted.ts'
import type { Cell, Experiment, Lab, Plot, Result, Table } from '../experiment.ts'
import { Folders } from '../folders.ts'
import { clopperPearson } from '../interval.ts'
import { keptLines } from '../line-writer.ts'
import {
  numberedLines,
  numberedPieceLines,
  orderBlindLines,
  Pieces,
  pieceLines,
  recombinedLines,
} from '../negatives.ts'
import { Stopwatch } from '../stopwatch.ts'
import { count, factor, listed, percent } from '../wording.ts'

/** The paper's setting and what it printed. */
const PAPER = {
  urls: [1e6, 1.5e6, 2e6, 2.5e6, 3e6, 3.5e6],
  bits: 16_829_152,
  hashes: 3,
  layers: 4,
  falsePositives: {
    classic: [4380, 19_374, 54_041, 116_710, 213_640, 350_513],
    multilayer: [0, 8, 35, 152, 427, 1035],
  },
  insertionSeconds: { classic: [16, 24, 32, 39, 47, 55], multilayer: [20, 30, 40, 50, 60, 70] },
}
const MOST_URLS = 3_500_000
const QUICK_URLS = 175_000
const CHUNK_URLS = 1 << 17
/** Keys for classic: at the smallest n chance alone moves one count by 1.5 % (a standard deviation). */
const KEYS = 5
/** Of each kind of negatives that the paper left out. */
const LEFT_OUT = 200_000
/** Counts from which a prediction can be held against the measured one. */
const ENOUGH = 100

/** A filter under test, and what it did so far. */
interface Contender {
  readonly filter: 'classic' | 'multilayer' | 'blocked' | 'prefix-layers'
  /** Memory in multiples of the paper's m. */
  readonly share: 1 | 5
  readonly sieve: Sieve
  readonly adding: Stopwatch
}

/** What one contender answered at one n. */
interface Answer {
  readonly contender: Contender
  readonly urls: number
  readonly asked: number
  /** Of those asked, how many have a last piece that its layer knows: chance made it someone else's. */
  readonly knownLast: number
  /** The mean false positives of classic over all its keys, this one among them. */
  readonly mean: number | null
  /** False positives that the corrected prediction expects, of multilayer. */
  readonly predicted: number | null
  readonly falsePositives: number
  readonly addSeconds: number
  readonly askSeconds: number
  readonly stats: Stats
}

interface Kind {
  readonly name: string
  readonly lines: Uint8Array
  readonly count: number
}

async function contenders(lab: Lab, urls: number, bits: number): Promise<Contender[]> {
  const all = bits * (PAPER.layers + 1)
  const { hashes, layers } = PAPER
  const make = async <F extends Contender['filter']>(
    share: 1 | 5,
    options: SieveOptions<F> & { filter: F },
  ) => ({
    filter: options.filter,
    share,
    sieve: (await Sieve.create({ ...options, profile: 'raw', key: lab.key('cen2010') })) as Sieve,
    adding: new Stopwatch(),
  })
  return [
    await make(1, { filter: 'classic', bits, hashes }),
    await make(5, { filter: 'multilayer', bitsPerLayer: bits, hashes, layers, depth: 'join' }),
    await make(5, { filter: 'classic', bits: all, expectedUrls: urls }),
    await make(5, { filter: 'blocked', bits: all, expectedUrls: urls }),
    await make(5, { filter: 'prefix-layers', bits: all, expectedUrls: urls }),
  ]
}

/** Classic as the paper sets it, under further keys. */
function repeats(lab: Lab, bits: number): Promise<Sieve[]> {
  return Promise.all(
    Array.from({ length: KEYS - 1 }, (_, i) => {
      const key = lab.key(`cen2010, key ${i + 2}`)
      return Sieve.create({ filter: 'classic', bits, hashes: PAPER.hashes, profile: 'raw', key })
    }),
  )
}

interface Measured {
  readonly all: readonly Contender[]
  /** Classic under further keys: asked the same, not timed. */
  readonly again: readonly Sieve[]
  /** What is in, exactly. */
  readonly known: Sieve
  readonly knownPieces: Sieve
}

// Adds the URLs up to each n, and asks for the paper's negatives of all of them. Chunk by chunk through all filters,
// so that whatever slows the machine slows each of them.
function measure(
  lab: Lab,
  pieces: Pieces,
  sizes: readonly number[],
  { all, again, known, knownPieces }: Measured,
): Answer[] {
  const { urls } = pieces
  const folders = new Folders(pieces)
  const answers: Answer[] = []
  let added = 0
  sizes.forEach((size, stage) => {
    lab.progress(stage / (sizes.length + 1), `${count(size)} URLs`)
    while (added < size) {
      const to = Math.min(size, added + CHUNK_URLS)
      const lines = urls.lines(added, to)
      known.addLines(lines)
      knownPieces.addLines(pieceLines(pieces, added, to))
      for (const { sieve, adding } of all) adding.time(() => sieve.addLines(lines))
      for (const sieve of again) sieve.addLines(lines)
      added = to
    }
    folders.reach(size)
    const asking = all.map(() => new Stopwatch())
    const falsePositives = all.map(() => 0)
    let asked = 0
    let knownLast = 0
    let others = 0
    for (let from = 0; from < size; from += CHUNK_URLS) {
      const to = Math.min(size, from + CHUNK_URLS)
      const negatives = unknown(known, numberedLines(urls, from, to))
      asked += negatives.count
      knownLast += ones(knownPieces.hasLines(numberedPieceLines(pieces, from, to)))
      all.forEach(({ sieve }, i) => {
        falsePositives[i]! += ones(asking[i]!.time(() => sieve.hasLines(negatives.lines)))
      })
      for (const sieve of again) others += ones(sieve.hasLines(negatives.lines))
    }
    all.forEach((contender, i) => {
      const stats = contender.sieve.stats()
      answers.push({
        contender,
        urls: size,
        asked,
        knownLast,
        falsePositives: falsePositives[i]!,
        mean: contender.share === 1 ? (falsePositives[i]! + others) / (again.length + 1) : null,
        addSeconds: contender.adding.seconds,
        askSeconds: asking[i]!.seconds,
        stats,
        predicted: predict(stats, folders, asked, knownLast),
      })
    })
  })
  return answers
}

// A negative that is a URL of the set after all (`/v1` and number 2 make `/v12`) is no error when it is found.
function unknown(known: Sieve, lines: Uint8Array): { lines: Uint8Array; count: number } {
  const isKnown = known.hasLines(lines)
  return ones(isKnown) === 0
    ? { lines, count: isKnown.length }
    : keptLines(
        lines,
        isKnown.map((is) => 1 - is),
      )
}

async function kindsLeftOut(lab: Lab, pieces: Pieces, known: Sieve): Promise<Kind[]> {
  const most = Math.min(LEFT_OUT, pieces.urls.count)
  const { swapped, repeated } = await orderBlindLines(lab, pieces, most)
  const mixed = recombinedLines(pieces, most, lab.random('cen2010 recombined'))
  const once = await Sieve.create({ profile: 'raw', key: lab.key('cen2010 once') })
  const recombined = keptLines(mixed, once.addLines(mixed)).lines
  return [
    { name: 'recombined', ...unknown(known, recombined) },
    { name: 'swapped', ...unknown(known, swapped) },
    { name: 'repeated', ...unknown(known, repeated) },
  ]
}

const label = ({ filter, share }: Contender): string => (share === 1 ? `${filter}, m bits` : filter)

function figure5(answers: readonly Answer[], scale: number, bits: number): Table {
  const rows = answers
    .filter(isPapers)
    .map(({ contender, urls, asked, falsePositives, mean, stats }): Cell[] => {
      const printed = printedCount(contender.filter, urls, scale)
      const isClassic = contender.filter === 'classic'
      return [
        urls,
        contender.filter,
        ...rateCells(falsePositives, asked),
        printed,
        printed ? falsePositives / printed : null,
        mean,
        mean === null ? null : mean / printed,
        isClassic ? stats.fill : null,
        isClassic ? classicFill({ bits, hashes: PAPER.hashes, urls }) : null,
      ]
    })
  const scaled =
    scale === 1
      ? ''
      : ` Here ${count(scale * MOST_URLS)} URLs stand for ${count(MOST_URLS)}: n, m and the printed counts are scaled alike.`
  return {
    title: 'Fig. 5: false positives with the paper’s setting',
    note: `m = ${count(bits)} bits a layer, k = ${PAPER.hashes}, L = ${PAPER.layers}: multilayer has five times the memory of classic. Every URL without its scheme; negatives are the URLs with their own number appended.${scaled}`,
    columns: [
      { name: 'n', as: 'count' },
      { name: 'filter', as: 'text' },
      ...RATE_COLUMNS,
      { name: 'printed', as: 'count' },
      { name: 'measured / printed', as: 'ratio' },
      { name: `mean of ${KEYS} keys`, as: 'ratio' },
      { name: 'mean / printed', as: 'ratio' },
      { name: 'fill', as: 'rate' },
      { name: '1 − e^(−kn/m)', as: 'rate' },
    ],
    rows,
  }
}

const isPapers = ({ contender }: Answer): boolean =>
  contender.share === 1 || contender.filter === 'multilayer'

function printedCount(filter: string, urls: number, scale: number): number {
  const at = PAPER.urls.findIndex((n) => Math.round(n * scale) === urls)
  return PAPER.falsePositives[filter as 'classic' | 'multilayer'][at]! * scale
}

/** The answers of the two filters of the paper, n by n. */
function pairs(answers: readonly Answer[]): { classic: Answer; multilayer: Answer }[] {
  const papers = answers.filter(isPapers)
  const multilayer = papers.filter(({ contender }) => contender.filter === 'multilayer')
  return papers
    .filter(({ contender }) => contender.filter === 'classic')
    .map((classic, i) => ({ classic, multilayer: multilayer[i]! }))
}

function figures6And7(answers: readonly Answer[]): Table {
  const { classic, multilayer } = PAPER.insertionSeconds
  return {
    title: 'Fig. 6 and 7: time of multilayer in times of classic',
    note: 'The same lines through both in turns. The paper printed query times within 3 % of each other.',
    columns: [
      { name: 'n', as: 'count' },
      { name: 'classic insertion, s', as: 'time', timing: true },
      { name: 'multilayer insertion, s', as: 'time', timing: true },
      { name: 'insertion ratio', as: 'ratio', timing: true },
      { name: 'printed insertion ratio', as: 'ratio' },
      { name: 'classic query, s', as: 'time', timing: true },
      { name: 'multilayer query, s', as: 'time', timing: true },
      { name: 'query ratio', as: 'ratio', timing: true },
      { name: 'printed query ratio', as: 'ratio' },
    ],
    rows: pairs(answers).map((pair, i) => [
      pair.classic.urls,
      pair.classic.addSeconds,
      pair.multilayer.addSeconds,
      pair.multilayer.addSeconds / pair.classic.addSeconds,
      multilayer[i]! / classic[i]!,
      pair.classic.askSeconds,
      pair.multilayer.askSeconds,
      pair.multilayer.askSeconds / pair.classic.askSeconds,
      1,
    ]),
  }
}

function equalMemory(answers: readonly Answer[]): Table {
  return {
    title: 'The same memory for all: 5 · m bits',
    note: 'k of the others is the best for the largest n; the negatives are the paper’s.',
    columns: [
      { name: 'n', as: 'count' },
      { name: 'filter', as: 'text' },
      { name: 'k', as: 'count' },
      { name: 'bits/URL', as: 'ratio' },
      ...RATE_COLUMNS,
      { name: 'ns/add', as: 'time', timing: true },
      { name: 'ns/query', as: 'time', timing: true },
    ],
    rows: answers
      .filter(({ contender }) => contender.share === 5)
      .map(({ contender, urls, asked, falsePositives, addSeconds, askSeconds, stats }) => [
        urls,
        contender.filter,
        contender.sieve.plan.hashes,
        (stats.sizeBytes * 8) / urls,
        ...rateCells(falsePositives, asked),
        (addSeconds * 1e9) / urls,
        (askSeconds * 1e9) / asked,
      ]),
  }
}

// What is to be expected of these negatives: only the XOR layer is left where the last piece is known by chance; for
// the others their layer and the XOR layer, which pass together for pages of one large folder.
function predict(stats: Stats, folders: Folders, asked: number, knownLast: number): number | null {
  if (!stats.rates || !stats.layers) return null
  const { hashes } = PAPER
  const fills = stats.layers.slice(0, -1).map(({ fill }) => fill)
  const { recombined } = stats.rates as { recombined: number }
  const bits = Math.round((stats.sizeBytes * 8) / stats.layers.length)
  const fresh = folders.expected({ bits, hashes, fills, xorHit: recombined ** (1 / hashes) })
  return fresh * (1 - knownLast / asked) + recombined * knownLast
}

function predictions(answers: readonly Answer[]): Table {
  return {
    title: 'What was predicted for multilayer',
    note: 'In false positives of those asked. f^L is the paper’s eq. (4); recombined: the XOR layer alone; stats(): that and the layer of the last segment with its own load, as if they passed independently. Corrected also knows the list: pages of one large folder pass both together, and some last segments are known by chance (a URL ending in a slash, and number 12345, where the layer knows /12345).',
    columns: [
      { name: 'n', as: 'count' },
      { name: 'measured', as: 'count' },
      { name: 'f^L', as: 'ratio' },
      { name: 'recombined', as: 'ratio' },
      { name: 'stats()', as: 'ratio' },
      { name: 'stats() / measured', as: 'ratio' },
      { name: 'last segment known', as: 'count' },
      { name: 'corrected', as: 'ratio' },
      { name: 'corrected / measured', as: 'ratio' },
    ],
    rows: pairs(answers).map(
      ({ multilayer: { urls, falsePositives, asked, knownLast, predicted, stats } }) => {
        const expected = stats.rates!.corrected! * asked
        return [
          urls,
          falsePositives,
          stats.rates!.paper! * asked,
          stats.rates!.recombined! * asked,
          expected,
          falsePositives ? expected / falsePositives : null,
          knownLast,
          predicted,
          falsePositives ? predicted! / falsePositives : null,
        ]
      },
    ),
  }
}

interface LeftOut {
  readonly kind: Kind
  readonly contender: Contender
  readonly falsePositives: number
  readonly predicted: number | null
}

function askLeftOut(kinds: readonly Kind[], all: readonly Contender[]): LeftOut[] {
  return kinds.flatMap((kind) =>
    all
      .filter(({ share }) => share === 5)
      .map((contender) => {
        const stats = contender.sieve.stats()
        const recombined = stats.rates?.recombined ?? stats.expectedRate
        return {
          kind,
          contender,
          falsePositives: ones(contender.sieve.hasLines(kind.lines)),
          predicted: contender.filter !== 'multilayer' || kind.name === 'recombined' ? recombined : 1,
        }
      }),
  )
}

function leftOutTable(left: readonly LeftOut[]): Table {
  return {
    title: 'Negatives that the paper left out, 5 · m bits',
    note: 'Made of the URLs’ own segments, each known in its layer: recombined from two URLs; /a/b as /b/a; /x/x on a host that has some /y/y.',
    columns: [
      { name: 'negatives', as: 'text' },
      { name: 'filter', as: 'text' },
      ...RATE_COLUMNS,
      { name: 'predicted rate', as: 'rate' },
    ],
    rows: left.map(({ kind, contender, falsePositives, predicted }) => [
      kind.name,
      contender.filter,
      ...rateCells(falsePositives, kind.count),
      predicted,
    ]),
  }
}

function layerTable(stats: Stats): Table {
  return {
    title: 'What the layers of multilayer hold at the largest n',
    note: 'Distinct entries, estimated from the fill. All layers have m bits, whatever they hold.',
    columns: [
      { name: 'layer', as: 'text' },
      { name: 'distinct', as: 'count' },
      { name: 'fill', as: 'rate' },
    ],
    rows: stats.layers!.map(({ name, distinct, fill }) => [name, distinct, fill]),
  }
}

function plots(answers: readonly Answer[], scale: number): Plot[] {
  const contendersOf = [...new Set(answers.map(({ contender }) => contender))]
  const points = (contender: Contender) =>
    answers
      .filter((answer) => answer.contender === contender)
      .map(({ urls, asked, falsePositives }) => {
        const { lower, upper } = clopperPearson({ hits: falsePositives, trials: asked })
        return { x: urls, y: falsePositives, low: lower * asked, high: upper * asked }
      })
      .filter(({ y }) => y > 0)
  const printed = (['classic', 'multilayer'] as const).map((filter) => ({
    name: `${filter}, printed`,
    printed: true,
    points: PAPER.urls
      .map((n, i) => ({ x: Math.round(n * scale), y: PAPER.falsePositives[filter][i]! * scale }))
      .filter(({ y }) => y > 0),
  }))
  const both = pairs(answers)
  const ratios = (of: (answer: Answer) => number) =>
    both.map(({ classic, multilayer }) => ({ x: classic.urls, y: of(multilayer) / of(classic) }))
  const { insertionSeconds } = PAPER
  return [
    {
      title: 'False positives as the filters fill',
      alt: 'False positives against the number of URLs, for classic with m bits and for four filters with 5 m bits, beside the printed counts of the paper',
      x: { label: 'URLs inserted' },
      y: { label: 'false positives', log: true },
      kind: 'line',
      series: [
        ...contendersOf.map((contender) => ({ name: label(contender), points: points(contender) })),
        ...printed,
      ].filter((series) => series.points.length > 0),
    },
    {
      title: 'Time of multilayer in times of classic',
      alt: 'Ratio of the times of multilayer and classic, insertion and query, against the number of URLs, beside the printed insertion ratio',
      x: { label: 'URLs inserted' },
      y: { label: 'multilayer / classic' },
      kind: 'line',
      series: [
        { name: 'insertion', points: ratios((answer) => answer.addSeconds) },
        { name: 'query', points: ratios((answer) => answer.askSeconds) },
        {
          name: 'insertion, printed',
          printed: true,
          points: PAPER.urls.map((n, i) => ({
            x: Math.round(n * scale),
            y: insertionSeconds.multilayer[i]! / insertionSeconds.classic[i]!,
          })),
        },
      ],
    },
  ]
}

function finding(answers: readonly Answer[], left: readonly LeftOut[], scale: number): string {
  const both = pairs(answers)
  const last = both.at(-1)!
  const n = last.classic.urls
  const off = (of: (answer: Answer) => number) =>
    percent(
      Math.max(
        ...both.map(({ classic }) =>
          Math.abs(of(classic) / printedCount('classic', classic.urls, scale) - 1),
        ),
      ),
    )
  const at = (filter: string) =>
    answers.find(({ contender, urls }) => contender.filter === filter && contender.share === 5 && urls === n)!
  const multilayer = last.multilayer.falsePositives
  const rivals = (['classic', 'blocked', 'prefix-layers'] as const).map((filter) => ({
    filter,
    wrong: at(filter).falsePositives,
  }))
  const better = rivals.filter(({ wrong }) => wrong < multilayer)
  const worse = rivals.filter(({ wrong }) => wrong >= multilayer)
  const name = ({ filter, wrong }: (typeof rivals)[number]) => `${filter} ${count(wrong)}`
  const verdict =
    worse.length === 0
      ? `with the memory of multilayer all others err less: ${listed(better.map(name))}`
      : better.length === 0
        ? `with the memory of multilayer none errs less: ${listed(worse.map(name))}`
        : `with the memory of multilayer ${listed(better.map(name))} err less, ${listed(worse.map(name))} not`
  const bad = left
    .filter(({ contender, kind }) => contender.filter === 'multilayer' && kind.count > 0)
    .map(({ kind, falsePositives }) => `${kind.name} segments ${percent(falsePositives / kind.count)}`)
  const forecasts = both
    .filter(({ multilayer: { falsePositives } }) => falsePositives > ENOUGH)
    .map(({ multilayer: answer }) => ({
      ratio: answer.predicted! / answer.falsePositives,
      alone: (answer.stats.rates!.corrected! * answer.asked) / answer.falsePositives,
      paper: (answer.stats.rates!.paper! * answer.asked) / answer.falsePositives,
    }))
  const widest = Math.max(...forecasts.map(({ ratio }) => Math.abs(ratio - 1)))
  const alone = Math.max(...forecasts.map((one) => Math.abs(one.alone - 1)))
  return [
    `At ${count(n)} URLs classic makes ${count(last.classic.falsePositives)} false positives and multilayer, with five times the memory, ${count(multilayer)} (printed: ${count(printedCount('classic', n, scale))} and ${count(printedCount('multilayer', n, scale))}); in the mean of ${KEYS} keys classic is within ${off(({ mean }) => mean!)} of the paper at every n, in this one run within ${off(({ falsePositives }) => falsePositives)}.`,
    `But ${verdict}`.replace(/^But (with the memory of multilayer none)/, 'And $1'),
    `(multilayer ${count(multilayer)}).`,
    ...(bad.length
      ? [`Of the new URLs that the paper did not try, multilayer takes for known: ${listed(bad)}.`]
      : []),
    ...(forecasts.length
      ? [
          `The corrected prediction is within ${percent(widest)} of its count where that is over ${ENOUGH} (stats() alone, which does not know the list, ${percent(alone)}); the paper’s f^L is off by a factor of ${factor(Math.max(...forecasts.map(({ paper }) => Math.max(paper, 1 / paper))))}.`,
        ]
      : []),
  ].join(' ')
}

async function run(lab: Lab): Promise<Result> {
  lab.progress(0, 'URLs')
  const urls = await bareUrls(lab, lab.quick ? QUICK_URLS : MOST_URLS)
  const scale = urls.count / MOST_URLS
  const bits = Math.round(PAPER.bits * scale)
  const sizes = PAPER.urls.map((n) => Math.round(n * scale))
  const all = await contenders(lab, urls.count, bits)
  const known = await Sieve.create({ profile: 'raw', key: lab.key('cen2010 known') })
  const knownPieces = await Sieve.create({ profile: 'raw', key: lab.key('cen2010 pieces') })
  const pieces = new Pieces(urls, PAPER.layers)
  const answers = measure(lab, pieces, sizes, {
    all,
    again: await repeats(lab, bits),
    known,
    knownPieces,
  })
  lab.progress(sizes.length / (sizes.length + 1), 'negatives that the paper left out')
  const left = askLeftOut(await kindsLeftOut(lab, pieces, known), all)
  lab.progress(1, 'done')
  return {
    finding: finding(answers, left, scale),
    tables: [
      figure5(answers, scale, bits),
      figures6And7(answers),
      equalMemory(answers),
      predictions(answers),
      leftOutTable(left),
      layerTable(pairs(answers).at(-1)!.multilayer.stats),
    ],
    plots: plots(answers, scale),
  }
}

export const cen2010: Experiment = {
  name: 'cen2010',
  title: 'A multi-layer Bloom filter for URLs',
  source: 'cen-2010, Fig. 5 to 7',
  asks: 'Does a multi-layer filter err less than a classic one, with the paper’s setting and with the same memory?',
  run,
}
