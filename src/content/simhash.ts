// What a text is known by: a 64-bit hash of its bytes, and its SimHash (Charikar 2002), in which texts that share most
// of their shingles differ in few bits. Hashing is the kernel's; shingles are ranges of one buffer, nothing is copied.
import { SieveError } from '../errors.ts'
import { applyHash, chooseHash } from '../hashes.ts'
import { compileKernel, Kernel } from '../kernel.ts'
import { wordsOf } from '../search/words.ts'

/** 64 bits as two halves: no BigInt for each page. */
export interface Bits64 {
  readonly low: number
  readonly high: number
}

export interface TextHash {
  /** Of the text as it stands. */
  readonly exact: Bits64
  /** Null when the text has fewer words than a shingle: too little to call it near to anything. */
  readonly near: Bits64 | null
  /** Letters and digits in its words. */
  readonly characters: number
}

/** What the SimHash is made of: the first million characters; the exact hash is of all. */
const NEAR_CHARACTERS = 2 ** 20
/** Cut into words at a time, so that memory does not grow with the text. */
const PIECE_CHARACTERS = 2 ** 16

const encoder = new TextEncoder()

export class TextHasher {
  readonly #kernel: Kernel
  readonly #shingleWords: number
  readonly #votes = new Int32Array(64)
  /** The hashes of a text's shingles, as halves. */
  #shingles = new BigUint64Array(1024)

  private constructor(kernel: Kernel, shingleWords: number) {
    this.#kernel = kernel
    this.#shingleWords = shingleWords
  }

  static async create(shingleWords: number, key?: Uint8Array): Promise<TextHasher> {
    const kernel = Kernel.create(await compileKernel())
    applyHash(kernel, chooseHash('siphash', key))
    return new TextHasher(kernel, shingleWords)
  }

