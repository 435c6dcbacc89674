// The raw hashes of a list's URLs, and how long they take: straight from the kernel, with no filter behind.
import { applyHash, chooseHash, type HashName } from '../hashes.ts'
import { compileKernel, Kernel } from '../kernel.ts'
import type { UrlList } from './experiment.ts'

export interface Hashed {
  /** The first 32 bits of each URL's hash: of the 64 of a wide function, the upper half. */
  readonly first: Uint32Array
  /** For 64 bits of each URL, which is two hashes of a narrow function. */
  readonly nsPerUrl: number
}

/** Hashes the first `count` URLs, each batch `repeats` times; the fastest of these counts. */
export async function hashed(
  list: UrlList,
  count: number,
  hash: HashName,
  key: Uint8Array,
  repeats: number,
): Promise<Hashed> {
  const kernel = Kernel.create(await compileKernel())
  applyHash(kernel, chooseHash(hash, key))
  const first = new Uint32Array(count)
  let ms = 0
  for (let from = 0; from < count; from += kernel.batchLines) {
    const n = Math.min(kernel.batchLines, count - from)
    const lines = list.lines(from, from + n)
    const input = kernel.call.reserveInput(lines.length) >>> 0
    kernel.refresh()
    kernel.bytes.set(lines, input)
    let at = input
    for (let i = 0; i < n; i++) {
      kernel.lineStarts[i] = at
      at += list.ends[from + i]! - list.starts[from + i]!
      kernel.lineEnds[i] = at++
    }
    kernel.call.takeLinesAsKeys(n)
    let fastest = Infinity
    for (let repeat = 0; repeat < repeats; repeat++) {
      const start = performance.now()
      kernel.call.hashKeys(n)
      fastest = Math.min(fastest, performance.now() - start)
    }
    ms += fastest
    // 64-bit hashes, little-endian: every second word is an upper half.
    const words = new Uint32Array(kernel.hashes.buffer, kernel.hashes.byteOffset, 2 * n)
    for (let i = 0; i < n; i++) first[from + i] = words[2 * i + 1]!
  }
  return { first, nsPerUrl: (ms * 1e6) / Math.max(1, count) }
}

/** χ² of the counts in 2^16 buckets chosen by `shift`: 0 the low bits, 16 the high ones; as standard deviations. */
export function chiSquareZ(first: Uint32Array, shift: 0 | 16): number {
  const buckets = new Float64Array(2 ** 16)
  for (const word of first) buckets[(word >>> shift) & 0xffff]!++
  const mean = first.length / buckets.length
  const chi = buckets.reduce((sum, held) => sum + (held - mean) ** 2, 0) / mean
  const freedom = buckets.length - 1
  return (chi - freedom) / Math.sqrt(2 * freedom)
}

/** How many hashes are equal to one that came before, and how many random ones would be. */
export function collisions(first: Uint32Array): { found: number; expected: number } {
  const sorted = first.slice().sort()
  let found = 0
  for (let i = 1; i < sorted.length; i++) if (sorted[i] === sorted[i - 1]) found++
  const n = first.length
  return { found, expected: n + 2 ** 32 * Math.expm1(n * Math.log1p(-(2 ** -32))) }
}
