// All words of a dataset, as in sharma-keywords: distributed round-robin over L = words ÷ hashes layers, each a Bloom
// filter of the same m and k. Since the layers have the same size, they are stored bit-sliced and tested together.
// Errs towards "may contain".
//
// The paper does not define which layer a query tests. Algorithm 4 tests layer i for the i-th word, which misses a word
// in another layer: a false negative. So all layers are tested, and the rate is that of all of them together:
// 1 − (1 − f)^L, near 1 for any table worth searching. Hence three readings:

//   all    round-robin, all tested; layers large enough that all together keep the rate (the default)
//   paper  round-robin, all tested; each layer at the rate, as in section 6
//   own    a word's hash selects its layer, and only that one is tested
// Algorithm 3's XOR layer contains whole strings only: it would reject every query of fewer words, and is omitted.
import { classicPlan } from '../sizing/classic.ts'
import { keywordLayers } from '../sizing/keyword-layers.ts'

import { countWords, planSignatures, type SignaturePlan } from './signature-sizing.ts'
import { addressOf, Signatures } from './signatures.ts'

export const layerReadings = ['all', 'paper', 'own'] as const
export type LayerReading = (typeof layerReadings)[number]

/** How many words each layer contains when they are distributed round-robin. */
function dealt(words: number, layers: number): number[] {
  return Array.from({ length: layers }, (_, layer) => Math.ceil((words - layer) / layers))
}

interface DictionaryPlan extends SignaturePlan {
  readonly layers: number
}

function planPaper(words: number, rate: number): DictionaryPlan {
  const { hashes } = classicPlan({ urls: Math.max(1, words), rate })
  const layers = keywordLayers({ keywords: words, hashes })
  return { layers, ...planSignatures(countWords(dealt(words, layers)), rate) }
}

// L depends on k, and k on each layer's rate, which depends on L: a few rounds settle it.
function planAll(words: number, rate: number): DictionaryPlan {
  let plan = planPaper(words, rate)
  for (let round = 0; round < 4; round++) {
    const layers = keywordLayers({ keywords: words, hashes: plan.hashes })
    if (round > 0 && layers === plan.layers) break
    const each = -Math.expm1(Math.log1p(-rate) / layers)
    plan = { layers, ...planSignatures(countWords(dealt(words, layers)), each) }
  }
  return plan
}

export class Dictionary {
  readonly reading: LayerReading
  readonly signatures: Signatures

  constructor(reading: LayerReading, signatures: Signatures) {
    this.reading = reading
    this.signatures = signatures
  }

  /** An empty dictionary; `first` has hash 0 of each word. */
  static plan(reading: LayerReading, rate: number, first: Uint32Array): Dictionary {
    let plan = reading === 'all' ? planAll(first.length, rate) : planPaper(first.length, rate)
    if (reading === 'own') {
      const held = new Array<number>(plan.layers).fill(0)
      for (const hash of first) held[addressOf(hash, plan.layers)]! += 1
      plan = { layers: plan.layers, ...planSignatures(countWords(held), rate) }
    }
    return new Dictionary(reading, new Signatures({ filters: plan.layers, ...plan }))
  }

  /** Marks the `turn`-th word, whose hashes start at `from`. */
  add(turn: number, hashes: Uint32Array, from: number): void {
    const layer = this.reading === 'own' ? this.#own(hashes, from) : turn % this.layers
    this.signatures.add(layer, hashes, from + this.#skip)
  }

  get layers(): number {
    return this.signatures.filters
  }

  /** Hashes per word. */
  get hashes(): number {
    return this.signatures.hashes + this.#skip
  }

  /** Whether the dataset may contain a word whose hashes start at `from`; false is certain. */
  has(hashes: Uint32Array, from: number): boolean {
    return this.reading === 'own'
      ? this.signatures.has(this.#own(hashes, from), hashes, from + this.#skip)
      : this.signatures.holding(hashes, [from]).length > 0
  }

  /** The current false-positive rate, from the fill of each layer. */
  rate(): number {
    const rates = this.signatures.fills().map((fill) => fill ** this.signatures.hashes)
    if (this.reading === 'own') return rates.reduce((sum, rate) => sum + rate, 0) / rates.length
    return -Math.expm1(rates.reduce((sum, rate) => sum + Math.log1p(-rate), 0))
  }

  // The first hash selects the layer; the others select its bits.
  get #skip(): number {
    return this.reading === 'own' ? 1 : 0
  }

  #own(hashes: Uint32Array, from: number): number {
    return addressOf(hashes[from]!, this.layers)
  }
}
