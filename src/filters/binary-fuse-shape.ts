// Binary fuse filters with three cells a key (Graf, Lemire 2022): the paper's formulas, found by experiment, for the
// length of a segment and for how many cells there are to a key. Nearer to one key a cell, making it fails too often.

export interface BinaryFuseShape {
  /** Cells of a segment: a power of two. */
  readonly segmentLength: number
  /** Segments in which a key's first cell may be; its other cells may be in the two segments behind them as well. */
  readonly segments: number
  /** Cells in all. */
  readonly cells: number
}

/** Longer segments do not help any more, and no longer fit into a processor's cache. */
const LONGEST_SEGMENT = 2 ** 18

/** The shape of a set of `urls`: 1.125 cells a key when there are many, more when there are few, none for none. */
export function binaryFuseShape({ urls }: { urls: number }): BinaryFuseShape {
  if (urls === 0) return { segmentLength: 4, segments: 0, cells: 0 }
  const segmentLength = Math.min(2 ** Math.floor(Math.log(urls) / Math.log(3.33) + 2.25), LONGEST_SEGMENT)
  const cellsPerUrl = urls === 1 ? 1 : Math.max(1.125, 0.875 + (0.25 * Math.log(1e6)) / Math.log(urls))
  const segments = Math.max(1, Math.ceil(Math.round(urls * cellsPerUrl) / segmentLength) - 2)
  return { segmentLength, segments, cells: (segments + 2) * segmentLength }
}

/** Rate: a key that is not there has the right fingerprint by chance. Does not depend on how many are. */
export function binaryFuseRate({ bits }: { bits: number }): number {
  return 2 ** -bits
}
