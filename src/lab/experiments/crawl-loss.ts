// What a false positive costs: a simulated crawl with each filter. A page answered "seen" at first sight is lost, and
// so is every page that is linked only from lost ones.
import { SieveError } from '../../errors.ts'
import { type FilterName, filterNames, filters } from '../../filters/registry.ts'
import { Sieve } from '../../sieve.ts'
import { type Crawl, crawl } from '../crawl.ts'
import type { Claim, Experiment, Lab, Table, UrlList } from '../experiment.ts'
import { inLinks, type LinkGraph, linkGraph, reachable } from '../link-graph.ts'
import { shuffle } from '../shuffle.ts'
import { sitesOf } from '../sites.ts'
import { aboveZero, covers, type MeasuredRate, measuredRate } from '../trial.ts'
import { count, factor, listed, percent } from '../wording.ts'

/** Links that lead to a page already found, in crawls of the web. */
const REPEATS = 0.86
const BITS_PER_URL = [8, 12, 16]

interface Row {
  readonly filter: FilterName
  /** Asked for; null for a filter that grows. */
  readonly bitsPerUrl: number | null
  readonly usedBitsPerUrl: number
  readonly crawl: Crawl
  /** Pages lost directly, of those that a link led to. */
  readonly direct: MeasuredRate
  readonly behind: number
  readonly lost: number
}

/** The list with its URLs in another order. */
function reordered(list: UrlList, order: Uint32Array): UrlList {
  const starts = Uint32Array.from(order, (i) => list.starts[i]!)
  const ends = Uint32Array.from(order, (i) => list.ends[i]!)
  return {
    count: order.length,
    bytes: list.bytes,
    starts,
    ends,
    at: (i) => list.at(order[i]!),
    lines: () => new Uint8Array(0),
  }
}

async function run(
  lab: Lab,
  filter: FilterName,
  bits: number | null,
  graph: LinkGraph,
  list: UrlList,
  truth: number,
): Promise<Row | null> {
  const size =
    bits === null ? {} : { sizeBytes: Math.ceil((bits * graph.pages) / 8), expectedUrls: graph.pages }
  let sieve: Sieve
  try {
    sieve = await Sieve.create({ filter, profile: 'raw', key: lab.key('crawl-loss'), ...size })
  } catch (error) {
    if (error instanceof SieveError) return null // not available in this size, or needs other options
    throw error
  }
  const done = crawl(graph, list, sieve)
  return {
    filter,
    bitsPerUrl: bits,
    usedBitsPerUrl: (sieve.stats().sizeBytes * 8) / graph.pages,
    crawl: done,
    direct: measuredRate(done.queried - done.fetched, done.queried),
    behind: truth - done.queried,
    lost: truth - done.fetched,
  }
}

function lossTable(rows: readonly Row[], truth: number): Table {
  return {
    title: 'Pages lost by filter and memory',
    note: `Of ${count(truth)} reachable pages. Directly: a link led to the page and the filter reported it as seen. Behind: no followed link led to it. Expected: the filter's own rate, summed as it filled.`,
    columns: [
      { name: 'filter', as: 'text' },
      { name: 'bits/URL', as: 'ratio' },
      { name: 'links followed', as: 'count' },
      { name: 'pages queried', as: 'count' },
      { name: 'lost directly', as: 'count' },
      { name: 'rate', as: 'rate' },
      { name: 'low', as: 'rate' },
      { name: 'high', as: 'rate' },
      { name: 'expected', as: 'ratio' },
      { name: 'lost behind', as: 'count' },
      { name: 'lost in all', as: 'count' },
      { name: 'share lost', as: 'rate' },
    ],
    rows: rows.map((row) => [
      row.filter,
      row.usedBitsPerUrl,
      row.crawl.links,
      row.crawl.queried,
      row.direct.hits,
      row.direct.rate,
      row.direct.low,
      row.direct.high,
      row.crawl.expectedLosses,
      row.behind,
      row.lost,
      row.lost / truth,
    ]),
  }
}

function graphTable(graph: LinkGraph, sites: number, truth: number): Table {
  const counts = inLinks(graph)
  const share = (least: number) => counts.reduce((sum, n) => sum + (n >= least ? 1 : 0), 0) / graph.pages
  return {
    title: 'The graph',
    columns: [
      { name: 'what', as: 'text' },
      { name: 'value', as: 'ratio' },
    ],
    rows: [
      ['pages', graph.pages],
      ['sites', sites],
      ['links', graph.targets.length],
      ['pages that can be reached', truth],
      ['share of links to a page already found', 1 - (truth - 1) / graph.targets.length],
      ['share of pages with one link', 1 - share(2)],
      ['share of pages with 10 links or more', share(10)],
      ['share of pages with 100 links or more', share(100)],
      ['most links to one page', counts.reduce((most, n) => Math.max(most, n), 0)],
    ],
  }
}

