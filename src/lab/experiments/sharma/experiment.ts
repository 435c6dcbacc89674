// sharma-keywords again: titles split into words, the words dealt round-robin to layers, and false positives counted
// by its Algorithm 5: of two halves, whatever is found in both is a false positive in one. Then comparisons that the paper left out.
import type { Cell, Experiment, Plot, Table } from '../../experiment.ts'
import { generatedTitles, readTitles, type TitleTable } from '../../titles.ts'
import {
  aboveZero,
  isAbove,
  MEASURED_COLUMNS,
  measuredCells,
  measuredRate,
  pooled,
  ratePoint,
} from '../../trial.ts'
import { count, listed, percent } from '../../wording.ts'
import {
  type Answered,
  answer,
  CLAIM,
  layersOf,
  type Measured,
  precisionAt,
  presentShare,
  TARGET,
} from './measurement.ts'
import { claims } from './verdicts.ts'

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
        ...measuredCells(measuredRate(one.rate.hits, one.rate.trials)),
        one.rate.low,
        one.rate.high,
        one.precision,
        one === single ? null : one.precision / single.precision - 1,
        one === single ? null : 1 - one.rate.rate / single.rate.rate,
      ])
    }
  }
  return {
    title: 'Algorithm 5: found in both halves',
    note: `Every filter is made for a ${percent(TARGET)} error. Precision is right answers ÷ answers "present": each title of the sample is in one half. The two readings of "15–30 %" are the last two columns. Every split asks for the same titles again: low and high take them for independent, the clustered interval, by title, does not; comparisons use that.`,
    columns: [
      { name: 'table', as: 'text' },
      { name: 'filter', as: 'text' },
      { name: 'layers', as: 'count' },
      { name: 'k', as: 'count' },
      { name: 'bits/title', as: 'ratio' },
      ...MEASURED_COLUMNS,
      { name: 'clustered low', as: 'rate' },
      { name: 'clustered high', as: 'rate' },
      { name: 'precision', as: 'rate' },
      { name: 'precision gained', as: 'rate' },
      { name: 'fewer false positives', as: 'rate' },
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
      claims: claims(answers),
      finding: finding(answers),
      tables: [mainTable(answers), orderTable(answers)],
      plots: plots(answers),
    }
  },
}
