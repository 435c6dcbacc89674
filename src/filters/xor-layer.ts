// The XOR layer of a multilayer filter (cen-2010): an XOR of addresses below m can reach the next power of two and is
// taken modulo m. For an m that is no power of two its addresses are therefore not uniform: some places fill sooner
// and are asked more often, so that a new URL passes more often than the layer's fill says.

/** Parts of the range up to the power of two; addresses are taken as uniform within a part. */
const PARTS = 1024
/** URLs for each bit, at most: more than fill any layer. */
const MOST_URLS = 1e6

export interface XorCounts {
  readonly bits: number
  readonly fill: number
  readonly depths: readonly number[]
}

/** `xorHitRates` of one filter, which takes a millisecond: worked out anew only when its counts have changed. */
export function keptHitRates(): (counts: XorCounts) => readonly number[] {
  let key = ''
  let rates: readonly number[] = []
  return (counts) => {
    const next = [counts.bits, counts.fill, ...counts.depths].join()
    if (next !== key) {
      rates = xorHitRates(counts)
      key = next
    }
    return rates
  }
}

/**
 * The chance that one address of a new URL hits a set bit of the XOR layer, by the number of its segments: entry c
 * is for c + 1. `fill` is the layer's measured share of ones, `depths[c]` the number of URLs with c + 1 segments.
 */
export function xorHitRates({ bits, fill, depths }: XorCounts): number[] {
  const urls = depths.reduce((sum, n) => sum + n, 0)
  if (urls === 0 || fill === 0) return depths.map(() => 0)
  if (fill >= 1) return depths.map(() => 1)
  const width = 2 ** Math.ceil(Math.log2(bits)) / PARTS
  const single = Float64Array.from({ length: PARTS }, (_, part) => overlap(part * width, width, bits) / bits)
  const spectrum = walsh(single)
  const shares = depths.map((_, c) => {
    const xored = walsh(spectrum.map((value) => value ** (c + 1))).map((value) => value / PARTS)
    return fold(xored, width, bits)
  })
  // Load of each part in its own bits, for one URL; then as many URLs as make the measured fill.
  const rooms = single.map((share) => share * bits)
  const load = rooms.map((room, part) =>
    room > 0 ? shares.reduce((sum, share, c) => sum + share[part]! * (depths[c]! / urls), 0) / room : 0,
  )
  // By Newton's method: the ones grow ever slower, so that from 0 on no step goes past the solution.
  let times = 0
  for (let step = 0; step < 60; step++) {
    let [ones, growth] = [0, 0]
    for (let part = 0; part < PARTS; part++) {
      const taken = -Math.expm1(-load[part]! * times)
      ones += rooms[part]! * taken
      growth += rooms[part]! * load[part]! * (1 - taken)
    }
    const more = (fill * bits - ones) / growth
    if (!(more > 1e-15 * times)) break
    times = Math.min(times + more, MOST_URLS * bits)
  }
  return shares.map((share) =>
    Math.min(
      1,
      share.reduce((sum, s, part) => sum - s * Math.expm1(-load[part]! * times), 0),
    ),
  )
}

/** How much of [from, from + width) is below `bits`. */
function overlap(from: number, width: number, bits: number): number {
  return Math.min(width, Math.max(0, bits - from))
}

/** Moves what is at or past `bits` down by `bits`; it may fall on two neighbouring parts. */
function fold(shares: Float64Array, width: number, bits: number): Float64Array {
  const folded = new Float64Array(PARTS)
  shares.forEach((share, part) => {
    const from = part * width
    const inside = overlap(from, width, bits)
    folded[part]! += share * (inside / width)
    if (inside === width) return
    const density = share / width
    let at = from + inside - bits
    const end = from + width - bits
    while (at < end) {
      const target = Math.floor(at / width)
      const next = Math.min(end, (target + 1) * width)
      folded[target]! += density * (next - at)
      at = next
    }
  })
  return folded
}

/** The Walsh–Hadamard transform: products of it are convolutions by XOR. */
function walsh(values: Float64Array): Float64Array {
  const out = values.slice()
  for (let half = 1; half < out.length; half *= 2) {
    for (let at = 0; at < out.length; at += 2 * half) {
      for (let i = at; i < at + half; i++) {
        const [a, b] = [out[i]!, out[i + half]!]
        out[i] = a + b
        out[i + half] = a - b
      }
    }
  }
  return out
}
