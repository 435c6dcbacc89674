// How large equal filters must be that hold unequal numbers of words: the fewest bits whose mean rate over all the
// filters keeps a target. Small filters err more than the classic formula says, so theirs is computed exactly.
import { blockedRate } from '../sizing/blocked.ts'
import { classicRate } from '../sizing/classic.ts'

/** Up to here the exact rate is used; past it the classic formula is within a part in a hundred of it. */
const SMALL_BITS = 2048
const MOST_HASHES = 40

/** Rate of one filter that holds `words`: the chance that it says yes to a word it does not hold. */
export function filterRate({ bits, hashes, words }: { bits: number; hashes: number; words: number }): number {
  const load = { bits, hashes, urls: words }
  return bits <= SMALL_BITS ? blockedRate({ ...load, blockBits: bits }) : classicRate(load)
}

/** How many filters hold so many words. */
export type WordCounts = ReadonlyMap<number, number>

export function countWords(words: Iterable<number>): Map<number, number> {
  const counts = new Map<number, number>()
  for (const held of words) counts.set(held, (counts.get(held) ?? 0) + 1)
  return counts
}

export function meanRate(counts: WordCounts, bits: number, hashes: number): number {
  let sum = 0
  let filters = 0
  for (const [words, count] of counts) {
    sum += count * filterRate({ bits, hashes, words })
    filters += count
  }
  return filters ? sum / filters : 0
}

export interface SignaturePlan {
  readonly bits: number
  readonly hashes: number
  /** Expected, mean over the filters. */
  readonly rate: number
}

/** The fewest bits that keep `rate` on average over the filters, and the k that does it. */
export function planSignatures(counts: WordCounts, rate: number): SignaturePlan {
  const most = Math.max(1, ...counts.keys())
  const ideal = Math.min(MOST_HASHES, Math.max(1, Math.round(-Math.log2(rate))))
  let best: SignaturePlan | undefined
  // The best k is near log2(1/rate), or under it where rows differ much in size or hold next to nothing.
  for (let hashes = ideal + 1; hashes >= Math.max(1, ideal - 4); hashes--) {
    const keeps = (bits: number) => meanRate(counts, bits, hashes) <= rate
    let above = best ? best.bits - 1 : Math.ceil(most * -Math.log2(rate) * 2) + 8
    if (best && !keeps(above)) continue
    while (!keeps(above)) above *= 2
    let below = 0
    while (above - below > 1) {
      const middle = (above + below) >>> 1
      if (keeps(middle)) above = middle
      else below = middle
    }
    best = { bits: above, hashes, rate: meanRate(counts, above, hashes) }
  }
  return best!
}
