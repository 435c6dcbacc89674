// Limits by shape for URLs that are new: a sample of each shape instead of all, a largest share, and what is never wanted.
// Every drop has its reason. Only URLs that are kept change the state, so that limits applied to their own output drop
// nothing. Where memory for the state ends, a limit errs towards "new".
import { keyOf, type Profile } from '../canonical/profiles.ts'
import { SieveError } from '../errors.ts'
import { formatCount, formatCounted } from '../quantities.ts'
import { pathOf, segmentRepeats } from './path-text.ts'
import { ShapeTree } from './shape-tree.ts'
import { ShapeWatch } from './shape-watch.ts'
import { MOST_URL } from './url-tokens.ts'

export interface ShapeLimitOptions {
  /** URLs to keep of each shape: a sample instead of all. */
  readonly keepPerShape?: number
  /** URLs to keep of each suspicious shape: calendars, sessions, sort orders, …; not of counters. At least 50. */
  readonly keepPerTrap?: number
  /** The largest share of a host's kept URLs that one shape may have, between 0 and 1; from 100 URLs of a shape on. */
  readonly maxShare?: number
  /** The same of all kept URLs. */
  readonly maxCrawlShare?: number
  /** How often one segment may come up in a path. */
  readonly maxRepeats?: number
  /** Of URLs with the same path, keep only those with a new set of parameter names. */
  readonly queryNames?: boolean
  /** Skip files that hold no links, by extension: those of `ASSETS` and `deny`, without `allow`. */
  readonly assets?: 'skip' | { readonly deny?: readonly string[]; readonly allow?: readonly string[] }
  /** Whose keys are judged, instead of the URLs as they are: what a lossy profile joins has one shape. */
  readonly profile?: Profile
  /** Nodes to tell shapes apart. Default 2^17. */
  readonly maxNodes?: number
  /** Sets of parameter names that are remembered; URLs with others are kept. Default 4 million. */
  readonly maxNameSets?: number
}

/** The limits in the order in which they are applied; the first that applies is the reason. */
export const LIMITS = [
  'assets',
  'maxRepeats',
  'queryNames',
  'keepPerTrap',
  'keepPerShape',
  'maxShare',
  'maxCrawlShare',
] as const
export type LimitName = (typeof LIMITS)[number]

export interface Drop {
  readonly limit: LimitName
  readonly reason: string
  /** The shape that is full: host, path and query. */
  readonly shape?: string
}

/** Extensions of files that hold no links. */
export const ASSETS: readonly string[] =
  `css js mjs map png jpg jpeg gif svg webp avif ico bmp tif tiff woff woff2 ttf otf eot mp3 mp4 m4a m4v avi mov mkv webm ogg
   oga ogv wav flac zip gz tgz tar rar 7z bz2 xz exe dmg iso apk deb rpm msi jar bin swf`.split(/\s+/)

/** A shape with fewer kept URLs is not limited by its share. */
export const SHARE_AFTER = 100
/** Nodes where shapes are not told apart. */
const LEAST_NODES = 1024
/** Sets of names unless `maxNameSets` is given. */
const MOST_NAME_SETS = 4_000_000

const encoder = new TextEncoder()

