// The hash functions themselves: do they fill a filter as 1 − e^(−kn/m) predicts, are they even, do they collide no more
// than chance, and is the rate what the fill promises? A fill can be right where the k bits of a URL are not independent.
import { type HashName, hashNames } from '../../hashes.ts'
import { classicFill } from '../../sizing/classic.ts'
import type { Claim, Experiment, Table } from '../experiment.ts'
import { chiSquareZ, collisions, hashed } from '../hashed.ts'
import { covers, MEASURED_COLUMNS, type MeasuredRate, measuredCells, ratePoint, trial } from '../trial.ts'
import { count, factor, listed, percent } from '../wording.ts'

const HASH_COUNTS = [3, 8]
/** Past this many standard deviations it is not chance. */
const FAR = 5
/** url-caching's three functions that take turns. */
const TRIO: readonly HashName[] = ['poly31', 'djb2', 'xor17']

interface Quality {
  readonly name: HashName
  readonly lowZ: number
  readonly highZ: number
  readonly found: number
  readonly expected: number
  readonly nsPerUrl: number
}

interface Filled {
  readonly name: string
  readonly hashes: number
  readonly fill: number
  readonly formula: number
  readonly z: number
  readonly rate: MeasuredRate
}

/** How far a count is from its expectation, in standard deviations of a Poisson count. */
const poissonZ = (found: number, expected: number) => (found - expected) / Math.sqrt(Math.max(expected, 1e-9))

/** Standard deviation of the share of ones after `thrown` bits were set in m. */
export function fillDeviation(bits: number, thrown: number): number {
  const load = thrown / bits
  return Math.sqrt((Math.exp(-load) - (1 + load) * Math.exp(-2 * load)) / bits)
}

function fillTable(rows: readonly Filled[], urls: number): Table {
  return {
    title: 'Fill of a classic filter, and its rate',
    note: `${count(urls)} URLs, m = k·n / ln 2, so half full; z is the distance from the formula in standard deviations. The last column is what the fill promises.`,
    columns: [
      { name: 'hash', as: 'text' },
      { name: 'k', as: 'count' },
      { name: 'fill', as: 'rate' },
      { name: '1 − e^(−kn/m)', as: 'rate' },
      { name: 'z', as: 'ratio' },
      ...MEASURED_COLUMNS,
      { name: 'fill^k', as: 'rate' },
    ],
    rows: rows.map(({ name, hashes, fill, formula, z, rate }) => [
      name,
      hashes,
      fill,
      formula,
      z,
      ...measuredCells(rate),
      fill ** hashes,
    ]),
  }
}

function qualityTable(rows: readonly Quality[], urls: number): Table {
  return {
    title: 'Evenness, collisions and speed',
    note: `The first 32 bits of ${count(urls)} URLs: χ² over 2^16 buckets in standard deviations (near 0 is even), equal hashes beside the birthday expectation; time for 64 bits, in batches.`,
    columns: [
      { name: 'hash', as: 'text' },
      { name: 'z of low bits', as: 'ratio' },
      { name: 'z of high bits', as: 'ratio' },
      { name: 'collisions', as: 'count' },
      { name: 'expected', as: 'ratio' },
      { name: 'ns/URL', as: 'time', timing: true },
    ],
    rows: rows.map((row) => [row.name, row.lowZ, row.highZ, row.found, row.expected, row.nsPerUrl]),
  }
}

function finding(filled: readonly Filled[], quality: readonly Quality[]): string {
  const off = filled.filter(({ z }) => Math.abs(z) > FAR)
  const worst = Math.max(...filled.map(({ fill, formula }) => Math.abs(fill / formula - 1)))
  const uneven = quality.filter(({ lowZ, highZ }) => Math.max(Math.abs(lowZ), Math.abs(highZ)) > FAR)
  const colliding = quality.filter(({ found, expected }) => found > 5 && poissonZ(found, expected) > FAR)
  const high = filled
    .filter(({ rate, fill, hashes }) => poissonZ(rate.hits, rate.trials * fill ** hashes) > FAR)
    .map((row) => ({ ...row, times: row.rate.rate / row.fill ** row.hashes }))
    .sort((a, b) => b.times - a.times)
  const names = (rows: readonly { name: string }[]) => listed([...new Set(rows.map(({ name }) => name))])
  const none = 'none'
  return [
    `The fill is within ${percent(worst)} of 1 − e^(−kn/m) for every function${off.length ? `, though further off than chance for ${names(off)}` : ''}; uneven over 2^16 buckets: ${names(uneven) || none}; more 32-bit collisions than chance: ${names(colliding) || none}.`,
    high.length === 0
      ? ' No rate is above what the fill promises by more than chance.'
      : ` The fill does not explain everything: ${listed(high.slice(0, 3).map(({ name, hashes, times, rate }) => `${name} with k = ${hashes} has a false-positive rate of ${percent(rate.rate)}, ${factor(times)} times what its fill predicts`))}${high.length > 3 ? `; ${high.length} of ${filled.length} are above` : ''}.`,
  ].join('')
}

