// url-caching again: its three hash functions as the document uses them, each once; then over a grid of m and k against
// good ones, with k functions made of one by our own construction; and the memory of a hash set beside it.
import type { HashName } from '../../../hashes.ts'
import { Sieve, type SieveOptions } from '../../../sieve.ts'
import { optimalHashes, urlCachingBits } from '../../../sizing/classic.ts'
import type { Column, Experiment, Plot, Table, UrlList } from '../../experiment.ts'
import { heapBytes } from '../../heap.ts'
import {
  aboveZero,
  countSeen,
  covers,
  MEASURED_COLUMNS,
  measuredCells,
  measuredRate,
  ratePoint,
} from '../../trial.ts'
import { count, factor, listed, percent } from '../../wording.ts'
import {
  choices,
  type GridCell,
  grid,
  gridTable,
  lowest,
  PAPER_HASHES,
  PAPER_RATIO,
  shownRatio,
  TRIO,
} from './grid.ts'
import { claims, documentUses, type Held, useTable } from './verdicts.ts'

function memoryTable(held: readonly Held[], urls: number): Table {
  const columns: Column[] = [
    { name: 'structure', as: 'text' },
    { name: 'bytes', as: 'bytes' },
    { name: 'bytes/URL', as: 'ratio' },
    { name: 'heap bytes/URL', as: 'ratio', timing: true },
    ...MEASURED_COLUMNS,
  ]
  return {
    title: 'Memory beside a hash set',
    note: `${count(urls)} URLs. The hash set's bytes are its own estimate; the heap is measured after the garbage collector ran.`,
    columns,
    rows: held.map(({ name, sizeBytes, heapBytes: heap, rate }) => [
      name,
      sizeBytes,
      sizeBytes / urls,
      heap === null ? null : heap / urls,
      ...measuredCells(rate),
    ]),
  }
}

/** What a sieve of the URLs takes; `inHeap` when it keeps JavaScript objects. */
async function hold(
  name: string,
  options: SieveOptions,
  list: UrlList,
  urls: number,
  inHeap: boolean,
): Promise<Held> {
  const members = list.lines(0, urls)
  const before = inHeap ? heapBytes() : null
  const sieve: Sieve = await Sieve.create({ profile: 'raw', ...options })
  sieve.addLines(members)
  const after = inHeap ? heapBytes() : null
  const queries = list.count - urls
  const rate = measuredRate(countSeen(sieve, list.lines(urls, list.count)), queries)
  return {
    name,
    sizeBytes: sieve.stats().sizeBytes,
    heapBytes: before === null || after === null ? null : after - before,
    rate,
  }
}

function finding(cells: readonly GridCell[], held: readonly Held[], urls: number): string {
  const groups = new Map<string, GridCell[]>()
  for (const cell of cells) {
    const name = `${cell.choice.name} ${cell.ratio}`
    groups.set(name, [...(groups.get(name) ?? []), cell])
  }
  const optima = [...groups.values()].map((group) => {
    const { choice, ratio } = group[0]!
    const formula = optimalHashes({ bits: Math.ceil(ratio * urls), urls })
    const named = group.find(({ hashes }) => hashes === formula)!
    const best = lowest(group)
    // Neighbours of the optimum differ by less than chance: the formula holds where its k is not worse by more.
    return { choice, ratio, best, named, holds: named.rate.low <= best.rate.high }
  })
  const of = (good: boolean) => optima.filter(({ choice }) => choice.good === good)
  const holding = (good: boolean) => `${of(good).filter(({ holds }) => holds).length} of ${of(good).length}`
  const widest = Math.max(...optima.map(({ ratio }) => ratio))
  const weak = of(false)
    .filter(({ ratio }) => ratio === widest)
    .map(({ choice, named }) => ({ name: choice.name, named, times: named.rate.rate / named.expected }))
    .sort((a, b) => b.times - a.times)
  const off = weak.filter(({ named }) => !covers(named.rate, named.expected))
  const right = weak.filter(({ named }) => covers(named.rate, named.expected))
  const verdicts = [
    ...off.map(({ name, times }) => `${name} has ${factor(times)} times the rate that the formula predicts`),
    ...(right.length > 0
      ? [`within chance of it ${right.length === 1 ? 'is' : 'are'} ${listed(right.map(({ name }) => name))}`]
      : []),
  ]
  const paper = cells.find(
    ({ choice, ratio, hashes }) => choice.name === TRIO && ratio === PAPER_RATIO && hashes === PAPER_HASHES,
  )!
  const set = held.find(({ name }) => name.startsWith('hash set'))!
  const ours = held[0]!
  const setBytes = set.sizeBytes / urls
  return [
    `The paper's m = k·n / ln 2 and its three functions lose ${percent(paper.rate.rate)} of new URLs (${percent(paper.rate.low)} to ${percent(paper.rate.high)}; the formula predicts ${percent(paper.expected)}${covers(paper.rate, paper.expected) ? '' : ', outside the interval'}): ${(ours.sizeBytes / urls).toFixed(2)} bytes per URL where a hash set takes ${setBytes.toFixed(0)} by its own estimate, ${factor(set.sizeBytes / ours.sizeBytes)} times as much.`,
    ` k = (m/n)·ln 2 is the best, or no worse than chance, in ${holding(true)} cases for good functions and ${holding(false)} for the paper's; at m/n = ${widest}, with k of one function by our construction, ${verdicts.join('; ')}.`,
  ].join('')
}

