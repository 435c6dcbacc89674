// The three hash functions of url-caching with integers as wide as they become, as in the document's language: poly31 and
// djb2 modulo m are the same as their exact values modulo m; xor17 shifts right, and needs them.
import type { UrlList } from './experiment.ts'

/** The exact value of the third function; five bits wider with every byte. */
function xor17(bytes: Uint8Array, from: number, to: number): bigint {
  let hash = 17n
  for (let p = from; p < to; p++) hash ^= (hash << 5n) + (hash >> 2n) + BigInt(bytes[p]!)
  return hash
}

function polynomial(
  bytes: Uint8Array,
  from: number,
  to: number,
  start: number,
  by: number,
  m: number,
): number {
  let hash = start % m
  for (let p = from; p < to; p++) hash = (hash * by + bytes[p]!) % m
  return hash
}

/** A Bloom filter of the first `urls` of a list, queried for the others: how many are found. */
export function unboundedHits(list: UrlList, urls: number, ratios: readonly number[]): number[] {
  const filters = ratios.map((ratio) => {
    const bits = Math.ceil(ratio * urls)
    return { bits, big: BigInt(bits), set: new Uint8Array(bits), hits: 0 }
  })
  for (let i = 0; i < list.count; i++) {
    const [from, to] = [list.starts[i]!, list.ends[i]!]
    const third = xor17(list.bytes, from, to)
    for (const filter of filters) {
      const { bits, big, set } = filter
      const at = [
        polynomial(list.bytes, from, to, 0, 31, bits),
        polynomial(list.bytes, from, to, 5381, 33, bits),
        Number(third % big),
      ]
      if (i < urls) for (const place of at) set[place] = 1
      else if (at.every((place) => set[place])) filter.hits++
    }
  }
  return filters.map(({ hits }) => hits)
}
