// The eigenvalue extension filter (jiang-eigenvalue): how the paper divides bits and hashes between its two regions.

/** Section 2.3: the array grows by a third, so of the whole three quarters are for URLs, one for features. */
export function eigenvalueSplit({ bits }: { bits: number }): { urlBits: number; featureBits: number } {
  const featureBits = Math.floor(bits / 4)
  return { urlBits: bits - featureBits, featureBits }
}

/** Section 2.3: d/k = 1/3, rounded up so that there is at least one. */
export function eigenvalueHashes({ hashes }: { hashes: number }): number {
  return Math.ceil(hashes / 3)
}
