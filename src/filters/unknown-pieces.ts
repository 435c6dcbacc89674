// The rate of a multilayer filter on new URLs as they come: the mean of f_xor · Π f_i over the pieces that their layers do
// not know, from counts of what the latest new keys were made of (kernel/unknown-pieces.ts). docs/filters.md has the
// derivation.

/** Numbers of the sketch: a place for each combination of up to three layers, then as named. */
export const SKETCH_COUNTS = 521
/** Keys with more unknown pieces. */
const MORE = 512
/** The keys that the rates behind it are sums over: a rate for each of the layers 1 … 6, and one for those behind. */
const RATED = 513
const LAYER_BITS = 3
const DEEPEST = 7
const KEY = 1024
const CERTAIN = 1024 * 1024
/** Fewer keys have nothing to say. */
const LEAST_KEYS = 64
/** Keys without an unknown piece from which on their number is trusted more than the layers' rates. */
const ENOUGH = 64
/** A filter that is nearly full answers "seen" for almost every key: the others tell little. */
const MOST_RATE = 0.98

export interface NewKeys {
  /** The sketch, as the kernel keeps it. */
  readonly counts: ArrayLike<number>
  /** Of each layer: its chance to take an unknown piece for a known one, now. */
  readonly rates: readonly number[]
  /** The same of the XOR layer. */
  readonly xorRate: number
}

export interface PassShares {
  /** Share of new keys that every layer but the XOR layer takes for known. */
  readonly pass: number
  /** Share of new keys whose pieces are all known: no layer can reject them, however large. */
  readonly known: number
}

/** Null where too few keys were counted. */
export function passShares({ counts, rates, xorRate }: NewKeys): PassShares | null {
  const keysAt = (place: number) => (counts[place] ?? 0) / KEY
  // Of the keys without an unknown piece only those that the XOR layer rejected were new.
  const none = keysAt(0) / (1 - Math.min(xorRate, MOST_RATE))
  let keys = none + keysAt(MORE)
  for (let place = 1; place < MORE; place++) keys += keysAt(place)
  if (keys < LEAST_KEYS) return null
  // A layer that erred hid an unknown piece. For each piece that it did not hide there are f / (1 − f) that it did.
  const [then, now] = [ratesThen(counts), ratesNow(rates)]
  const known = then.map((rate) => -rate / (1 - rate))
  const passing = then.map((rate, layer) => (now[layer]! - rate) / (1 - rate))
  let hidden = 0
  let passes = 0
  for (let place = 1; place < MORE; place++) {
    if (counts[place]) {
      hidden += keysAt(place) * product(place, known)
      passes += keysAt(place) * product(place, passing)
    }
  }
  const counted = none + hidden
  const errors = passes - hidden
  const all = keysAt(0) < ENOUGH ? Math.max(0, counted) + errors : counted + errors
  const share = (part: number) => Math.min(1, Math.max(0, part / keys))
  return { pass: share(all), known: share(Math.min(counted, all)) }
}

/** The product over the layers of a combination. */
function product(place: number, factors: readonly number[]): number {
  let all = 1
  for (let left = place; left > 0; left >>= LAYER_BITS) all *= factors[left & DEEPEST]!
  return all
}

const below = (rate: number) => Math.min(rate, MOST_RATE)

/** By number 1 … 7: the layers' rates when the counted keys came. */
function ratesThen(counts: ArrayLike<number>): number[] {
  const rated = counts[RATED] || 1
  return Array.from({ length: DEEPEST + 1 }, (_, n) =>
    n === 0 ? 0 : below((counts[RATED + n] ?? 0) / CERTAIN / rated),
  )
}

function ratesNow(rates: readonly number[]): number[] {
  const deepest = Math.max(0, ...rates.slice(DEEPEST - 1))
  return Array.from({ length: DEEPEST + 1 }, (_, n) =>
    n === 0 ? 0 : below(n < DEEPEST ? (rates[n - 1] ?? 0) : deepest),
  )
}
