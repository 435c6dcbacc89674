// An adversary: how many URLs a page must choose to hide another page from a crawler, for each filter. With the hash
// known it chooses them to set the bits of its victim; with a keyed hash it can only fill the filter blindly; and where the
// structure itself errs, no hash helps.
import type { FilterKind } from '../../filters/filter.ts'
import { type FilterName, filterNames, filters } from '../../filters/registry.ts'
import { Sieve, type SieveOptions } from '../../sieve.ts'
import type { Claim, Experiment, Lab, Plot, Result, Table } from '../experiment.ts'
import { address, plainHash } from '../plain-bits.ts'
import { count, factor, listed } from '../wording.ts'

/** Planned for this many URLs at this rate, and half full when the adversary begins. */
const URLS = 20_000
const QUICK_URLS = 4_000
const RATE = 1e-3
const VICTIMS = 400
/** Blind URLs are counted up to this many times the planned ones. */
const MOST_TIMES = 24

const encoder = new TextEncoder()

/** Filters of a fixed size that go on when they are full. */
const victims = filterNames.filter((name) => {
  const kind = filters[name] as FilterKind
  return kind.exactness === 'approximate' && !kind.can.grow && !kind.refusesWhenFull
})

interface Attack {
  readonly filter: FilterName
  /** URLs until half of the victims are hidden, blindly; null: more than we tried. */
  readonly blind: number | null
  /** URLs that hide one victim for certain, whatever the key; null: there is no such set. */
  readonly structural: number | null
}

/** URLs that hide `https://victim.example/a/b/c/d`, made of its own parts. */
const REORDERED: Partial<Record<FilterName, { victim: string; urls: readonly string[] }>> = {
  multilayer: {
    victim: 'victim.example/a/b',
    urls: ['victim.example/b/a', 'victim.example/a/x', 'victim.example/x/b'],
  },
  // Words are dealt to three layers: the fourth word lies in the layer of the first.
  'keyword-layers': { victim: 'victim.example/a/b/c/d', urls: ['victim.example/d/b/c/a'] },
}

function options(filter: FilterName, urls: number): SieveOptions {
  const sizes = { filter, expectedUrls: urls, falsePositiveRate: RATE, profile: 'raw' }
  return (filter === 'keyword-layers' ? { ...sizes, layers: 3 } : sizes) as SieveOptions
}

async function attack(lab: Lab, filter: FilterName, urls: number): Promise<Attack> {
  const sieve: Sieve = await Sieve.create({ ...options(filter, urls), key: lab.key('adversary') })
  const pages = (from: number, to: number) =>
    Array.from(
      { length: to - from },
      (_, i) => `evil${(from + i) % 7}.example/${from + i}/${(from + i) * 31}`,
    )
  sieve.addMany(pages(0, urls / 2))
  const targets = Array.from({ length: VICTIMS }, (_, i) => `shop${i}.example/item/${i * 977}`)
  let added = 0
  let blind: number | null = null
  const step = Math.ceil(urls / 4)
  while (blind === null && added < MOST_TIMES * urls) {
    sieve.addMany(pages(urls + added, urls + added + step))
    added += step
    const hidden = sieve.hasMany(targets).reduce((sum, seen) => sum + seen, 0)
    if (hidden >= VICTIMS / 2) blind = added
  }
  return { filter, blind, structural: await structural(lab, filter, urls) }
}

// Counted with a keyed hash: the adversary knows nothing of it.
async function structural(lab: Lab, filter: FilterName, urls: number): Promise<number | null> {
  const own = REORDERED[filter]
  if (!own) return null
  const sieve: Sieve = await Sieve.create({ ...options(filter, urls), key: lab.key('adversary order') })
  if (sieve.has(own.victim)) return null
  sieve.addMany([...own.urls])
  return sieve.has(own.victim) ? own.urls.length : null
}

interface Search {
  readonly hashes: number
  readonly urls: number
  /** URLs whose hash was computed to find them. */
  readonly tries: number
}

