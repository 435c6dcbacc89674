// A dataset that can be searched for words: the dictionary rejects words that are absent, the row filters select the
// rows that may contain all words. Built row by row; the words themselves are kept only while it is built.
// Errs towards "may contain": a row that contains all the words is always in the result.
import { Dictionary, type LayerReading } from './dictionary.ts'
import { RowFilters } from './row-filters.ts'
import { WordHashes } from './word-hashes.ts'

export interface DatasetOptions {
  /** The probability that a word in no row passes the dictionary. Default 0.05, the paper's. */
  readonly dictionaryRate?: number | undefined
  /** The probability that a row passes for a word it does not contain. Default 0.001. */
  readonly rowRate?: number | undefined
  /** How the words are distributed over the dictionary's layers. Default `all`. */
  readonly layers?: LayerReading | undefined
}

export const DEFAULT_DICTIONARY_RATE = 0.05
export const DEFAULT_ROW_RATE = 0.001

export interface DatasetCounts {
  readonly rows: number
  /** Distinct words. */
  readonly words: number
  /** The distinct words of each row, separated by one byte, in UTF-8: the text that the filters replace. */
  readonly rawBytes: number
}

export interface Answer {
  /** False: no row contains all the words, with certainty. */
  readonly mayHold: boolean
  /** Words that are certainly in no row. */
  readonly absent: readonly string[]
  /** Rows that may contain all the words, ascending. */
  readonly rows: Uint32Array
}

export class Dataset {
  readonly counts: DatasetCounts
  readonly dictionary: Dictionary
  readonly rowFilters: RowFilters
  readonly #hashes: WordHashes

  constructor(counts: DatasetCounts, dictionary: Dictionary, rowFilters: RowFilters, hashes: WordHashes) {
    this.counts = counts
    this.dictionary = dictionary
    this.rowFilters = rowFilters
    this.#hashes = hashes
  }

  get sizeBytes(): number {
    return this.dictionary.signatures.sizeBytes + this.rowFilters.sizeBytes
  }

  /** The rows that may contain all of `words`, which come from `wordsOf`. Misses none that does. */
  ask(words: readonly string[]): Answer {
    const stride = Math.max(this.dictionary.hashes, this.rowFilters.hashes)
    const hashes = this.#hashes.of(words, stride)
    const froms = words.map((_, i) => i * stride)
    const absent = words.filter((_, i) => !this.dictionary.has(hashes, froms[i]!))
    if (absent.length > 0) return { mayHold: false, absent, rows: new Uint32Array(0) }
    const rows = this.rowFilters.holding(hashes, froms)
    return { mayHold: rows.length > 0, absent, rows }
  }
}

export class DatasetBuilder {
  readonly #options: DatasetOptions
  readonly #hashes: WordHashes
  readonly #idOf = new Map<string, number>()
  readonly #rows: Uint32Array[] = []
  #rawBytes = 0

  private constructor(options: DatasetOptions, hashes: WordHashes) {
    this.#options = options
    this.#hashes = hashes
  }

  static async create(options: DatasetOptions = {}): Promise<DatasetBuilder> {
    return new DatasetBuilder(options, await WordHashes.create())
  }

  /** The next row, by its distinct words. */
  add(words: ReadonlySet<string>): void {
    const ids = new Uint32Array(words.size)
    let at = 0
    for (const word of words) {
      let id = this.#idOf.get(word)
      if (id === undefined) {
        id = this.#idOf.size
        this.#idOf.set(word, id)
      }
      ids[at++] = id
      this.#rawBytes += Buffer.byteLength(word) + 1
    }
    this.#rows.push(ids)
  }

  finish(): Dataset {
    const words = [...this.#idOf.keys()]
    const {
      dictionaryRate = DEFAULT_DICTIONARY_RATE,
      rowRate = DEFAULT_ROW_RATE,
      layers = 'all',
    } = this.#options
    const dictionary = Dictionary.plan(layers, dictionaryRate, this.#hashes.of(words, 1))
    const rowFilters = RowFilters.plan(
      this.#rows.map((ids) => ids.length),
      rowRate,
    )
    const stride = Math.max(dictionary.hashes, rowFilters.hashes)
    const hashes = this.#hashes.of(words, stride)
    for (let i = 0; i < words.length; i++) dictionary.add(i, hashes, i * stride)
    for (const { rows, signatures } of rowFilters.bands) {
      rows.forEach((row, filter) => {
        for (const id of this.#rows[row]!) signatures.add(filter, hashes, id * stride)
      })
    }
    const counts = { rows: this.#rows.length, words: words.length, rawBytes: this.#rawBytes }
    return new Dataset(counts, dictionary, rowFilters, this.#hashes)
  }
}
