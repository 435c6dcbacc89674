// What the report of a crawl needs of its pages: counts by status, type and depth, their shapes, and the first pages that
// repeat another or failed. Memory is bounded whatever is crawled.

import type { ShapesReport } from '../shapes/shape-report.ts'
import { Shapes } from '../shapes/shapes.ts'
import type { CrawledPage } from './crawl-report.ts'

/** Pages that are listed one by one. */
const MOST_LISTED = 200
/** Types, statuses and depths that are counted one by one. */
const MOST_COUNTED = 200
const SHAPE_NODES = 2 ** 15

export interface Repeat {
  readonly url: string
  readonly of: string
  /** In how many bits the texts' SimHashes differ; 0: the same text. */
  readonly distance: number
}

export interface Failed {
  readonly url: string
  readonly status: number | null
  readonly error: string
}

/** Things with their number, the most frequent first. */
export type Counted = readonly (readonly [string, number])[]

export class PageTally {
  /** All of them; the lists have the first ones. */
  repeatCount = 0
  failedCount = 0
  canonicalCount = 0
  readonly repeats: Repeat[] = []
  readonly failed: Failed[] = []
  readonly #statuses = new Map<string, number>()
  readonly #types = new Map<string, number>()
  readonly #depths = new Map<string, number>()
  readonly #shapes = new Shapes({ maxNodes: SHAPE_NODES })

  add({ url, at, depth, status, type, same, near, distance, error, canonical }: CrawledPage): void {
    count(this.#statuses, status === null ? 'no answer' : String(status))
    if (type !== undefined) count(this.#types, type || 'without a type')
    count(this.#depths, String(depth))
    this.#shapes.add(at ?? url)
    if (canonical !== undefined) this.canonicalCount++
    const of = same ?? near
    if (of !== undefined && ++this.repeatCount <= MOST_LISTED)
      this.repeats.push({ url, of, distance: distance ?? 0 })
    const reason = error ?? (status !== null && status >= 400 ? `HTTP ${status}` : undefined)
    if (reason !== undefined && ++this.failedCount <= MOST_LISTED)
      this.failed.push({ url, status, error: reason })
  }

  get statuses(): Counted {
    return listed(this.#statuses)
  }

  get types(): Counted {
    return listed(this.#types)
  }

  /** By depth, not by number. */
  get depths(): Counted {
    return [...this.#depths].sort((a, b) => Number(a[0]) - Number(b[0]))
  }

  shapes(): ShapesReport {
    return this.#shapes.report()
  }
}

function count(counts: Map<string, number>, name: string): void {
  const key = counts.has(name) || counts.size < MOST_COUNTED ? name : 'others'
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

const listed = (counts: ReadonlyMap<string, number>): Counted => [...counts].sort((a, b) => b[1] - a[1])