/** Without a key: finds URLs that set every bit of the victim in a Bloom filter of these bits and hashes. */
export function searchBits(bits: number, hashes: number, victim: string): Search {
  const places = (url: string) => {
    const bytes = encoder.encode(url)
    const hash = plainHash(bytes, 0, bytes.length, 0)
    return Array.from({ length: hashes }, (_, j) => address(hash, j, bits))
  }
  const left = new Set(places(victim))
  let [urls, tries] = [0, 0]
  while (left.size > 0) {
    const hit = places(`evil.example/${tries++}`).filter((at) => left.has(at))
    if (hit.length === 0) continue
    urls++
    for (const at of hit) left.delete(at)
  }
  return { hashes, urls, tries }
}

function attackTable(attacks: readonly Attack[], searched: Search, bits: number): Table {
  return {
    title: 'URLs that hide a page',
    note: `Filters planned for a rate of ${RATE}, half full at the start. Known hash: chosen so that together they set the bits of the page; computed with ${count(searched.tries)} hashes for a classic filter of ${count(bits)} bits, k = ${searched.hashes}; more memory costs more hashes, not more URLs. Keyed and blind: until half of ${VICTIMS} pages are hidden. Any key: parts of the page’s own URL in another order.`,
    columns: [
      { name: 'filter', as: 'text' },
      { name: 'hash known: at most k URLs', as: 'count' },
      { name: 'keyed, blind', as: 'text' },
      { name: 'any key', as: 'text' },
    ],
    rows: attacks.map(({ filter, blind, structural: some }) => [
      filter,
      searched.urls,
      blind === null ? 'more than we tried' : count(blind),
      some === null ? 'none' : String(some),
    ]),
  }
}

async function run(lab: Lab): Promise<Result> {
  const urls = lab.quick ? QUICK_URLS : URLS
  const classic = await Sieve.create(options('classic', urls))
  const { bits, hashes } = classic.plan
  lab.progress(0, 'a known hash')
  const searched = searchBits(bits!, hashes!, 'shop.example/item/1')
  const attacks: Attack[] = []
  for (const [i, filter] of victims.entries()) {
    lab.progress((i + 0.5) / victims.length, filter)
    attacks.push(await attack(lab, filter, urls))
  }
  lab.progress(1, 'done')
  const broken = attacks.filter(({ structural: some }) => some !== null)
  const least = attacks.filter(({ blind }) => blind !== null).reduce((a, b) => (b.blind! < a.blind! ? b : a))
  const claims: Claim[] = [
    {
      source: 'ours',
      claim: 'with a known hash a page hides another with at most k URLs',
      verdict: searched.urls <= searched.hashes ? 'confirmed' : 'wrong',
      number: `${searched.urls} URLs, found with ${count(searched.tries)} hashes`,
    },
    {
      source: 'ours',
      claim: 'with a keyed hash it has to fill the filter',
      verdict: least.blind! > urls / 4 ? 'confirmed' : 'wrong',
      number: `at least ${count(least.blind!)} URLs (${least.filter}), ${factor(least.blind! / urls)} times the planned ones`,
    },
    {
      source: 'ours, of cen-2010 and sharma-keywords',
      claim: 'a key protects every filter',
      verdict: broken.length > 0 ? 'wrong' : 'confirmed',
      number: listed(broken.map(({ filter, structural: some }) => `${some} for ${filter}`)) || '0',
    },
  ]
  const plot: Plot = {
    title: 'URLs until half of the pages are hidden, blindly',
    alt: 'For each filter, the number of URLs after which half of the pages are reported as seen, with a keyed hash.',
    x: { label: 'filter' },
    y: { label: 'URLs', log: true },
    kind: 'bar',
    series: attacks
      .filter(({ blind }) => blind !== null)
      .map(({ filter, blind }) => ({ name: filter, points: [{ x: 0, y: blind! }] })),
  }
  return {
    claims,
    finding: `Where the hash is known, ${searched.urls} URLs hide a page from a classic filter, found with ${count(searched.tries)} hashes; with a key it takes ${count(least.blind!)} or more to hide half of all pages (${least.filter}). A key does not help ${listed(broken.map(({ filter }) => filter)) || 'against nothing here'}: ${listed(broken.map(({ filter, structural: some }) => `${some} ${some === 1 ? 'URL hides' : 'URLs hide'} a page from ${filter} for certain`))}.`,
    tables: [attackTable(attacks, searched, bits!)],
    plots: [plot],
  }
}

export const adversary: Experiment = {
  name: 'adversary',
  title: 'A page that hides another',
  source: 'ours',
  question: 'How many URLs must a page choose to hide another from a crawler, with and without a key?',
  run,
}
