// jiang-eigenvalue, Fig. 5 again: the rate against crawl depth, the number of consecutive URLs of one
// site, at m/n = 32. Then what the paper left out: URLs that are unlike, a good hash, and the same memory.
import { type FeatureName, featureNames } from '../../filters/eigenvalue.ts'
import type { HashName } from '../../hashes.ts'
import { classicRate } from '../../sizing/classic.ts'
import { eigenvalueHashes } from '../../sizing/eigenvalue.ts'
import type { Cell, Column, Experiment, Lab, Plot, Result, Table, UrlList } from '../experiment.ts'
import { siteTemplates, templateLines, unlikeUrls } from '../site-urls.ts'
import { largestSite } from '../sites.ts'
import {
  aboveZero,
  covers,
  isAbove,
  MEASURED_COLUMNS,
  type MeasuredRate,
  measuredCells,
  pooled,
  ratePoint,
  trial,
} from '../trial.ts'
import { count, factor, listed, percent } from '../wording.ts'

/** The paper names no k: 3 has a rate that can be counted, and d/k = 1/3 is then d = 1. */
const HASHES = 3
const PAPER_BITS = 32
const WEAK: HashName = 'jenkins'
const STRONG: HashName = 'siphash'
const HASH_NAMES: readonly HashName[] = [WEAK, 'md5', STRONG]

interface Source {
  readonly name: string
  /** Whether they are of one site. */
  readonly similar: boolean
  readonly count: number
  lines(from: number, to: number): Uint8Array
}

interface Structure {
  readonly name: string
  readonly filter: 'classic' | 'eigenvalue'
  /** All of its memory, as a factor of m. */
  readonly memory: number
  readonly hashes: number
  readonly features?: FeatureName
}

interface Row {
  readonly source: Source
  readonly hash: HashName
  readonly depth: number
  readonly bitsPerUrl: number
  readonly structure: Structure
  readonly rate: MeasuredRate
  readonly expected: number
}

const MORE = 4 / 3
const classic = (memory: number, hashes: number): Structure => ({
  name: `classic, ${memory === 1 ? 'm' : '4m/3'}, k = ${hashes}`,
  filter: 'classic',
  memory,
  hashes,
})
const classicM = classic(1, HASHES)
/**
 * With the extension's memory and as many bits set, k + d: what the two regions would be if g distinguished all URLs,
 * since k/m1 = d/m2 fills both alike.
 */
const rivals = [MORE, 1].map((memory) => classic(memory, HASHES + eigenvalueHashes({ hashes: HASHES })))
const [classicMore] = rivals as [Structure]
const extended = (features: FeatureName, memory: number): Structure => ({
  name: `eigenvalue, ${memory === 1 ? 'm' : '4m/3'}, ${features}`,
  filter: 'eigenvalue',
  memory,
  hashes: HASHES,
  features,
})
/** The paper's own: host initials, and a third more memory. */
const paperExtended = extended('host-initials', MORE)

async function measure(
  lab: Lab,
  source: Source,
  hash: HashName,
  structure: Structure,
  bitsPerUrl: number,
  depth: number,
  most: number,
): Promise<Row> {
  const queries = Math.min(most, source.count - depth)
  const bits = Math.round(structure.memory * bitsPerUrl * depth)
  const { falsePositives } = await trial(
    {
      filter: structure.filter,
      hash,
      key: lab.key('jiang'),
      bits,
      hashes: structure.hashes,
      ...(structure.features && { features: structure.features }),
    },
    source.lines(0, depth),
    source.lines(depth, depth + queries),
    queries,
  )
  const urlBits = structure.filter === 'classic' ? bits : bits - Math.floor(bits / 4)
  const expected = classicRate({ bits: urlBits, hashes: structure.hashes, urls: depth })
  return { source, hash, depth, bitsPerUrl, structure, rate: falsePositives, expected }
}

function fromTemplates(lab: Lab, size: number): Source[] {
  const made = (name: string, similar: boolean, template: (i: number) => string): Source => {
    const { bytes, starts } = templateLines(template, size)
    return { name, similar, count: size, lines: (from, to) => bytes.subarray(starts[from], starts[to]) }
  }
  const templates = siteTemplates(lab.random('jiang sites'))
  return [
    ...Object.entries(templates).map(([name, template]) => made(name, true, template)),
    made('unlike', false, unlikeUrls(lab.random('jiang unlike'))),
  ]
}

function fromList(list: UrlList, size: number): Source {
  const { name, urls } = largestSite(list)
  return {
    name,
    similar: true,
    count: Math.min(size, urls.length),
    lines(from, to) {
      const chosen = urls.subarray(from, to)
      const bytes = new Uint8Array(chosen.reduce((sum, i) => sum + list.ends[i]! - list.starts[i]! + 1, 0))
      let at = 0
      for (const i of chosen) {
        bytes.set(list.bytes.subarray(list.starts[i], list.ends[i]), at)
        at += list.ends[i]! - list.starts[i]!
        bytes[at++] = 10
      }
      return bytes
    },
  }
}

