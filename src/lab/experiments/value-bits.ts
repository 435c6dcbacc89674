// Bits by value: a Bloom filter that spends more hashes on URLs with many in-links (the weighted Bloom filter of Bruck,
// Gao, Jiang 2006). A page with many in-links that is lost is lost for all of them.
import type { Claim, Experiment, Lab, Plot, Result, Table } from '../experiment.ts'
import { inLinks, linkGraph } from '../link-graph.ts'
import { PlainBits, plainHash } from '../plain-bits.ts'
import { sitesOf } from '../sites.ts'
import { count, percent } from '../wording.ts'

const BITS_PER_URL = [6, 8, 10, 12]
const URLS = 400_000
const QUICK_URLS = 40_000
const REPEATS = 0.86
const MOST_HASHES = 24

interface Outcome {
  readonly bitsPerUrl: number
  readonly name: 'the same k for all' | 'k by in-links'
  readonly queries: number
  readonly lost: number
  readonly links: number
  readonly lostLinks: number
  readonly fill: number
}

/**
 * Hashes of a URL of this value: k + log2(value / geometric mean). At a half-full filter one more hash halves the rate, and
 * the sum of value · rate is least when every URL contributes the same.
 */
export function hashesFor(value: number, mean: number, hashes: number): number {
  return Math.min(MOST_HASHES, Math.max(1, Math.round(hashes + Math.log2(value / mean))))
}

async function measure(lab: Lab): Promise<Outcome[]> {
  const list = await lab.urls(lab.quick ? QUICK_URLS : URLS)
  const graph = linkGraph({ siteOf: sitesOf(list).of, repeats: REPEATS, random: lab.random('value-bits') })
  const links = inLinks(graph)
  const hash = (i: number) => plainHash(list.bytes, list.starts[i]!, list.ends[i]!, 0)
  // Every second page is held, the others are new ones; pages are in the order of their first link.
  const value = (i: number) => Math.max(1, links[i]!)
  let logs = 0
  for (let i = 0; i < list.count; i += 2) logs += Math.log2(value(i))
  const held = Math.ceil(list.count / 2)
  const mean = 2 ** (logs / held)
  return BITS_PER_URL.flatMap((bitsPerUrl, b) => {
    lab.progress((b + 0.5) / BITS_PER_URL.length, `${bitsPerUrl} bits per URL`)
    const bits = bitsPerUrl * held
    const k = bitsPerUrl * Math.LN2
    return (['the same k for all', 'k by in-links'] as const).map((name): Outcome => {
      const own = (i: number) =>
        name === 'k by in-links' ? hashesFor(value(i), mean, k) : Math.max(1, Math.round(k))
      const filter = new PlainBits(bits)
      for (let i = 0; i < list.count; i += 2) filter.add(hash(i), own(i))
      let [queries, lost, all, lostLinks] = [0, 0, 0, 0]
      for (let i = 1; i < list.count; i += 2) {
        queries++
        all += value(i)
        if (!filter.knows(hash(i), own(i))) continue
        lost++
        lostLinks += value(i)
      }
      let ones = 0
      for (let at = 0; at < bits; at++) if (filter.has(at)) ones++
      return { bitsPerUrl, name, queries, lost, links: all, lostLinks, fill: ones / bits }
    })
  })
}

function outcomeTable(outcomes: readonly Outcome[]): Table {
  return {
    title: 'Pages and links lost, with the same memory',
    note: 'Half of the pages are held, the others are new. By in-links: a page with twice as many gets one hash more, k adjusted so that the filter stays half full. It takes the number of in-links to be known when the page is first met.',
    columns: [
      { name: 'bits/URL', as: 'count' },
      { name: 'filter', as: 'text' },
      { name: 'new pages', as: 'count' },
      { name: 'pages lost', as: 'count' },
      { name: 'share of pages', as: 'rate' },
      { name: 'in-links lost', as: 'count' },
      { name: 'share of in-links', as: 'rate' },
      { name: 'fill', as: 'rate' },
    ],
    rows: outcomes.map(({ bitsPerUrl, name, queries, lost, links, lostLinks, fill }) => [
      bitsPerUrl,
      name,
      queries,
      lost,
      lost / queries,
      lostLinks,
      lostLinks / links,
      fill,
    ]),
  }
}

async function run(lab: Lab): Promise<Result> {
  const outcomes = await measure(lab)
  lab.progress(1, 'done')
  const pairs = BITS_PER_URL.map((bits) => outcomes.filter(({ bitsPerUrl }) => bitsPerUrl === bits))
  const [same, valued] = pairs[1] as [Outcome, Outcome]
  const share = ({ lostLinks, links }: Outcome) => lostLinks / links
  const pages = ({ lost, queries }: Outcome) => lost / queries
  const isBetter = pairs.every(([one, other]) => share(other!) < share(one!))
  const claims: Claim[] = [
    {
      source: 'ours',
      claim: 'bits by value lose fewer in-links per bit',
      verdict: isBetter ? 'confirmed' : 'not reproduced',
      number: `${percent(share(same))} → ${percent(share(valued))} of in-links at ${same.bitsPerUrl} bits per URL`,
    },
    {
      source: 'ours',
      claim: 'and fewer pages',
      verdict: pages(valued) < pages(same) ? 'confirmed' : 'wrong',
      number: `${percent(pages(same))} → ${percent(pages(valued))} of pages`,
    },
  ]
  const series = (of: (outcome: Outcome) => number, what: string) =>
    (['the same k for all', 'k by in-links'] as const).map((name) => ({
      name: `${what}: ${name}`,
      points: outcomes
        .filter((one) => one.name === name)
        .map((one) => ({ x: one.bitsPerUrl, y: of(one) }))
        .filter(({ y }) => y > 0),
    }))
  const plot: Plot = {
    title: 'Shares lost by memory',
    alt: 'Share of in-links and of pages lost, against bits per URL, with the same k for all and with k by in-links.',
    x: { label: 'bits per URL' },
    y: { label: 'share lost', log: true },
    kind: 'line',
    series: [...series(share, 'in-links'), ...series(pages, 'pages')],
  }
  return {
    claims,
    finding: `With ${same.bitsPerUrl} bits per URL a filter that gives pages with more in-links more hashes loses ${percent(share(valued))} of the in-links of ${count(same.queries)} new pages instead of ${percent(share(same))}, and ${percent(pages(valued))} of the pages instead of ${percent(pages(same))}: it ${isBetter ? 'saves' : 'does not save'} what many pages link to, at the price of the others. A crawler does not know the in-links of a page when it first meets it.`,
    tables: [outcomeTable(outcomes)],
    plots: [plot],
  }
}

export const valueBits: Experiment = {
  name: 'value-bits',
  title: 'More bits for valuable URLs',
  source: 'ours',
  question: 'Does a filter that spends more bits on URLs with many in-links lose fewer pages per bit?',
  run,
}
