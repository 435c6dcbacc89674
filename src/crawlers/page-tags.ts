// What the tags of a page mean to a crawler: its links, <base>, canonical link, meta refresh and meta robots.
import { type Directives, directivesOf, type PageSignal, refreshTarget } from './page-signals.ts'

/** Attributes that are read, by tag; the first one is the link, or the content of <meta>. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  ...{ a: ['href', 'rel'], area: ['href', 'rel'], frame: ['src'], iframe: ['src'] },
  ...{ base: ['href'], link: ['href', 'rel', 'hreflang'], meta: ['content', 'name', 'http-equiv'] },
}
/** The same when links to anything are wanted. */
const ALL: Readonly<Record<string, readonly string[]>> = {
  ...PAGES,
  ...{ img: ['src'], script: ['src'], source: ['src'], audio: ['src'], video: ['src'], embed: ['src'] },
}

export interface TagOptions {
  /** Links to anything, not only to pages. */
  readonly allTypes: boolean
  /** Links of one page. */
  readonly links: number
  readonly ignored?: ReadonlySet<PageSignal>
  /** The name that meta robots may address this crawler by. */
  readonly product?: string
}

/** Values by attribute; undefined: longer than the limit. */
export type Attributes = ReadonlyMap<string, string | undefined>

export class PageTags {
  readonly links: string[] = []
  /** Links beyond the limit. */
  linksOver = 0
  /** Links with rel=nofollow, which are left out. */
  nofollowLinks = 0
  base: string | undefined
  canonical: string | undefined
  readonly #options: TagOptions
  readonly #robots: string[] = []

  constructor(options: TagOptions) {
    this.#options = options
  }

  /** Attributes to read of a tag, the link first. */
  wanted(tag: string): readonly string[] | undefined {
    const attributes = this.#options.allTypes ? ALL : PAGES
    return Object.hasOwn(attributes, tag) ? attributes[tag] : undefined
  }

  /** Directives of meta robots. */
  get directives(): Directives {
    return directivesOf(this.#robots, '')
  }

  /** A start tag with the attributes that were wanted. */
  add(tag: string, attributes: Attributes): void {
    const link = attributes.get(this.wanted(tag)![0]!)
    if (link === undefined) return
    if (tag === 'meta') this.#meta(link, attributes)
    else if (tag !== 'base') this.#link(tag, link, wordsOf(attributes.get('rel')), attributes)
    else if (this.#isUsed('base')) this.base ??= link
  }

  #link(tag: string, link: string, rel: readonly string[], attributes: Attributes): void {
    if (tag === 'link') {
      const isCanonical = rel.includes('canonical') && this.#isUsed('canonical')
      const isAlternate = rel.includes('alternate') && attributes.has('hreflang') && this.#isUsed('hreflang')
      if (isCanonical) this.canonical ??= link
      if (!(isCanonical || isAlternate || this.#options.allTypes)) return
    }
    if (rel.includes('nofollow') && this.#isUsed('nofollow')) this.nofollowLinks++
    else this.#push(link)
  }

  #meta(content: string, attributes: Attributes): void {
    const name = attributes.get('name')?.trim().toLowerCase()
    const isRobots = name === 'robots' || (name !== undefined && name === this.#options.product)
    if (isRobots && this.#isUsed('metaRobots')) this.#robots.push(content)
    const isRefresh = attributes.get('http-equiv')?.trim().toLowerCase() === 'refresh'
    const target = isRefresh && this.#isUsed('refresh') ? refreshTarget(content) : null
    if (target) this.#push(target)
  }

  #push(link: string): void {
    if (this.links.length < this.#options.links) this.links.push(link)
    else this.linksOver++
  }

  #isUsed(signal: PageSignal): boolean {
    return !this.#options.ignored?.has(signal)
  }
}

const wordsOf = (text: string | undefined) => text?.toLowerCase().split(/\s+/) ?? []