const rateColumns: Column[] = [...MEASURED_COLUMNS, { name: 'formula', as: 'rate' }]
const cellsOf = ({ rate, expected }: Row): Cell[] => [...measuredCells(rate), expected]

function depthTable(rows: readonly Row[]): Table {
  return {
    title: `Fig. 5: rate against crawl depth, m/n = ${PAPER_BITS}`,
    note: `k = ${HASHES}, d = ${eigenvalueHashes({ hashes: HASHES })}; n is the depth. The formula is that of the whole-URL bits: for the extension it holds when the second region refuses nothing.`,
    columns: [
      { name: 'URLs', as: 'text' },
      { name: 'hash', as: 'text' },
      { name: 'depth', as: 'count' },
      { name: 'filter', as: 'text' },
      ...rateColumns,
    ],
    rows: rows.map((row) => [row.source.name, row.hash, row.depth, row.structure.name, ...cellsOf(row)]),
  }
}

function featureTable(rows: readonly Row[]): Table {
  return {
    title: 'Each feature function against a classic filter of the same memory',
    note: 'Where g distinguishes all URLs the extension is a classic filter in two parts; where the site shares a feature, that memory is wasted.',
    columns: [
      { name: 'URLs', as: 'text' },
      { name: 'hash', as: 'text' },
      { name: 'm/n', as: 'count' },
      { name: 'filter', as: 'text' },
      ...rateColumns,
    ],
    rows: rows.map((row) => [row.source.name, row.hash, row.bitsPerUrl, row.structure.name, ...cellsOf(row)]),
  }
}

function plots(depthRows: readonly Row[], featureRows: readonly Row[]): Plot[] {
  const line = (name: string, rows: readonly Row[]) => {
    const depths = [...new Set(rows.map(({ depth }) => depth))]
    const at = (depth: number) => pooled(rows.filter((row) => row.depth === depth).map(({ rate }) => rate))
    return { name, points: aboveZero(depths.map((depth) => ratePoint(depth, at(depth)))) }
  }
  const of = (structure: Structure, hash: HashName, similar: boolean) =>
    depthRows.filter(
      (row) => row.structure === structure && row.hash === hash && row.source.similar === similar,
    )
  const weak = featureRows.filter(({ hash, structure }) => hash === WEAK && structure.memory === MORE)
  const byRatio = (structure: string) => {
    const rows = weak.filter((row) => row.structure.name === structure)
    const ratios = [...new Set(rows.map(({ bitsPerUrl }) => bitsPerUrl))].sort((a, b) => a - b)
    const at = (ratio: number) =>
      pooled(rows.filter((row) => row.bitsPerUrl === ratio).map(({ rate }) => rate))
    return { name: structure, points: aboveZero(ratios.map((ratio) => ratePoint(ratio, at(ratio)))) }
  }
  return [
    {
      title: 'Rate against crawl depth',
      alt: 'False-positive rate of classic and eigenvalue filters against the number of URLs taken from one site.',
      x: { label: 'crawl depth (URLs)', log: true },
      y: { label: 'false-positive rate', log: true },
      kind: 'line',
      series: [
        line(`classic, m, ${WEAK}`, of(classicM, WEAK, true)),
        line(`classic, m, ${STRONG}`, of(classicM, STRONG, true)),
        line(`classic, m, ${WEAK}, unlike URLs`, of(classicM, WEAK, false)),
        line(`eigenvalue, 4m/3, ${WEAK}`, of(paperExtended, WEAK, true)),
        line(`classic, 4m/3, ${WEAK}`, of(classicMore, WEAK, true)),
      ],
    },
    {
      title: 'With the same memory, 4m/3',
      alt: 'False-positive rate of a classic filter and of each feature function against m/n.',
      x: { label: 'm/n' },
      y: { label: 'false-positive rate', log: true },
      kind: 'line',
      series: [...new Set(weak.map((row) => row.structure.name))].map(byRatio),
    },
  ]
}

const shown = ({ rate, low, high }: MeasuredRate) => `${percent(rate)} (${percent(low)} to ${percent(high)})`

