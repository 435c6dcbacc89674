// How much memory a sieve may take with the next URLs, asked before they are added: an upper estimate, by the rules
// its filter grows by. A filter of a fixed size takes none.
import { blocked } from '../filters/blocked.ts'
import { classic } from '../filters/classic.ts'
import type { Plan, Sieve, Stats } from '../index.ts'
import { scalableRate } from '../sizing.ts'

/** Measured: what a sieve takes in this process besides its filter, with the buffers of its batches. */
export const SIEVE_BYTES = 512 * 1024
/** And what each further generation takes, in a kernel instance of its own. */
export const GENERATION_BYTES = 256 * 1024
/** A table of hashes grows by segments of 256 KiB, which begin about half full; several may be due at once. */
const SEGMENTS_BYTES = 4 * 256 * 1024
const FINGERPRINT_BYTES = 24
/**
 * A table of hashes that has filled one instance moves half of it to another and keeps the memory for what comes: at most
 * half as much again as its hashes take.
 */
const DIVIDED_BYTES = 800 * 1024 ** 2
const DIVIDED_FACTOR = 1.5

/** All the memory of a sieve as it is now. */
export function bytesOf(stats: Stats): number {
  const generations =
    stats.filter === 'scalable' || stats.filter === 'window' ? (stats.layers?.length ?? 1) : 0
  const size = stats.filter === 'fingerprint' ? tableBytes(stats.sizeBytes) : stats.sizeBytes
  return size + SIEVE_BYTES + GENERATION_BYTES * generations
}

const tableBytes = (bytes: number) => (bytes < DIVIDED_BYTES ? bytes : DIVIDED_FACTOR * bytes)

const ofFingerprints = (urls: number) => urls * FINGERPRINT_BYTES + SEGMENTS_BYTES

/** What a sieve with this plan takes besides its filter when all its generations are there, and the next one. */
export function overheadOf({ filter, shape, sizeBytes }: Plan): number {
  if (filter !== 'window') return SIEVE_BYTES
  const { inner, generations } = shape as unknown as WindowShape
  const next = inner === 'fingerprint' ? 0 : sizeBytes / generations
  return SIEVE_BYTES + GENERATION_BYTES * (generations + 1) + next
}

/** The most by which `urls` more may make it grow. */
export function growthOf(sieve: Sieve, stats: Stats, urls: number): number {
  const { filter, shape, sizeBytes } = sieve.plan
  if (filter === 'fingerprint') {
    return tableBytes(stats.sizeBytes + ofFingerprints(urls)) - tableBytes(stats.sizeBytes)
  }
  if (filter === 'scalable') return ofScalable(shape as unknown as ScalableShape, stats, urls)
  if (filter === 'window') return ofWindow(shape as unknown as WindowShape, sizeBytes, stats, urls)
  return 0
}

interface WindowShape {
  readonly inner: string
  readonly generations: number
  readonly windowUrls: number | null
}

// The generations that may begin before so many more are in: by age one, by count one for each that is filled. One is made
// before the oldest goes.
function ofWindow(shape: WindowShape, sizeBytes: number, stats: Stats, urls: number): number {
  const { inner, generations, windowUrls } = shape
  const filled = windowUrls === null ? 0 : Math.ceil(urls / Math.ceil(windowUrls / generations))
  const most = generations + 1 - Math.min(generations, stats.layers?.length ?? 0)
  const begun = Math.min(1 + filled, most)
  if (inner === 'fingerprint') return ofFingerprints(urls) + GENERATION_BYTES * begun
  return (sizeBytes / generations + GENERATION_BYTES) * begun
}

interface ScalableShape {
  readonly inner: 'blocked' | 'classic'
  readonly firstUrls: number
  readonly rate: number
}

// The generations that begin before so many more are in.
function ofScalable({ inner, firstUrls, rate }: ScalableShape, stats: Stats, urls: number): number {
  const layers = stats.layers ?? []
  let index = Math.max(0, layers.length - 1)
  let left = urls - (firstUrls * 2 ** index - (layers.at(-1)?.distinct ?? 0))
  let bytes = 0
  while (left > 0) {
    index++
    const expectedUrls = firstUrls * 2 ** index
    const falsePositiveRate = scalableRate({ rate, index })
    const kind = inner === 'classic' ? classic : blocked
    bytes += kind.plan({ expectedUrls, falsePositiveRate }).sizeBytes + GENERATION_BYTES
    left -= expectedUrls
  }
  return bytes
}