  of(text: string): TextHash {
    const end = this.#write(text)
    this.#kernel.keyStarts[0] = this.#kernel.call.reserveInput(0) >>> 0
    this.#kernel.keyEnds[0] = end
    this.#kernel.call.hashKeys(1)
    const exact = bits(this.#halves(1), 0)
    let shingles = 0
    let characters = 0
    let words: string[] = []
    for (const piece of pieces(text.slice(0, NEAR_CHARACTERS))) {
      const before = words.length
      words = words.concat(wordsOf(piece))
      for (let i = before; i < words.length; i++) characters += words[i]!.length
      shingles = this.#hash(words, shingles)
      words = words.slice(Math.max(0, words.length - this.#shingleWords + 1))
    }
    return { exact, near: shingles > 0 ? this.#simhash(shingles) : null, characters }
  }

  // Puts a text into the kernel's input buffer and returns where it ends.
  #write(text: string): number {
    const at = this.#kernel.call.reserveInput(text.length * 3) >>> 0
    this.#kernel.refresh()
    if (at === 0) {
      throw new SieveError('memory', `a text of ${text.length} characters: expected less, give a part of it`)
    }
    return at + encoder.encodeInto(text, this.#kernel.bytes.subarray(at)).written
  }

  #halves(n: number): Uint32Array {
    const { hashes } = this.#kernel
    return new Uint32Array(hashes.buffer, hashes.byteOffset, 2 * n)
  }

  // Hashes all shingles of the words behind the `known` ones, and returns how many there are now.
  #hash(words: readonly string[], known: number): number {
    const shingles = words.length - this.#shingleWords + 1
    if (shingles < 1) return known
    if (known + shingles > this.#shingles.length) {
      const wider = new BigUint64Array(2 * (known + shingles))
      wider.set(this.#shingles.subarray(0, known))
      this.#shingles = wider
    }
    const halves = halvesOf(this.#shingles)
    const { starts, ends } = this.#places(words)
    const { batchLines, keyStarts, keyEnds, call } = this.#kernel
    for (let from = 0; from < shingles; from += batchLines) {
      const n = Math.min(batchLines, shingles - from)
      keyStarts.set(starts.subarray(from, from + n))
      keyEnds.set(ends.subarray(from + this.#shingleWords - 1, from + this.#shingleWords - 1 + n))
      call.hashKeys(n)
      halves.set(this.#halves(n), 2 * (known + from))
    }
    return known + shingles
  }

  // A shingle that comes up n times has 1 + ⌊log₂ n⌋ votes: with n, a few that a template repeats would decide every bit.
  #simhash(shingles: number): Bits64 {
    const votes = this.#votes.fill(0)
    const halves = halvesOf(this.#shingles.subarray(0, shingles).sort())
    const counts = new Uint32Array(shingles)
    let left = countRuns(halves, counts)
    let cast = 0
    for (let least = 1; left > 0; least *= 2) {
      left = keepFrequent(halves, counts, left, least)
      countBits(halves.subarray(0, 2 * left), votes)
      cast += left
    }
    return majority(votes, cast)
  }

  // Writes the words with a space between them and returns where each begins and ends.
  #places(words: readonly string[]): { starts: Uint32Array; ends: Uint32Array } {
    const end = this.#write(words.join(' '))
    const { bytes } = this.#kernel
    const starts = new Uint32Array(words.length)
    const ends = new Uint32Array(words.length)
    let at = this.#kernel.call.reserveInput(0) >>> 0
    for (let i = 0; i < words.length; i++) {
      starts[i] = at
      while (at < end && bytes[at] !== 32) at++
      ends[i] = at++
    }
    return { starts, ends }
  }
}

// Pieces that end between two words; a word longer than a piece is cut.
function* pieces(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = from + PIECE_CHARACTERS
    if (to < text.length) {
      const space = text.lastIndexOf(' ', to)
      if (space > from) to = space
    }
    yield text.slice(from, to)
    from = to
  }
}

const halvesOf = (hashes: BigUint64Array) =>
  new Uint32Array(hashes.buffer, hashes.byteOffset, 2 * hashes.length)

// Moves the distinct hashes of a sorted list to its front with their counts, and returns how many there are.
function countRuns(halves: Uint32Array, counts: Uint32Array): number {
  let distinct = 0
  for (let i = 0; i < halves.length; i += 2) {
    const last = 2 * distinct - 2
    if (distinct > 0 && halves[i] === halves[last] && halves[i + 1] === halves[last + 1]) {
      counts[distinct - 1]!++
      continue
    }
    move(halves, i, 2 * distinct)
    counts[distinct++] = 1
  }
  return distinct
}

// Moves those of the first n hashes that come up at least `least` times to the front, and returns how many they are.
function keepFrequent(halves: Uint32Array, counts: Uint32Array, n: number, least: number): number {
  let kept = 0
  for (let i = 0; i < n; i++) {
    if (counts[i]! < least) continue
    move(halves, 2 * i, 2 * kept)
    counts[kept++] = counts[i]!
  }
  return kept
}

function move(halves: Uint32Array, from: number, to: number): void {
  halves[to] = halves[from]!
  halves[to + 1] = halves[from + 1]!
}

// Each bit that more than half of the votes have.
function majority(votes: Int32Array, cast: number): Bits64 {
  const half = (from: number) => {
    let bits = 0
    for (let bit = 0; bit < 32; bit++) if (2 * votes[from + bit]! > cast) bits |= 1 << bit
    return bits >>> 0
  }
  return { low: half(0), high: half(32) }
}

// How many of the hashes have each bit. Five words count all 32 bits of a half at once, up to 31: a is the lowest digit of
// the 32 counts, e the highest.
function countBits(halves: Uint32Array, votes: Int32Array): void {
  for (let side = 0; side < 2; side++) {
    for (let from = side; from < halves.length; from += 2 * 31) {
      let [a, b, c, d, e] = [0, 0, 0, 0, 0]
      const to = Math.min(halves.length, from + 2 * 31)
      for (let i = from; i < to; i += 2) {
        const half = halves[i]!
        const twos = a & half
        const fours = b & twos
        const eights = c & fours
        a ^= half
        b ^= twos
        c ^= fours
        e ^= d & eights
        d ^= eights
      }
      for (let bit = 0; bit < 32; bit++) {
        const digit = (word: number) => (word >>> bit) & 1
        votes[32 * side + bit]! += digit(a) + 2 * digit(b) + 4 * digit(c) + 8 * digit(d) + 16 * digit(e)
      }
    }
  }
}

const bits = (halves: Uint32Array, i: number): Bits64 => ({ low: halves[2 * i]!, high: halves[2 * i + 1]! })

/** In how many bits two hashes differ. */
export function distance(a: Bits64, b: Bits64): number {
  return ones(a.low ^ b.low) + ones(a.high ^ b.high)
}

function ones(half: number): number {
  half -= (half >>> 1) & 0x55555555
  half = (half & 0x33333333) + ((half >>> 2) & 0x33333333)
  return Math.imul((half + (half >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
