// The fingerprint filter is a set of 64-bit hashes, and this is that set; and the bytes of its first segment, written
// plainly. Hash 0 is kept as 1.

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

const BUCKETS = 256
const SLOTS = 8
const HOME_BITS = 8n

/** The first segment, into which hashes came one after the other, and in which no hash had to move for another. */
export class FirstSegmentOracle {
  readonly #buckets = Array.from({ length: BUCKETS }, () => ({
    slots: [] as { hash: bigint; isGuest: boolean }[],
    marks: 0,
  }))
  #count = 0

  add(hash: bigint): void {
    const known = hash || 1n
    const rest = Number((known >> HOME_BITS) & 0xffffn)
    const home = Number(known % BigInt(BUCKETS))
    const own = this.#buckets[home]!
    const isGuest = own.slots.length === SLOTS
    const other = this.#buckets[(home + (rest & 127) + 1) % BUCKETS]!
    if (isGuest) own.marks |= 1 << ((rest >> 7) & 7)
    const target = isGuest ? other : own
    target.slots.push({ hash: known, isGuest })
    this.#count++
  }

  /** With its header, of a table whose directory has 16 entries. */
  bytes(): Uint8Array {
    const view = new DataView(new ArrayBuffer(64 * (BUCKETS + 1)))
    for (const [i, word] of [this.#count, 0, 16].entries()) view.setUint32(4 * i, word, true)
    for (const [i, { slots, marks }] of this.#buckets.entries()) {
      const at = 64 * (i + 1)
      let state = marks << 20
      for (const [slot, { hash, isGuest }] of slots.entries()) {
        view.setUint32(at + 4 * slot, Number(hash >> 32n), true)
        view.setUint8(at + 32 + slot, Number((hash >> 24n) & 255n))
        view.setUint16(at + 40 + 2 * slot, Number((hash >> HOME_BITS) & 0xffffn), true)
        state |= 1 << (isGuest ? 10 + slot : slot)
      }
      view.setUint32(at + 60, state, true)
    }
    return new Uint8Array(view.buffer)
  }
}
