// A Bloom filter for every row, bit-sliced. Rows are grouped in bands by their number of words (1, 2, 3–4, 5–8, …),
// and each band has its own m and k, so that one long row does not enlarge every filter.
// Errs towards "may contain", on average over the rows at the planned rate.
import { countWords, planSignatures } from './signature-sizing.ts'
import { Signatures } from './signatures.ts'

export interface Band {
  /** The rows, ascending: row `rows[f]` has filter f. */
  readonly rows: Uint32Array
  readonly signatures: Signatures
  /** Expected rate, mean over its rows. */
  readonly rate: number
}

export class RowFilters {
  readonly bands: readonly Band[]

  constructor(bands: readonly Band[]) {
    this.bands = bands
  }

  /** Empty filters for rows with these numbers of distinct words; rows without words have no filter. */
  static plan(wordsInRows: readonly number[], rate: number): RowFilters {
    const rowsOf = new Map<number, number[]>()
    wordsInRows.forEach((words, row) => {
      if (words === 0) return
      const band = 32 - Math.clz32(words - 1)
      const rows = rowsOf.get(band)
      if (rows) rows.push(row)
      else rowsOf.set(band, [row])
    })
    const bands = [...rowsOf].sort(([a], [b]) => a - b).map(([, rows]) => rows)
    return new RowFilters(
      bands.map((rows) => {
        const plan = planSignatures(countWords(rows.map((row) => wordsInRows[row]!)), rate)
        const signatures = new Signatures({ filters: rows.length, ...plan })
        return { rows: Uint32Array.from(rows), signatures, rate: plan.rate }
      }),
    )
  }

  get sizeBytes(): number {
    return this.bands.reduce((sum, { rows, signatures }) => sum + signatures.sizeBytes + rows.byteLength, 0)
  }

  /** Hashes per word. */
  get hashes(): number {
    return Math.max(1, ...this.bands.map(({ signatures }) => signatures.hashes))
  }

  /** Expected rate, mean over the rows. */
  get rate(): number {
    const rows = this.bands.reduce((sum, band) => sum + band.rows.length, 0)
    return rows ? this.bands.reduce((sum, band) => sum + band.rate * band.rows.length, 0) / rows : 0
  }

  /** The rows that may contain all of the words whose hashes start at `froms`, ascending. */
  holding(hashes: Uint32Array, froms: readonly number[]): Uint32Array {
    const parts = this.bands.map(({ rows, signatures }) => {
      return signatures.holding(hashes, froms).map((filter) => rows[filter]!)
    })
    return Uint32Array.from(parts.flat()).sort()
  }
}
