// jiang-eigenvalue, Fig. 5 again: the rate against crawl depth, the number of consecutive URLs of one
// site, at m/n = 32. Then what the paper left out: URLs that are unlike, a good hash, more hashes, and the same memory.
import { featureNames } from '../../../filters/eigenvalue.ts'
import type { HashName } from '../../../hashes.ts'
import { eigenvalueHashes } from '../../../sizing/eigenvalue.ts'
import type { Cell, Column, Experiment, Lab, Plot, Result, Table, UrlList } from '../../experiment.ts'
import { siteTemplates, templateLines, unlikeUrls } from '../../site-urls.ts'
import { largestSite } from '../../sites.ts'
import { MEASURED_COLUMNS, measuredCells, pooled, ratePoint } from '../../trial.ts'
import {
  classicM,
  classicMore,
  extended,
  HASH_NAMES,
  HASHES,
  MORE,
  measure,
  PAPER_BITS,
  paperExtended,
  type Row,
  rivals,
  type Source,
  STRONG,
  type Structure,
  WEAK,
} from './measurement.ts'
import { AS_PRINTED, growingPlot, growingTable, moreHashes } from './more-hashes.ts'
import { claims, finding } from './verdicts.ts'

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
    return { name, points: depths.map((depth) => ratePoint(depth, at(depth))) }
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
    return { name: structure, points: ratios.map((ratio) => ratePoint(ratio, at(ratio))) }
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
    const depth = Math.min(10_000, depths.at(-1)!)
    const growing = await moreHashes(lab, sources[0]!, depth, most, [STRONG, WEAK])
    lab.progress(1, 'done')
    return {
      claims: claims(depthRows, growing, AS_PRINTED),
      finding: finding(depthRows, featureRows, growing, AS_PRINTED),
      tables: [depthTable(depthRows), featureTable(featureRows), growingTable(growing)],
      plots: [...plots(depthRows, featureRows), growingPlot(growing)],
    }
  },
}