function finding(rows: readonly Row[], truth: number): string {
  const sized = rows.filter(({ bitsPerUrl }) => bitsPerUrl !== null)
  const grown = rows.filter(({ bitsPerUrl }) => bitsPerUrl === null)
  const direct = sized.reduce((sum, row) => sum + row.direct.hits, 0)
  const behind = sized.reduce((sum, row) => sum + row.behind, 0)
  const off = sized.filter((row) => !covers(row.direct, row.crawl.expectedLosses / row.direct.trials))
  const ratios = BITS_PER_URL.map((bits) => {
    const same = sized.filter(({ bitsPerUrl }) => bitsPerUrl === bits).sort((a, b) => a.lost - b.lost)
    const [best, worst] = [same[0]!, same.at(-1)!]
    return `${bits} bits per URL ${percent(best.lost / truth)} with ${best.filter} and ${percent(worst.lost / truth)} with ${worst.filter}`
  })
  const exact = grown.map(
    (row) => `${row.filter} (${row.usedBitsPerUrl.toFixed(0)} bits per URL) loses ${count(row.lost)}`,
  )
  return [
    `Of ${count(truth)} pages a crawl loses at ${listed(ratios)}; ${listed(exact)}.`,
    ` Every 100 pages lost directly take ${direct === 0 ? 'no' : ((100 * behind) / direct).toFixed(0)} more with them that only they link to.`,
    off.length === 0
      ? ' Direct losses are what each filter expects of itself.'
      : ` Direct losses differ from what the filter expects of itself for ${listed(off.map((row) => `${row.filter} at ${row.bitsPerUrl} bits (${factor(row.direct.hits / row.crawl.expectedLosses)} times)`))}.`,
  ].join('')
}

function claims(rows: readonly Row[], truth: number): Claim[] {
  const prints = rows.find(({ filter }) => filter === 'fingerprint')!
  const sized = rows.filter(({ bitsPerUrl }) => bitsPerUrl !== null)
  const worst = sized.reduce((a, b) => (b.lost > a.lost ? b : a))
  const direct = sized.reduce((sum, row) => sum + row.direct.hits, 0)
  const behind = sized.reduce((sum, row) => sum + row.behind, 0)
  return [
    {
      source: 'ours',
      claim: 'fingerprint loses no page of a crawl',
      verdict: prints.lost === 0 ? 'confirmed' : 'wrong',
      number: `${count(prints.lost)} of ${count(truth)}; ${worst.filter} with ${worst.bitsPerUrl} bits per URL ${percent(worst.lost / truth)}`,
    },
    {
      source: 'ours',
      claim: 'a page that is lost takes others with it that only it links to',
      verdict: behind > 0 ? 'confirmed' : 'not reproduced',
      number: `${direct === 0 ? 0 : ((100 * behind) / direct).toFixed(0)} more for every 100, in this graph`,
    },
  ]
}

export const crawlLoss: Experiment = {
  name: 'crawl-loss',
  title: 'Pages that a crawl loses',
  source: 'ours',
  question: 'How many pages does a crawl lose to false positives with each filter, and how many behind them?',
  async run(lab) {
    const given = await lab.urls(lab.quick ? 15_000 : 200_000)
    const order = shuffle(
      Uint32Array.from({ length: given.count }, (_, i) => i),
      lab.random('crawl-loss order'),
    )
    const list = reordered(given, order)
    const sites = sitesOf(list)
    const graph = linkGraph({ siteOf: sites.of, repeats: REPEATS, random: lab.random('crawl-loss links') })
    const truth = reachable(graph)
    // Exact baselines lose nothing by their nature, and one of them takes hours.
    const approximate = filterNames.filter((name) => filters[name].exactness !== 'exact')
    const runs = approximate.flatMap((filter) =>
      filters[filter].can.grow
        ? [{ filter, bits: null }]
        : BITS_PER_URL.map((bits) => ({ filter, bits: bits as number | null })),
    )
    const rows: Row[] = []
    for (const [i, { filter, bits }] of runs.entries()) {
      lab.progress(i / runs.length, `${filter}${bits === null ? '' : `, ${bits} bits per URL`}`)
      const row = await run(lab, filter, bits, graph, list, truth)
      if (row) rows.push(row)
    }
    lab.progress(1, 'done')
    const line = (filter: FilterName, y: (row: Row) => number) =>
      aboveZero(
        rows
          .filter((row) => row.filter === filter && row.bitsPerUrl !== null)
          .map((row) => ({ x: row.usedBitsPerUrl, y: y(row) })),
      )
    return {
      claims: claims(rows, truth),
      finding: finding(rows, truth),
      tables: [lossTable(rows, truth), graphTable(graph, sites.names.length, truth)],
      plots: [
        {
          title: 'Share of pages lost by memory',
          alt: 'Share of reachable pages that a crawl does not fetch, against bits per URL, one line for each filter.',
          x: { label: 'bits per URL' },
          y: { label: 'share of pages lost', log: true },
          kind: 'line',
          series: approximate
            .map((filter) => ({ name: filter, points: line(filter, (row) => row.lost / truth) }))
            .filter(({ points }) => points.length > 0),
        },
      ],
    }
  },
}