function plots(cells: readonly GridCell[], ratios: readonly number[]): Plot[] {
  const line = (name: string, some: readonly GridCell[]) => ({
    name,
    points: aboveZero(some.map(({ hashes, rate }) => ratePoint(hashes, rate))),
  })
  const widest = ratios.at(-1)!
  const good = choices.at(-1)!
  return [
    {
      title: `Rate against k, m/n = ${shownRatio(widest)}`,
      alt: 'False-positive rate against the number of hashes, one line for each hash function, and the formula.',
      x: { label: 'k' },
      y: { label: 'false-positive rate', log: true },
      kind: 'line',
      series: [
        ...choices.map((choice) =>
          line(
            choice.name,
            cells.filter((cell) => cell.choice === choice && cell.ratio === widest),
          ),
        ),
        {
          name: 'formula',
          printed: true,
          points: cells
            .filter((cell) => cell.choice === good && cell.ratio === widest)
            .map(({ hashes, expected }) => ({ x: hashes, y: expected })),
        },
      ],
    },
    {
      title: `Rate against k with ${good.name}`,
      alt: 'False-positive rate against the number of hashes, one line for each m/n.',
      x: { label: 'k' },
      y: { label: 'false-positive rate', log: true },
      kind: 'line',
      series: ratios.map((ratio) =>
        line(
          `m/n = ${shownRatio(ratio)}`,
          cells.filter((cell) => cell.choice === good && cell.ratio === ratio),
        ),
      ),
    },
  ]
}

export const urlCache: Experiment = {
  name: 'url-cache',
  title: 'A URL cache with three hash functions',
  source: 'url-caching',
  question:
    'Are three simple hash functions good enough, is k = (m/n)·ln 2 the best, and how much memory is saved against a hash set?',
  async run(lab) {
    const list = await lab.urls(lab.quick ? 30_000 : 250_000)
    const urls = Math.floor(list.count * 0.4)
    const ratios = lab.quick ? [PAPER_RATIO, 8] : [PAPER_RATIO, 8, 12, 16]
    const cells = await grid(lab, list, urls, ratios)
    const uses = documentUses(lab, cells, list, urls, ratios)
    const key = lab.key('url-cache')
    const paperBits = urlCachingBits({ urls, hashes: PAPER_HASHES })
    const trio: readonly HashName[] = ['poly31', 'djb2', 'xor17']
    const held = [
      await hold(
        'the paper: m = 3·n / ln 2, its three functions',
        { filter: 'classic', bits: paperBits, hashes: PAPER_HASHES, hash: trio },
        list,
        urls,
        false,
      ),
      await hold(
        'classic for 1 %',
        { filter: 'classic', expectedUrls: urls, falsePositiveRate: 0.01, key },
        list,
        urls,
        false,
      ),
      await hold(
        'classic for 0.0001 %',
        { filter: 'classic', expectedUrls: urls, falsePositiveRate: 1e-6, key },
        list,
        urls,
        false,
      ),
      await hold('fingerprint', { filter: 'fingerprint', key }, list, urls, false),
      await hold('hash set of strings', { filter: 'hash-set' }, list, urls, true),
    ]
    lab.progress(1, 'done')
    return {
      claims: claims(uses, cells, held, urls),
      finding: finding(cells, held, urls),
      tables: [useTable(uses, urls), gridTable(cells, urls), memoryTable(held, urls)],
      plots: plots(cells, ratios),
    }
  },
}