function finding(depthRows: readonly Row[], featureRows: readonly Row[]): string {
  const rates = (rows: readonly Row[]) => rows.map(({ rate }) => rate)
  const of = (structure: Structure, keep: (row: Row) => boolean) =>
    pooled(rates(depthRows.filter((row) => row.structure === structure && keep(row))))
  const similar = of(classicM, ({ source, hash }) => source.similar && hash === WEAK)
  const unlike = of(classicM, ({ source, hash }) => !source.similar && hash === WEAK)
  const strong = of(classicM, ({ source, hash }) => source.similar && hash === STRONG)
  const depths = [...new Set(depthRows.map(({ depth }) => depth))]
  const at = (depth: number) =>
    of(classicM, (row) => row.source.similar && row.hash === WEAK && row.depth === depth)
  const [shallow, deep] = [at(Math.min(...depths)), at(Math.max(...depths))]
  const rises = isAbove(similar, unlike)
  const worst = depthRows
    .filter(({ structure, source }) => structure === classicM && source.similar)
    .filter(({ rate, expected }) => !covers(rate, expected))
    .map(({ source, hash, depth, rate, expected }) => ({
      text: `${source.name} with ${hash} at ${count(depth)} (${factor(rate.rate / expected)} times the formula)`,
      distance: Math.abs(Math.log((rate.rate || rate.high) / expected)),
    }))
    .sort((a, b) => b.distance - a.distance)
  const one = (row: Row) => row.source.similar && row.hash === WEAK
  const paper = of(paperExtended, one)
  const rival = of(classicMore, one)
  const better = isAbove(rival, paper)
  const features = featureRows.filter((row) => row.structure.features)
  const rivalOf = (row: Row) =>
    featureRows.find(
      (other) =>
        rivals.includes(other.structure) &&
        other.structure.memory === row.structure.memory &&
        other.source === row.source &&
        other.hash === row.hash &&
        other.bitsPerUrl === row.bitsPerUrl,
    )!
  const below = features.filter((row) => isAbove(rivalOf(row).rate, row.rate))
  const above = features.filter((row) => isAbove(row.rate, rivalOf(row).rate))
  const depthWord = isAbove(deep, shallow) ? 'rises' : isAbove(shallow, deep) ? 'falls' : 'does not change'
  return [
    `With ${WEAK} the false-positive rate of a classic filter is ${shown(similar)} for the URLs of one site and ${shown(unlike)} for dissimilar ones, with ${STRONG} ${shown(strong)}: similar URLs ${rises ? 'raise' : 'do not raise'} the rate here, and with depth it ${depthWord} (${percent(shallow.rate)} at ${count(Math.min(...depths))}, ${percent(deep.rate)} at ${count(Math.max(...depths))}).`,
    worst.length === 0
      ? ''
      : ` Off the formula by more than chance: ${listed(worst.slice(0, 3).map(({ text }) => text))}${worst.length > 3 ? ` and ${worst.length - 3} more` : ''}.`,
    ` The extension with the paper's features has a rate of ${shown(paper)}, a classic filter with the same memory ${shown(rival)}: the extension is ${better ? 'better' : isAbove(paper, rival) ? `${factor(paper.rate / rival.rate)} times worse` : 'no better'}; of all ${features.length} comparisons by feature function at the same memory it wins ${below.length} and loses ${above.length}.`,
  ].join('')
}

export const jiang: Experiment = {
  name: 'jiang',
  title: 'Similar URLs and the eigenvalue extension',
  source: 'jiang-eigenvalue, Fig. 5',
  question:
    'Do the similar URLs of one site raise the false-positive rate, and does a second region for features help more than the same memory?',
  async run(lab): Promise<Result> {
    const depths = lab.quick ? [1000, 5000] : [1000, 10_000, 100_000]
    const most = lab.quick ? 20_000 : 300_000
    const ratios = lab.quick ? [PAPER_BITS, 8] : [PAPER_BITS, 16, 8]
    const size = depths.at(-1)! + most
    const list = await lab.urls(lab.quick ? 100_000 : 2_000_000)
    const own = fromList(list, size)
    const sources = [...fromTemplates(lab, size), ...(own.count >= 2 * depths[0]! ? [own] : [])]
    // At most half of a short site is added, so that as many URLs are left as queries.
    const depthsOf = (source: Source) => depths.filter((depth) => depth <= source.count / 2)
    const depthRows: Row[] = []
    for (const [i, source] of sources.entries()) {
      for (const hash of HASH_NAMES) {
        lab.progress((i / sources.length) * 0.5, `${source.name}, ${hash}`)
        for (const depth of depthsOf(source)) {
          // MD5 is slow and as good as SipHash: the paper's word for a good hash, so the classic filter alone.
          const structures = hash === 'md5' ? [classicM] : [classicM, classicMore, paperExtended]
          for (const structure of structures) {
            depthRows.push(await measure(lab, source, hash, structure, PAPER_BITS, depth, most))
          }
        }
      }
    }
    const similar = sources.filter(({ name, similar }) => similar && name !== 'ids')
    const featureRows: Row[] = []
    for (const [i, source] of similar.entries()) {
      const depth = depthsOf(source)
        .filter((one) => one <= 10_000)
        .at(-1)!
      for (const ratio of ratios) {
        lab.progress(0.5 + (i / similar.length) * 0.5, `features of ${source.name}, m/n = ${ratio}`)
        for (const hash of ratio === PAPER_BITS ? [WEAK, STRONG] : [WEAK]) {
          for (const rival of rivals) {
            const byFeature = featureNames.map((features) => extended(features, rival.memory))
            for (const structure of [rival, ...byFeature]) {
              featureRows.push(await measure(lab, source, hash, structure, ratio, depth, most))
            }
          }
        }
      }
    }
    lab.progress(1, 'done')
    return {
      finding: finding(depthRows, featureRows),
      tables: [depthTable(depthRows), featureTable(featureRows)],
      plots: plots(depthRows, featureRows),
    }
  },
}
