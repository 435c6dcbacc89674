// URLs as the layered filters' papers take them: without their scheme, and distinct without it. Every filter
// of an experiment then gets the same bytes.
import { Sieve } from '../sieve.ts'
import type { Lab, UrlList } from './experiment.ts'

/** How many more to request than are wanted: some differ in their scheme only. */
const SPARE = 0.02
const CHUNK_URLS = 1 << 18
const SLASH = 0x2f
const COLON = 0x3a

const decoder = new TextDecoder()

/** URLs that lie anywhere in a buffer. */
export class BareUrls implements UrlList {
  readonly count: number
  readonly bytes: Uint8Array
  readonly starts: Uint32Array
  readonly ends: Uint32Array

  constructor(bytes: Uint8Array, starts: Uint32Array, ends: Uint32Array) {
    this.bytes = bytes
    this.starts = starts
    this.ends = ends
    this.count = starts.length
  }

  at(i: number): string {
    return decoder.decode(this.bytes.subarray(this.starts[i], this.ends[i]))
  }

  lines(from: number, to: number): Uint8Array {
    const { bytes, starts, ends } = this
    let length = to - from
    for (let i = from; i < to; i++) length += ends[i]! - starts[i]!
    const lines = new Uint8Array(length)
    let at = 0
    for (let i = from; i < to; i++) {
      for (let p = starts[i]!; p < ends[i]!; p++) lines[at++] = bytes[p]!
      lines[at++] = 0x0a
    }
    return lines
  }

  /** The URLs for which `keep` returns true, in order. */
  filter(keep: (i: number) => boolean): BareUrls {
    const kept: number[] = []
    for (let i = 0; i < this.count; i++) if (keep(i)) kept.push(i)
    return new BareUrls(
      this.bytes,
      Uint32Array.from(kept, (i) => this.starts[i]!),
      Uint32Array.from(kept, (i) => this.ends[i]!),
    )
  }

  /** Only the first `count`. */
  first(count: number): BareUrls {
    return new BareUrls(this.bytes, this.starts.subarray(0, count), this.ends.subarray(0, count))
  }
}

/** Up to `most` of the lab's URLs, without their scheme. */
export async function bareUrls(lab: Lab, most: number): Promise<BareUrls> {
  const { count, bytes, starts, ends } = await lab.urls(Math.ceil(most * (1 + SPARE)))
  const bare = new BareUrls(
    bytes,
    starts.slice(0, count).map((start, i) => afterScheme(bytes, start, ends[i]!)),
    ends.slice(0, count),
  )
  const known = await Sieve.create({ profile: 'raw', key: lab.key('bare-urls') })
  const fresh = new Uint8Array(count)
  for (let from = 0; from < count; from += CHUNK_URLS) {
    fresh.set(known.addLines(bare.lines(from, Math.min(count, from + CHUNK_URLS))), from)
  }
  return bare.filter((i) => fresh[i] === 1).first(most)
}

// Past every "scheme://" at the front: a link stream holds http://http://… too, and a layered filter skips one itself.
function afterScheme(bytes: Uint8Array, from: number, to: number): number {
  for (let p = from; p + 2 < Math.min(to, from + 32); p++) {
    if (bytes[p] === SLASH) break
    if (bytes[p] !== COLON) continue
    return bytes[p + 1] === SLASH && bytes[p + 2] === SLASH ? afterScheme(bytes, p + 3, to) : from
  }
  return from
}
