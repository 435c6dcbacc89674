// A web to crawl: pages of sites and the links between them, drawn from a seed. Every page can be reached from the
// first; popular pages get more links (a link copies the target of another, which gives power laws: Kumar et al. 2000).

export interface LinkGraph {
  readonly pages: number
  /** Links of page p are targets [starts[p], starts[p + 1]). */
  readonly starts: Uint32Array
  readonly targets: Uint32Array
}

export interface LinkGraphShape {
  /** Site number of each page. */
  readonly siteOf: Uint32Array
  /** Share of all links that lead to a page already found: the rest, one for each page, leads to a new one. */
  readonly repeats: number
  readonly random: () => number
}

/** Chances that a page is first linked from its own site, and that another link copies one that is there. */
const FOUND_ON_SITE = 0.85
const COPIED = 0.9

/** Links within a site go to its first pages most: the cube of an even number in [0, 1). */
function skewed(random: () => number): number {
  const share = random()
  return share * share * share
}

/** Page 0 is where a crawl starts; page p is first linked from a page before it. */
export function linkGraph({ siteOf, repeats, random }: LinkGraphShape): LinkGraph {
  const pages = siteOf.length
  const links = Math.max(pages - 1, Math.round((pages - 1) / (1 - repeats)))
  const sources = new Uint32Array(links)
  const targets = new Uint32Array(links)
  const bySite = new Map<number, number[]>()
  const below = (n: number) => Math.floor(random() * n)
  let made = 0
  const link = (from: number, to: number) => {
    sources[made] = from
    targets[made++] = to
  }
  for (let page = 0; page < pages; page++) {
    const site = bySite.get(siteOf[page]!)
    if (page > 0) {
      const isOnSite = site !== undefined && random() < FOUND_ON_SITE
      link(isOnSite ? site[below(site.length)]! : below(page), page)
    }
    if (site) site.push(page)
    else bySite.set(siteOf[page]!, [page])
    // Links are added while the graph grows, so that old pages become popular.
    const due = Math.round((links * page) / Math.max(1, pages - 1))
    while (made < due) {
      const from = below(page + 1)
      const own = bySite.get(siteOf[from]!)!
      const isCopied = random() < COPIED
      link(from, isCopied ? targets[below(made)]! : own[Math.floor(own.length * skewed(random))]!)
    }
  }
  return sorted(pages, sources, targets)
}

// Links in the order of their source pages.
function sorted(pages: number, sources: Uint32Array, targets: Uint32Array): LinkGraph {
  const starts = new Uint32Array(pages + 1)
  for (const source of sources) starts[source + 1]!++
  for (let page = 0; page < pages; page++) starts[page + 1]! += starts[page]!
  const next = starts.slice()
  const ordered = new Uint32Array(targets.length)
  for (let i = 0; i < targets.length; i++) ordered[next[sources[i]!]!++] = targets[i]!
  return { pages, starts, targets: ordered }
}

/** How many pages can be reached from the first one: a crawl without losses fetches them all. */
export function reachable({ pages, starts, targets }: LinkGraph): number {
  const known = new Uint8Array(pages)
  const queue = new Uint32Array(pages)
  known[0] = 1
  let found = pages > 0 ? 1 : 0
  for (let at = 0; at < found; at++) {
    const page = queue[at]!
    for (let i = starts[page]!; i < starts[page + 1]!; i++) {
      const target = targets[i]!
      if (known[target]) continue
      known[target] = 1
      queue[found++] = target
    }
  }
  return found
}

/** Links to each page. */
export function inLinks({ pages, targets }: LinkGraph): Uint32Array {
  const counts = new Uint32Array(pages)
  for (const target of targets) counts[target]!++
  return counts
}
