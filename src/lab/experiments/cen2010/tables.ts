// The tables of the experiment: the figures of the paper, and the comparisons that it left out.
import type { Stats } from '../../../sieve.ts'
import { classicFill } from '../../../sizing/classic.ts'
import { RATE_COLUMNS, rateCells } from '../../counted.ts'
import type { Cell, Table } from '../../experiment.ts'
import { count } from '../../wording.ts'
import type { Answer, LeftOut } from './measurement.ts'
import { KEYS, MOST_URLS, PAPER, printedCount } from './paper.ts'

export function figure5(answers: readonly Answer[], scale: number, bits: number): Table {
  const rows = answers
    .filter(isPapers)
    .map(({ contender, urls, queries, falsePositives, mean, stats }): Cell[] => {
      const printed = printedCount(contender.filter, urls, scale)
      const isClassic = contender.filter === 'classic'
      return [
        urls,
        contender.filter,
        ...rateCells(falsePositives, queries),
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
      : ` Here with ${count(scale * MOST_URLS)} URLs instead of ${count(MOST_URLS)}: n, m and the printed counts are scaled down.`
  return {
    title: 'Fig. 5: false positives with the paper’s setting',
    note: `m = ${count(bits)} bits per layer, k = ${PAPER.hashes}, L = ${PAPER.layers}: multilayer has five times the memory of classic. Every URL without its scheme; negatives are the URLs with their own number appended.${scaled}`,
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

export const isPapers = ({ contender }: Answer): boolean =>
  contender.share === 1 || contender.filter === 'multilayer'

/** The answers of the two filters of the paper, n by n. */
export function pairs(answers: readonly Answer[]): { classic: Answer; multilayer: Answer }[] {
  const papers = answers.filter(isPapers)
  const multilayer = papers.filter(({ contender }) => contender.filter === 'multilayer')
  return papers
    .filter(({ contender }) => contender.filter === 'classic')
    .map((classic, i) => ({ classic, multilayer: multilayer[i]! }))
}

export function figures6And7(answers: readonly Answer[]): Table {
  const { classic, multilayer } = PAPER.insertionSeconds
  return {
    title: 'Fig. 6 and 7 with our filters: time of multilayer relative to classic',
    note: 'The same lines through both, alternating; eight bytes are hashed at a time, once for all k, and the last segment is queried first. The paper printed query times within 3 % of each other.',
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
      pair.classic.querySeconds,
      pair.multilayer.querySeconds,
      pair.multilayer.querySeconds / pair.classic.querySeconds,
      1,
    ]),
  }
}

export function equalMemory(answers: readonly Answer[]): Table {
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
      .map(({ contender, urls, queries, falsePositives, addSeconds, querySeconds, stats }) => [
        urls,
        contender.filter,
        contender.sieve.plan.hashes,
        (stats.sizeBytes * 8) / urls,
        ...rateCells(falsePositives, queries),
        (addSeconds * 1e9) / urls,
        (querySeconds * 1e9) / queries,
      ]),
  }
}

export function predictions(answers: readonly Answer[]): Table {
  return {
    title: 'Predictions for multilayer',
    note: 'In false positives of these queries. f^L is the paper’s eq. (4); recombined: the XOR layer alone; stats(): that and the layer of the last segment with its own load, as if they passed independently. Corrected also uses the list: pages of one large folder pass both together, and some last segments are known by chance (a URL ending in a slash, and number 12345, where the layer knows /12345).',
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
      ({ multilayer: { urls, falsePositives, queries, knownLast, predicted, stats } }) => {
        const expected = stats.rates!.corrected! * queries
        return [
          urls,
          falsePositives,
          stats.rates!.paper! * queries,
          stats.rates!.recombined! * queries,
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

export function leftOutTable(left: readonly LeftOut[]): Table {
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

export function layerTable(stats: Stats): Table {
  return {
    title: 'Entries in the layers of multilayer at the largest n',
    note: 'Distinct entries, estimated from the fill. All layers have m bits.',
    columns: [
      { name: 'layer', as: 'text' },
      { name: 'distinct', as: 'count' },
      { name: 'fill', as: 'rate' },
    ],
    rows: stats.layers!.map(({ name, distinct, fill }) => [name, distinct, fill]),
  }
}
