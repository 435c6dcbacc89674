// The plots of the experiment, with the curves that the paper printed.
import type { Plot } from '../../experiment.ts'
import { clopperPearson } from '../../interval.ts'
import type { SerialTime } from './byte-serial.ts'
import type { Answer, Contender } from './measurement.ts'
import { PAPER } from './paper.ts'
import { pairs } from './tables.ts'

const label = ({ filter, share }: Contender): string => (share === 1 ? `${filter}, m bits` : filter)

export function plots(answers: readonly Answer[], times: readonly SerialTime[], scale: number): Plot[] {
  const contendersOf = [...new Set(answers.map(({ contender }) => contender))]
  const points = (contender: Contender) =>
    answers
      .filter((answer) => answer.contender === contender)
      .map(({ urls, queries, falsePositives }) => {
        const { lower, upper } = clopperPearson({ hits: falsePositives, trials: queries })
        if (falsePositives === 0) return { x: urls, y: upper * queries, bound: true as const }
        return { x: urls, y: falsePositives, low: lower * queries, high: upper * queries }
      })
  const printed = (['classic', 'multilayer'] as const).map((filter) => ({
    name: `${filter}, printed`,
    printed: true,
    points: PAPER.urls
      .map((n, i) => ({ x: Math.round(n * scale), y: PAPER.falsePositives[filter][i]! * scale }))
      .filter(({ y }) => y > 0),
  }))
  const ratio = (of: (time: SerialTime) => Readonly<Record<'classic' | 'multilayer', number>>) =>
    times.map((time) => ({ x: time.urls, y: of(time).multilayer / of(time).classic }))
  const ours = (of: (answer: Answer) => number) =>
    pairs(answers).map(({ classic, multilayer }) => ({ x: classic.urls, y: of(multilayer) / of(classic) }))
  const { insertionSeconds } = PAPER
  const atPrinted = (y: (i: number) => number) =>
    PAPER.urls.map((n, i) => ({ x: Math.round(n * scale), y: y(i) }))
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
      title: 'Fig. 6 and 7: time of multilayer relative to classic',
      alt: 'Ratio of the times of multilayer and classic, insertion and query, against the number of URLs: byte-serial as in the paper, beside the printed ratios, and ours',
      x: { label: 'URLs inserted' },
      y: { label: 'multilayer / classic' },
      kind: 'line',
      series: [
        { name: 'insertion', points: ratio(({ addSeconds }) => addSeconds) },
        { name: 'query', points: ratio(({ querySeconds }) => querySeconds) },
        {
          name: 'insertion, printed',
          printed: true,
          points: atPrinted((i) => insertionSeconds.multilayer[i]! / insertionSeconds.classic[i]!),
        },
        { name: 'query, printed', printed: true, points: atPrinted(() => 1) },
        { name: 'ours: insertion', points: ours((answer) => answer.addSeconds) },
        { name: 'ours: query', points: ours((answer) => answer.querySeconds) },
      ],
    },
  ]
}
