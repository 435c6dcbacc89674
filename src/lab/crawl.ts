// A breadth-first crawl of a link graph with a sieve in place of a memory of its own: what it answers "seen" at first
// sight is never fetched, and what is linked only from there is never found.
import type { Sieve } from '../sieve.ts'
import type { UrlList } from './experiment.ts'
import type { LinkGraph } from './link-graph.ts'
import { ownRate } from './own-rate.ts'

export interface Crawl {
  /** Pages fetched. */
  readonly fetched: number
  /** Pages that a link led to; those not fetched are lost directly. */
  readonly queried: number
  /** Links followed. */
  readonly links: number
  /** How many pages the sieve's own rate predicts to be lost directly, summed as the rate grew. */
  readonly expectedLosses: number
}

/** Links given to the sieve at a time. */
const BATCH = 4096

const ASKED = 1
const FETCHED = 2

/** Crawls from page 0. Page p has URL p of the list. */
export function crawl({ pages, starts, targets }: LinkGraph, list: UrlList, sieve: Sieve): Crawl {
  const state = new Uint8Array(pages)
  const queue = new Uint32Array(pages)
  let fetched = 0
  let queried = 0
  let links = 0
  let expectedLosses = 0
  let rate = 0
  let bytes = new Uint8Array(256 * 1024)
  const batch = new Uint32Array(BATCH)

  const query = (n: number, used: number) => {
    const verdicts = sieve.addLines(bytes.subarray(0, used))
    const before = queried
    for (let i = 0; i < n; i++) {
      const page = batch[i]!
      if (state[page] === 0) {
        state[page] = ASKED
        queried++
      }
      // A filter that forgets may report a page as new again: it is still fetched once here.
      if (verdicts[i] === 0 || state[page] === FETCHED) continue
      state[page] = FETCHED
      queue[fetched++] = page
    }
    const now = ownRate(sieve.stats())
    expectedLosses += ((queried - before) * (rate + now)) / 2
    rate = now
    links += n
  }

  let n = 0
  let used = 0
  const put = (page: number) => {
    const [from, to] = [list.starts[page]!, list.ends[page]!]
    if (used + to - from + 1 > bytes.length) {
      const wider = new Uint8Array(2 * (used + to - from + 1))
      wider.set(bytes.subarray(0, used))
      bytes = wider
    }
    bytes.set(list.bytes.subarray(from, to), used)
    used += to - from
    bytes[used++] = 10
    batch[n++] = page
  }
  const flush = () => {
    if (n > 0) query(n, used)
    n = 0
    used = 0
  }
  put(0)
  flush()
  links = 0
  for (let at = 0; at < fetched; at++) {
    const page = queue[at]!
    for (let i = starts[page]!; i < starts[page + 1]!; i++) {
      put(targets[i]!)
      if (n === BATCH) flush()
    }
    // The queue has run out: what the last links found comes next.
    if (at + 1 === fetched) flush()
  }
  return { fetched, queried, links, expectedLosses }
}
