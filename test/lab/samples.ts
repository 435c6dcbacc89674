// Two small experiments that show everything a result can hold, for the tests of the lab's frame.

import type { Experiment } from '../../src/lab/experiment.ts'
import { clopperPearson } from '../../src/lab/interval.ts'

/** Counts digits in URLs: a rate with its interval, a printed series, a zero on a logarithmic axis. */
export const digits: Experiment = {
  name: 'digits',
  title: 'URLs with a <digit> & "more"',
  source: "test's own, Fig. 1",
  question: 'How many URLs hold a 7?',
  async run(lab) {
    const trials = lab.quick ? 200 : 2000
    const urls = await lab.urls(trials)
    const rows: (string | number | null)[][] = []
    for (const [i, digit] of ['7', '77', '777777777'].entries()) {
      lab.progress(i / 3, `digit ${digit}`)
      let hits = 0
      for (let u = 0; u < urls.count; u++) if (urls.at(u).includes(digit)) hits++
      const { lower, upper } = clopperPearson({ hits, trials: urls.count })
      rows.push([
        digit.length,
        `${digit}, "quoted"`,
        hits,
        urls.count,
        hits / urls.count,
        lower,
        upper,
        null,
        12.5,
      ])
    }
    const points = rows.map((row) => ({
      ...{ x: Number(row[0]), y: Number(row[4]) },
      ...{ low: Number(row[5]), high: Number(row[6]) },
    }))
    return {
      claims: [],
      finding: `A 7 is in ${rows[0]![2]} of ${urls.count} URLs <b>.`,
      tables: [
        {
          title: 'Sevens',
          note: 'A note with <angles>.',
          columns: [
            { name: 'length', as: 'count' },
            { name: 'digits' },
            { name: 'false positives', as: 'count' },
            { name: 'queries', as: 'count' },
            { name: 'rate', as: 'rate' },
            { name: 'low', as: 'rate' },
            { name: 'high', as: 'rate' },
            { name: 'printed', as: 'count' },
            { name: 'ns/URL', as: 'time', timing: true },
          ],
          rows,
        },
      ],
      plots: [
        {
          title: 'Rate of sevens',
          alt: 'The rate falls with the length & is zero at nine',
          x: { label: 'digits', log: true },
          y: { label: 'rate', log: true },
          kind: 'line',
          series: [
            { name: 'sevens, ours', points },
            { name: 'sevens, printed', printed: true, points: [{ x: 1, y: 0.5 }] },
          ],
        },
        {
          title: 'Bars in groups',
          alt: 'Two groups of bars',
          x: { label: 'group' },
          y: { label: 'ns' },
          kind: 'bar',
          series: [
            {
              name: 'a',
              points: [
                { x: 1, y: 3, low: 2, high: 4 },
                { x: 2, y: 5 },
              ],
            },
            {
              name: 'b',
              printed: true,
              points: [
                { x: 1, y: 1 },
                { x: 2, y: 2 },
              ],
            },
          ],
        },
        {
          title: 'Bars in a list',
          alt: 'Three bars',
          x: { label: '' },
          y: { label: 'bytes per URL, which is a long label that has to be broken on a small telephone' },
          kind: 'bar',
          series: [
            { name: 'hash set', points: [{ x: 0, y: 90 }] },
            { name: 'fingerprint', points: [{ x: 0, y: 12, low: 11, high: 14 }] },
            { name: 'paper', printed: true, points: [{ x: 0, y: 40 }] },
          ],
        },
      ],
    }
  },
}

/** Draws numbers: the same seed gives the same. */
export const numbers: Experiment = {
  name: 'numbers',
  title: 'Numbers',
  source: 'ours',
  question: 'Are they the same again?',
  async run(lab) {
    const next = lab.random('numbers')
    return {
      claims: [],
      finding: 'They are.',
      tables: [
        {
          title: 'Draws',
          columns: [{ name: 'draw', as: 'count' }, { name: 'value' }, { name: 'key', as: 'text' }],
          rows: [1, 2, 3].map((i) => [i, next(), Buffer.from(lab.key(`k${i}`)).toString('hex')]),
        },
      ],
      plots: [],
    }
  },
}

/** Always throws. */
export const broken: Experiment = {
  name: 'broken',
  title: 'Broken',
  source: 'ours',
  question: 'What if?',
  run: () => Promise.reject(new Error('it broke <here>')),
}
