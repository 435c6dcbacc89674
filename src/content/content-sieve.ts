// Pages that are the same, or nearly the same, under different URLs: an exact hash of the text, and a SimHash within
// three bits. Memory for each page: 28 to 56 bytes for the SimHash and 16 to 32 for the exact hash, besides its id.
import { SieveError } from '../errors.ts'
import { MOST_BITS, NearIndex } from './near-index.ts'
import { type Bits64, type TextHash, TextHasher } from './simhash.ts'

/** What counts as the same page. */
export interface ContentOptions {
  /** In how many of 64 bits a near page may differ: 0 to 3. Default 3. */
  readonly nearBits?: number
  /** Words in a shingle: more make it stricter; with 1, common words make different pages near. Default 2. */
  readonly shingleWords?: number
  /** Letters and digits a text needs to be compared; a shorter one is always "new". Default 100. */
  readonly minCharacters?: number
  /** 16 bytes: the key of the hash. A random secret unless given, since pages choose their text. */
  readonly key?: Uint8Array
}

/** Whether a page's text was seen, and on which page. */
export type ContentVerdict =
  /** No page with this text, or nearly this text, was added. */
  | { readonly verdict: 'new' }
  /** The same text, byte for byte, as the page `of`. */
  | { readonly verdict: 'same'; readonly of: string }
  /** Its SimHash differs from that of the page `of` in `distance` bits. */
  | { readonly verdict: 'near'; readonly of: string; readonly distance: number }

/** What a ContentSieve reports of itself. */
export interface ContentStats {
  /** Pages answered "new". */
  readonly pages: number
  /** Pages answered "same". */
  readonly same: number
  /** Pages answered "near". */
  readonly near: number
  /** Of the pages answered "new", those with too little text to compare: not remembered. */
  readonly short: number
  /** Of the hashes and their tables, without the ids. */
  readonly sizeBytes: number
}

const NONE = 0xffffffff
/** A heading and a menu are not a page: image pages have no more than that. */
const MIN_CHARACTERS = 100

/**
 * Answers "have I seen this page's text?". "same" errs with the chance of a 64-bit collision. "near" errs towards "near"
 * for pages of one template that differ in a few words, and towards "new" for pages that differ in more than three bits,
 * and for texts with fewer letters and digits than `minCharacters`, which are not compared; those shorter than a shingle are
 * compared exactly only. Pages answered "near" are not compared with
 * later ones, so a chain of small changes does not drift.
 */
export class ContentSieve {
  readonly #hasher: TextHasher
  readonly #nearBits: number
  readonly #index = new NearIndex()
  readonly #ids: string[] = []
  /** The exact hashes by page, and an open-addressing table of pages. */
  #exact = new Uint32Array(2048)
  #slots = new Uint32Array(2048).fill(NONE)
  readonly #counts = { pages: 0, same: 0, near: 0, short: 0 }
  readonly #minCharacters: number

  private constructor(hasher: TextHasher, nearBits: number, minCharacters: number) {
    this.#hasher = hasher
    this.#nearBits = nearBits
    this.#minCharacters = minCharacters
  }

  /** In memory. Throws a SieveError, one line, for an invalid option. */
  static async create(options: ContentOptions = {}): Promise<ContentSieve> {
    const { nearBits = 3, shingleWords = 2, minCharacters = MIN_CHARACTERS, key } = options
    if (!Number.isInteger(nearBits) || nearBits < 0 || nearBits > MOST_BITS) {
      throw new SieveError('option', `nearBits ${nearBits}: expected a whole number from 0 to ${MOST_BITS}`)
    }
    if (!Number.isInteger(shingleWords) || shingleWords < 1) {
      throw new SieveError('option', `shingleWords ${shingleWords}: expected a whole number from 1 on`)
    }
    if (!Number.isInteger(minCharacters) || minCharacters < 0) {
      throw new SieveError('option', `minCharacters ${minCharacters}: expected a whole number from 0 on`)
    }
    return new ContentSieve(await TextHasher.create(shingleWords, key), nearBits, minCharacters)
  }

  /** Remembers a page's text under its id and returns whether it is new. Which way it errs: see the class. */
  add(text: string, id: string): ContentVerdict {
    const hash = this.#hasher.of(text)
    const verdict = this.#judge(hash)
    if (hash.characters < this.#minCharacters) this.#counts.short++
    else if (verdict.verdict !== 'same') this.#keep(hash, id, verdict.verdict === 'new')
    this.#counts[verdict.verdict === 'new' ? 'pages' : verdict.verdict]++
    return verdict
  }

  /** What `add` would return, without remembering or counting the text. */
  compare(text: string): ContentVerdict {
    return this.#judge(this.#hasher.of(text))
  }

  stats(): ContentStats {
    const sizeBytes = this.#index.sizeBytes + this.#exact.byteLength + this.#slots.byteLength
    return { ...this.#counts, sizeBytes }
  }

  #judge({ exact, near, characters }: TextHash): ContentVerdict {
    if (characters < this.#minCharacters) return { verdict: 'new' }
    const known = this.#slots[this.#slotOf(exact)]!
    if (known !== NONE) return { verdict: 'same', of: this.#ids[known]! }
    const neighbour = near && this.#index.nearest(near, this.#nearBits)
    if (!neighbour) return { verdict: 'new' }
    return { verdict: 'near', of: this.#ids[neighbour.page]!, distance: neighbour.distance }
  }

  #keep({ exact, near }: TextHash, id: string, isNew: boolean): void {
    this.#widenFor(this.#ids.length + 1)
    const slot = this.#slotOf(exact)
    const page = this.#ids.push(id) - 1
    this.#exact[2 * page] = exact.low
    this.#exact[2 * page + 1] = exact.high
    this.#slots[slot] = page
    if (near && isNew) this.#index.add(near, page)
  }

  // The slot that holds a hash, or the free one where it belongs.
  #slotOf({ low, high }: Bits64): number {
    const last = this.#slots.length - 1
    let slot = low & last
    for (let page = this.#slots[slot]!; page !== NONE; page = this.#slots[slot]!) {
      if (this.#exact[2 * page] === low && this.#exact[2 * page + 1] === high) break
      slot = (slot + 1) & last
    }
    return slot
  }

  // Room for one more page: at most half of the slots are taken.
  #widenFor(pages: number): void {
    if (2 * pages <= this.#slots.length) return
    const known = this.#exact
    this.#exact = new Uint32Array(2 * known.length)
    this.#exact.set(known)
    this.#slots = new Uint32Array(2 * known.length).fill(NONE)
    for (let page = 0; page < this.#ids.length; page++) {
      this.#slots[this.#slotOf({ low: known[2 * page]!, high: known[2 * page + 1]! })] = page
    }
  }
}
