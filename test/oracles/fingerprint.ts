// The fingerprint filter is a set of 64-bit hashes, and this is that set. Hash 0 is kept as 1: the kernel marks an
// empty slot with 0.

export class FingerprintOracle {
  readonly hashes = new Set<bigint>()

  has(hash: bigint): boolean {
    return this.hashes.has(hash || 1n)
  }

  /** True: it is new. */
  add(hash: bigint): boolean {
    const isNew = !this.has(hash)
    this.hashes.add(hash || 1n)
    return isNew
  }

  /** True: it was there. */
  delete(hash: bigint): boolean {
    return this.hashes.delete(hash || 1n)
  }
}