function claims(filled: readonly Filled[], quality: readonly Quality[]): Claim[] {
  const worst = Math.max(...filled.map(({ fill, formula }) => Math.abs(fill / formula - 1)))
  const keyed = filled.filter(({ name }) => name === 'siphash')
  const isRight = keyed.every(({ rate, fill, hashes }) => covers(rate, fill ** hashes))
  const off = Math.max(...keyed.map(({ rate, fill, hashes }) => Math.abs(rate.rate / fill ** hashes - 1)))
  const trio = filled.filter(({ name }) => name === TRIO.join(', '))
  const high = Math.max(...trio.map(({ rate, fill, hashes }) => rate.rate / fill ** hashes))
  const jenkins = quality.find(({ name }) => name === 'jenkins')
  return [
    {
      source: 'ours',
      claim: 'siphash, the default, has the rate that the fill of a filter predicts',
      verdict: isRight ? 'confirmed' : 'not reproduced',
      number: `within ${percent(off)} of it`,
    },
    {
      source: 'cen-2010, III.B',
      claim: 'every hash function chooses each place with the same chance: a fill of 1 − e^(−kn/m)',
      verdict: worst < 0.02 ? 'confirmed' : 'wrong',
      number: `within ${percent(worst)} for every function`,
    },
    {
      source: 'url-caching, 2.4 to 2.6',
      claim: 'the fill tells the rate of its three functions, each used once or more',
      verdict: high < 1.1 ? 'confirmed' : 'wrong',
      number: `up to ${factor(high)} times what the fill predicts`,
    },
    ...(jenkins
      ? [
          {
            source: 'jiang-eigenvalue, 3',
            claim: 'the shifts of Jenkins’ function make similar URLs collide',
            verdict:
              poissonZ(jenkins.found, jenkins.expected) > FAR ? ('confirmed' as const) : ('wrong' as const),
            number: `${count(jenkins.found)} equal hashes of 32 bits, ${jenkins.expected.toFixed(0)} expected by chance`,
          },
        ]
      : []),
  ]
}

export const hashes: Experiment = {
  name: 'hashes',
  title: 'The hash functions',
  source: 'ours',
  question:
    'Does each hash function fill a filter, spread and collide as a random one would, and how fast is it?',
  async run(lab) {
    const list = await lab.urls(lab.quick ? 60_000 : 1_000_000)
    const urls = Math.floor(list.count / 2)
    const members = list.lines(0, urls)
    const queries = list.count - urls
    const strangers = list.lines(urls, list.count)
    const key = lab.key('hashes')
    const filled: Filled[] = []
    const quality: Quality[] = []
    const choices: { name: string; hash: HashName | readonly HashName[] }[] = [
      ...hashNames.map((name) => ({ name, hash: name })),
      { name: TRIO.join(', '), hash: TRIO },
    ]
    for (const [i, { name, hash }] of choices.entries()) {
      lab.progress(i / choices.length, name)
      for (const k of HASH_COUNTS) {
        const bits = Math.ceil((k * urls) / Math.LN2)
        const done = await trial(
          { filter: 'classic', hash, key, bits, hashes: k },
          members,
          strangers,
          queries,
        )
        const formula = classicFill({ bits, hashes: k, urls })
        const { fill } = done.stats
        const z = (fill - formula) / fillDeviation(bits, k * urls)
        filled.push({ name, hashes: k, fill, formula, z, rate: done.falsePositives })
      }
      if (typeof hash !== 'string') continue
      const { first, nsPerUrl } = await hashed(list, list.count, hash, key, lab.quick ? 1 : 3)
      const [lowZ, highZ] = [chiSquareZ(first, 0), chiSquareZ(first, 16)]
      quality.push({ name: hash, lowZ, highZ, ...collisions(first), nsPerUrl })
    }
    lab.progress(1, 'done')
    return {
      claims: claims(filled, quality),
      finding: finding(filled, quality),
      tables: [fillTable(filled, urls), qualityTable(quality, list.count)],
      plots: [
        {
          title: 'Rate of a half-full filter by hash function',
          alt: 'Measured false-positive rate for 3 and 8 hashes, a line for each hash function; the best is one half to the power k.',
          x: { label: 'k' },
          y: { label: 'false-positive rate', log: true },
          kind: 'line',
          series: choices.map(({ name }) => ({
            name,
            points: filled.filter((row) => row.name === name).map((row) => ratePoint(row.hashes, row.rate)),
          })),
        },
      ],
    }
  },
}