export class ShapeLimits {
  readonly options: ShapeLimitOptions
  readonly #tree: ShapeTree
  /** A limit needs to tell shapes apart. */
  readonly #hasShapes: boolean
  readonly #skipped: ReadonlySet<string>
  readonly #nameSets = new Set<number>()
  readonly #dropped: Record<LimitName, number> = {
    assets: 0,
    maxRepeats: 0,
    queryNames: 0,
    keepPerTrap: 0,
    keepPerShape: 0,
    maxShare: 0,
    maxCrawlShare: 0,
  }
  readonly #watch = new ShapeWatch()
  #kept = 0

  constructor(options: ShapeLimitOptions) {
    checkOptions(options)
    this.options = options
    const { keepPerShape, keepPerTrap, maxShare, maxCrawlShare } = options
    const byShape = [keepPerShape, keepPerTrap, maxShare, maxCrawlShare]
    this.#hasShapes = byShape.some((limit) => limit !== undefined)
    const { maxNodes = this.#hasShapes ? 2 ** 17 : LEAST_NODES } = options
    this.#tree = new ShapeTree({ maxNodes })
    const { assets } = options
    const { deny = [], allow = [] } = typeof assets === 'object' ? assets : {}
    const allowed = new Set(allow.map(plainExtension))
    const names = assets === undefined ? [] : [...ASSETS, ...deny.map(plainExtension)]
    this.#skipped = new Set(names.filter((name) => !allowed.has(name)))
  }

  /** Takes a new URL: null keeps and counts it, else why it is dropped. What is not a URL is kept. */
  admit(url: string | Uint8Array): Drop | null {
    const key = this.#keyOf(url)
    const bytes = typeof key === 'string' ? encoder.encode(key) : key
    const drop = this.#judge(key, bytes)
    if (drop !== null) this.#dropped[drop.limit]++
    else this.#keep(bytes)
    return drop
  }

  /** Takes a URL that was kept in an earlier run, without judging it. */
  restore(url: string): void {
    const key = this.#keyOf(url)
    this.#keep(typeof key === 'string' ? encoder.encode(key) : key)
  }

  /** What `admit` would answer. Counts nothing. */
  judge(url: string): Drop | null {
    const key = this.#keyOf(url)
    return this.#judge(key, typeof key === 'string' ? encoder.encode(key) : key)
  }

  /** URLs kept, and those dropped by each limit. */
  stats(): { readonly kept: number; readonly dropped: Readonly<Record<LimitName, number>> } {
    return { kept: this.#kept, dropped: { ...this.#dropped } }
  }

  #keyOf(url: string | Uint8Array): string | Uint8Array {
    const { profile } = this.options
    if (profile === undefined) return url
    return keyOf(profile, typeof url === 'string' ? url : decoder.decode(url)) ?? url
  }

  #judge(url: string | Uint8Array, bytes: Uint8Array): Drop | null {
    const { maxRepeats, queryNames, keepPerTrap, keepPerShape } = this.options
    if (this.#skipped.size > 0 || maxRepeats !== undefined) {
      const path = pathOf(typeof url === 'string' ? url : decoder.decode(url))
      const extension = /\.([A-Za-z0-9]{1,8})$/.exec(path)?.[1]?.toLowerCase()
      if (extension !== undefined && this.#skipped.has(extension))
        return { limit: 'assets', reason: `a file of type .${extension}` }
      if (maxRepeats !== undefined) {
        const { segment, times } = segmentRepeats(path)
        if (times > maxRepeats)
          return {
            limit: 'maxRepeats',
            reason: `the segment ${segment} comes up ${times} times, over ${maxRepeats}`,
          }
      }
    }
    if (bytes.length > MOST_URL) return null
    const tree = this.#tree
    const start = tree.tokens.put(bytes)
    if (!tree.tokens.read(start, start + bytes.length)) return null
    if (queryNames && tree.tokens.parameters > 0 && this.#nameSets.has(this.#nameSet()))
      return { limit: 'queryNames', reason: 'the path came with the same set of parameter names before' }
    if (!this.#hasShapes) return null
    const { node, own, host } = tree.find()
    if (keepPerTrap !== undefined && own >= keepPerTrap) {
      const { trap, shape } = this.#watch.at(tree.nodes, node, own)
      if (trap !== null) return { limit: 'keepPerTrap', reason: `${trap.kind}: ${trap.reason}`, shape }
    }
    if (keepPerShape !== undefined && own >= keepPerShape) {
      const { shape } = this.#watch.at(tree.nodes, node, own)
      return {
        limit: 'keepPerShape',
        reason: `its shape has ${formatCounted(own, 'URL')}, of ${formatCount(keepPerShape)} to keep`,
        shape,
      }
    }
    return own < SHARE_AFTER ? null : this.#judgeShares(node, own, host)
  }

  // The shape has `own` of the host's kept URLs.
  #judgeShares(node: number, own: number, host: number): Drop | null {
    const shares = [
      { limit: 'maxShare', of: host, whose: `the host's ${host}` },
      { limit: 'maxCrawlShare', of: this.#tree.urls, whose: `all ${this.#tree.urls}` },
    ] as const
    for (const { limit, of, whose } of shares) {
      const most = this.options[limit]
      if (most === undefined || own + 1 <= most * (of + 1)) continue
      const { shape } = this.#watch.at(this.#tree.nodes, node, own)
      return { limit, reason: `its shape has ${((own / of) * 100).toFixed(1)} % of ${whose} URLs`, shape }
    }
    return null
  }

  #keep(bytes: Uint8Array): void {
    this.#kept++
    const { queryNames } = this.options
    if (bytes.length > MOST_URL || !(queryNames || this.#hasShapes)) return
    const tree = this.#tree
    const start = tree.tokens.put(bytes)
    const end = start + bytes.length
    if (queryNames && tree.tokens.read(start, end) && tree.tokens.parameters > 0) {
      const { maxNameSets = MOST_NAME_SETS } = this.options
      if (this.#nameSets.size < maxNameSets) this.#nameSets.add(this.#nameSet())
    }
    if (this.#hasShapes) tree.add(start, end)
  }

  // Host, path and set of names as 53 bits of keyed hashes.
  #nameSet(): number {
    const { tokens } = this.#tree
    let lo = Math.imul(tokens.hostLo ^ tokens.namesLo, 0x9e3779b1)
    let hi = tokens.hostHi ^ tokens.namesHi
    for (let token = 0; token < tokens.segments; token++) {
      lo = Math.imul(lo ^ tokens.los[token]!, 0x85ebca6b) ^ (lo >>> 13)
      hi = Math.imul(hi ^ tokens.his[token]!, 0xc2b2ae35) ^ (hi >>> 16)
    }
    return (lo >>> 0) * 2 ** 21 + (hi >>> 11)
  }
}

const decoder = new TextDecoder()

const plainExtension = (text: string) => text.replace(/^\./, '').toLowerCase()

function checkOptions(options: ShapeLimitOptions): void {
  const refuse = (name: string, value: unknown, expected: string): never => {
    throw new SieveError('option', `${name} ${String(value)}: expected ${expected}`)
  }
  for (const name of ['keepPerShape', 'maxRepeats'] as const) {
    const value = options[name]
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1))
      refuse(name, value, 'a whole number of at least 1')
  }
  const { keepPerTrap, assets, queryNames } = options
  if (keepPerTrap !== undefined && !(Number.isSafeInteger(keepPerTrap) && keepPerTrap >= 50))
    refuse('keepPerTrap', keepPerTrap, 'a whole number of at least 50')
  for (const name of ['maxShare', 'maxCrawlShare'] as const) {
    const value = options[name]
    if (value !== undefined && !(value > 0 && value < 1)) refuse(name, value, 'a number between 0 and 1')
  }
  if (queryNames !== undefined && typeof queryNames !== 'boolean')
    refuse('queryNames', queryNames, 'true or false')
  if (assets !== undefined && assets !== 'skip' && typeof assets !== 'object')
    refuse('assets', assets, "'skip' or lists")
  if (LIMITS.every((limit) => options[limit] === undefined || options[limit] === false))
    throw new SieveError('option', `no limit is given: expected one of ${LIMITS.join(', ')}`)
}
