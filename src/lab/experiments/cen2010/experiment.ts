// cen-2010, Fig. 5 to 7: the multi-layer filter against a classic one with the paper's m, k and L; then two comparisons
// that the paper left out: the same memory for both, and new URLs that consist of known segments.
import { Sieve } from '../../../sieve.ts'
import { bareUrls } from '../../bare-urls.ts'
import type { Experiment, Lab, Result } from '../../experiment.ts'
import { Pieces } from '../../negatives.ts'
import { count, factor, listed, percent } from '../../wording.ts'
import { serialSentence, serialTable, serialTimes } from './byte-serial.ts'
import {
  type Answer,
  contenders,
  kindsLeftOut,
  type LeftOut,
  measure,
  queryLeftOut,
  repeats,
} from './measurement.ts'
import { KEYS, MOST_URLS, PAPER, printedCount } from './paper.ts'
import { plots } from './plots.ts'
import { equalMemory, figure5, figures6And7, layerTable, leftOutTable, pairs, predictions } from './tables.ts'
import { claims, ourRatios } from './verdicts.ts'

const QUICK_URLS = 175_000
/** A prediction is compared with measured counts above this. */
const ENOUGH = 100

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
      ? `with the memory of multilayer all others have fewer: ${listed(better.map(name))}`
      : better.length === 0
        ? `with the memory of multilayer none has fewer: ${listed(worse.map(name))}`
        : `with the memory of multilayer ${listed(better.map(name))} have fewer, ${listed(worse.map(name))} not`
  const bad = left
    .filter(({ contender, kind }) => contender.filter === 'multilayer' && kind.count > 0)
    .map(({ kind, falsePositives }) => `${kind.name} segments ${percent(falsePositives / kind.count)}`)
  const forecasts = both
    .filter(({ multilayer: { falsePositives } }) => falsePositives > ENOUGH)
    .map(({ multilayer: answer }) => ({
      ratio: answer.predicted! / answer.falsePositives,
      alone: (answer.stats.rates!.corrected! * answer.queries) / answer.falsePositives,
      paper: (answer.stats.rates!.paper! * answer.queries) / answer.falsePositives,
    }))
  const widest = Math.max(...forecasts.map(({ ratio }) => Math.abs(ratio - 1)))
  const alone = Math.max(...forecasts.map((one) => Math.abs(one.alone - 1)))
  return [
    `At ${count(n)} URLs classic makes ${count(last.classic.falsePositives)} false positives and multilayer, with five times the memory, ${count(multilayer)} (printed: ${count(printedCount('classic', n, scale))} and ${count(printedCount('multilayer', n, scale))}); the mean of classic over ${KEYS} keys is within ${off(({ mean }) => mean!)} of the paper at every n, this run within ${off(({ falsePositives }) => falsePositives)}.`,
    `But ${verdict}`.replace(/^But (with the memory of multilayer none)/, 'And $1'),
    `(multilayer ${count(multilayer)}).`,
    ...(bad.length
      ? [`Of new URLs that the paper did not test, multilayer reports as seen: ${listed(bad)}.`]
      : []),
    ...(forecasts.length
      ? [
          `The corrected prediction is within ${percent(widest)} of its count where that exceeds ${ENOUGH} (stats() alone, without the list, ${percent(alone)}); the paper’s f^L is off by a factor of ${factor(Math.max(...forecasts.map(({ paper }) => Math.max(paper, 1 / paper))))}.`,
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
  const left = queryLeftOut(await kindsLeftOut(lab, pieces, known), all)
  const times = serialTimes(lab, pieces, sizes, bits)
  lab.progress(1, 'done')
  return {
    claims: claims(answers, left, times, scale),
    finding: `${finding(answers, left, scale)} ${serialSentence(times, ourRatios(answers))}`,
    tables: [
      figure5(answers, scale, bits),
      serialTable(times),
      figures6And7(answers),
      equalMemory(answers),
      predictions(answers),
      leftOutTable(left),
      layerTable(pairs(answers).at(-1)!.multilayer.stats),
    ],
    plots: plots(answers, times, scale),
  }
}

export const cen2010: Experiment = {
  name: 'cen2010',
  title: 'A multi-layer Bloom filter for URLs',
  source: 'cen-2010, Fig. 5 to 7',
  question:
    'Does a multi-layer filter have fewer false positives than a classic one, with the paper’s setting and with the same memory?',
  run,
}
