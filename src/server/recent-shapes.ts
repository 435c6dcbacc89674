// The shapes of the URLs added to a sieve recently, for the page: a sample of them, in small trees that are replaced every
// five minutes. At most 32 sieves have one, those with the latest adds; a sieve takes at most 2.3 MB, a second at most 1,000
// URLs of all sieves together.
import type { Items } from '../index.ts'
import { reportShapes, type ShapesReport } from '../shapes/shape-report.ts'
import { ShapeTree } from '../shapes/shape-tree.ts'
import { MOST_URL, UrlTokens } from '../shapes/url-tokens.ts'

const MOST_SIEVES = 32
/** 1.1 KB each at most. */
const NODES = 1024
const TURN_MS = 5 * 60_000
/** A sieve without adds for this long gives its place to another one. */
const IDLE_MS = 60_000
const URLS_PER_SECOND = 1000
/** URLs of one call: taken at equal distances, so that a long list is seen as a whole. */
const URLS_PER_CALL = 20
const HOSTS = 10
const SHAPES = 10

export interface SieveShapes extends ShapesReport {
  /** The URLs were added after this time. */
  readonly since: Date
}

/** Two trees that both take in every URL of the sample, the younger begun a turn after the other. */
class Trees {
  #older: { readonly tree: ShapeTree; readonly begunAt: number }
  #newer: { readonly tree: ShapeTree; readonly begunAt: number }
  usedAt: number

  constructor(at: number) {
    this.#newer = { tree: new ShapeTree({ maxNodes: NODES }), begunAt: at }
    this.#older = this.#newer
    this.usedAt = at
  }

  take({ bytes, starts, ends }: Items, step: number, at: number): void {
    this.usedAt = at
    if (at - this.#newer.begunAt >= TURN_MS) {
      this.#older = this.#newer
      this.#newer = { tree: new ShapeTree({ maxNodes: NODES }), begunAt: at }
    }
    const trees = new Set([this.#older.tree, this.#newer.tree])
    for (let i = 0; i < starts.length; i += step) {
      if (ends[i]! - starts[i]! > MOST_URL) continue
      const url = bytes.subarray(starts[i], ends[i])
      for (const tree of trees) {
        const start = tree.tokens.put(url)
        tree.add(start, start + url.length)
      }
    }
  }

  report(): SieveShapes {
    const { tree, begunAt } = this.#older
    return { since: new Date(begunAt), ...reportShapes(tree, { hosts: HOSTS, shapes: SHAPES }) }
  }
}

export class RecentShapes {
  readonly #sieves = new Map<object, Trees>()
  #second = 0
  /** URLs that may still be taken in during this second. */
  #left = 0

  /** Takes the memory for a URL, so that no add can fail for the lack of it later. */
  constructor() {
    UrlTokens.shared().reserveUrl()
  }

  /** Takes in some of the URLs that are added to a sieve. `at`: the current time in milliseconds. */
  take(sieve: object, items: Items, at: number): void {
    const second = Math.floor(at / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#left = URLS_PER_SECOND
    }
    const count = items.starts.length
    if (this.#left <= 0 || count === 0) return
    const trees = this.#sieves.get(sieve) ?? this.#begin(sieve, at)
    if (!trees) return
    const step = Math.ceil(count / URLS_PER_CALL)
    trees.take(items, step, at)
    this.#left -= Math.ceil(count / step)
  }

  /** The shapes of a sieve; null when none of its URLs was taken in. */
  report(sieve: object): SieveShapes | null {
    return this.#sieves.get(sieve)?.report() ?? null
  }

  #begin(sieve: object, at: number): Trees | null {
    if (this.#sieves.size >= MOST_SIEVES) {
      const [idlest, { usedAt }] = [...this.#sieves].reduce((a, b) => (b[1].usedAt < a[1].usedAt ? b : a))
      if (at - usedAt < IDLE_MS) return null
      this.#sieves.delete(idlest)
    }
    const trees = new Trees(at)
    this.#sieves.set(sieve, trees)
    return trees
  }
}
