// The keys met last, in a fixed piece of memory: a ring of key bytes with a hash table over it. A hash only finds the
// entry; the key's own bytes are compared, so it never errs. The oldest entries are dropped first; one that is met again in
// the older half of the ring moves to its newest end.

const NONE = -1
/** Room for a key of usual length, on average. */
const BYTES_PER_ENTRY = 128
const LEAST_BYTES = 16 * 1024

export class KeyCache {
  readonly capacity: number
  /** All its memory, from the beginning. */
  readonly sizeBytes: number
  readonly #text: Uint8Array
  /** The first entry of each chain. */
  readonly #chains: Int32Array
  /** Of each entry: the next in its chain, its hash, where its key lies. */
  readonly #next: Int32Array
  readonly #low: Uint32Array
  readonly #high: Uint32Array
  readonly #at: Uint32Array
  readonly #size: Uint32Array
  /** The entry was taken out of its chain and only waits for its turn to leave the ring. */
  readonly #gone: Uint8Array
  #oldest = 0
  #count = 0
  /** Where the next key's bytes go. */
  #end = 0

  constructor(entries: number) {
    this.capacity = entries
    this.#text = new Uint8Array(Math.max(LEAST_BYTES, entries * BYTES_PER_ENTRY))
    this.#chains = new Int32Array(2 ** Math.ceil(Math.log2(entries + 1))).fill(NONE)
    this.#next = new Int32Array(entries)
    this.#low = new Uint32Array(entries)
    this.#high = new Uint32Array(entries)
    this.#at = new Uint32Array(entries)
    this.#size = new Uint32Array(entries)
    this.#gone = new Uint8Array(entries)
    this.sizeBytes = this.#text.length + this.#chains.byteLength + entries * 21
  }

  /** Whether the key at [start, end) of `bytes` is here, by its hash and then by its bytes. */
  has(low: number, high: number, bytes: Uint8Array, start: number, end: number): boolean {
    const entry = this.#find(low, high, bytes, start, end)
    if (entry === NONE) return false
    const age = (this.#oldest + this.#count - 1 - entry + this.capacity) % this.capacity
    if (age * 2 > this.capacity) {
      this.#unchain(entry)
      this.#append(low, high, bytes, start, end)
    }
    return true
  }

  /** Remembers a key; one that is here already, or too long, is let pass. */
  put(low: number, high: number, bytes: Uint8Array, start: number, end: number): void {
    if (this.#find(low, high, bytes, start, end) === NONE) this.#append(low, high, bytes, start, end)
  }

  delete(low: number, high: number, bytes: Uint8Array, start: number, end: number): void {
    const entry = this.#find(low, high, bytes, start, end)
    if (entry !== NONE) this.#unchain(entry)
  }

  clear(): void {
    this.#chains.fill(NONE)
    this.#oldest = 0
    this.#count = 0
    this.#end = 0
  }

  #find(low: number, high: number, bytes: Uint8Array, start: number, end: number): number {
    let entry = this.#chains[low & (this.#chains.length - 1)]!
    while (entry !== NONE) {
      if (this.#low[entry] === low && this.#high[entry] === high && this.#is(entry, bytes, start, end)) break
      entry = this.#next[entry]!
    }
    return entry
  }

  #is(entry: number, bytes: Uint8Array, start: number, end: number): boolean {
    const size = end - start
    if (this.#size[entry] !== size) return false
    const text = this.#text
    const at = this.#at[entry]!
    for (let i = 0; i < size; i++) if (text[at + i] !== bytes[start + i]) return false
    return true
  }

  #append(low: number, high: number, bytes: Uint8Array, start: number, end: number): void {
    const size = end - start
    if (!this.#makeRoom(Math.max(1, size))) return
    const entry = (this.#oldest + this.#count) % this.capacity
    this.#count++
    const at = this.#end
    if (size > 0) this.#text.set(bytes.subarray(start, end), at)
    this.#end = at + Math.max(1, size)
    const chain = low & (this.#chains.length - 1)
    this.#next[entry] = this.#chains[chain]!
    this.#chains[chain] = entry
    this.#low[entry] = low
    this.#high[entry] = high
    this.#at[entry] = at
    this.#size[entry] = size
    this.#gone[entry] = 0
  }

  // Drops the oldest until one more entry of `size` bytes fits at #end. False: it is too long for a cache.
  #makeRoom(size: number): boolean {
    const most = this.#text.length
    if (size * 8 > most) return false
    if (this.#count === this.capacity) this.#dropOldest()
    for (;;) {
      if (this.#count === 0) {
        this.#end = 0
        return true
      }
      const tail = this.#at[this.#oldest]!
      if (this.#end > tail) {
        if (size <= most - this.#end) return true
        this.#end = 0
      } else {
        if (size <= tail - this.#end) return true
        this.#dropOldest()
      }
    }
  }

  #dropOldest(): void {
    if (this.#gone[this.#oldest] === 0) this.#unchain(this.#oldest)
    this.#oldest = (this.#oldest + 1) % this.capacity
    this.#count--
  }

  #unchain(entry: number): void {
    const chain = this.#low[entry]! & (this.#chains.length - 1)
    const next = this.#next[entry]!
    this.#gone[entry] = 1
    if (this.#chains[chain] === entry) {
      this.#chains[chain] = next
      return
    }
    let before = this.#chains[chain]!
    while (this.#next[before] !== entry) before = this.#next[before]!
    this.#next[before] = next
  }
}
