// A lab over a list of URLs, with seeded draws, for experiments at small sizes.
import type { Lab, UrlList } from '../../src/lab/experiment.ts'
import { randomFrom } from '../support/random.mjs'

const encoder = new TextEncoder()

export interface SmallLab extends Lab {
  /** The shares of the work reported by `progress`. */
  readonly shares: number[]
}

const lists = new WeakMap<readonly string[], UrlList>()

/** The same list for the same array of URLs. */
export function listOf(urls: readonly string[]): UrlList {
  const list = lists.get(urls) ?? newList(urls)
  lists.set(urls, list)
  return list
}

function newList(urls: readonly string[]): UrlList {
  const bytes = encoder.encode(`${urls.join('\n')}\n`)
  const starts = new Uint32Array(urls.length)
  const ends = new Uint32Array(urls.length)
  let at = 0
  for (const [i, url] of urls.entries()) {
    starts[i] = at
    at += Buffer.byteLength(url)
    ends[i] = at++
  }
  return {
    count: urls.length,
    bytes,
    starts,
    ends,
    at: (i) => urls[i]!,
    lines: (from, to) =>
      bytes.subarray(starts[from] ?? bytes.length, to > from ? ends[to - 1]! + 1 : starts[from]),
  }
}

export function smallLab(urls: readonly string[], tables: readonly string[] = []): SmallLab {
  const shares: number[] = []
  const all = listOf(urls)
  return {
    quick: true,
    seed: 1,
    tables,
    shares,
    urls: async (most) => (most >= all.count ? all : listOf(urls.slice(0, most))),
    random: (name) => randomFrom(seedOf(name)),
    key: (name) => {
      const random = randomFrom(seedOf(`key ${name}`))
      return Uint8Array.from({ length: 16 }, () => Math.floor(random() * 256))
    },
    progress: (share) => void shares.push(share),
  }
}

function seedOf(name: string): number {
  let h = 17
  for (let i = 0; i < name.length; i++) h = (Math.imul(h, 31) + name.charCodeAt(i)) >>> 0
  return h
}
