// The blocked Bloom filter (Putze, Sanders, Singler 2007): a URL's hash picks one block, then k bits in it,
// independently and with replacement. The rate here is exact, not the classic formula on an average block:
// full blocks err far more than empty ones save, and hiding that is how filters break their promise.

import { limitBitsPerUrl } from './classic.ts'

/** A filter of `bits` bits in blocks of `blockBits`, `hashes` bits set per URL, `urls` distinct URLs held. */
export interface BlockedLoad {
  bits: number
  hashes: number
  urls: number
  blockBits?: number
}

/** What to build: `blocks` of `blockBits`, and the `rate` this gives at the expected URLs. */
export interface BlockedPlan {
  blocks: number
  bits: number
  hashes: number
  rate: number
}

/** What is promised: this `rate` at `urls` distinct URLs. */
export interface BlockedGoal {
  urls: number
  rate: number
  blockBits?: number
}

const CACHE_LINE_BITS = 512
const MOST_HASHES = 24

/**
 * Exact false-positive rate at `urls`: the mean of `blockTable` over the keys in the asked block, which
 * are binomial (n, 1/blocks); for many blocks that is the usual Poisson.
 */
export function blockedRate({ bits, hashes, urls, blockBits = CACHE_LINE_BITS }: BlockedLoad): number {
  return rateOfBlocks(Math.floor(bits / blockBits), urls, blockTable(blockBits, hashes))
}

/** The k, 1 … 24, with the lowest rate at this memory; of equals the smaller. */
export function blockedHashes({
  bits,
  urls,
  blockBits = CACHE_LINE_BITS,
}: Omit<BlockedLoad, 'hashes'>): number {
  let best = 1
  let lowest = Infinity
  for (let hashes = 1; hashes <= MOST_HASHES; hashes++) {
    const rate = blockedRate({ bits, hashes, urls, blockBits })
    if (rate < lowest) {
      lowest = rate
      best = hashes
    }
  }
  return best
}

/** The fewest blocks that keep `rate` at `urls` with any k, 1 … 24, and the smallest such k. */
export function blockedPlan({ urls, rate, blockBits = CACHE_LINE_BITS }: BlockedGoal): BlockedPlan {
  if (last?.urls !== urls || last.rate !== rate || last.blockBits !== blockBits) {
    last = { urls, rate, blockBits, plan: searchPlan({ urls, rate, blockBits }) }
  }
  return { ...last.plan }
}

// Found in milliseconds, and needed several times in a row: to check, create and open the same sieve.
let last: (Required<BlockedGoal> & { plan: BlockedPlan }) | undefined

function searchPlan({ urls, rate, blockBits }: Required<BlockedGoal>): BlockedPlan {
  if (!(rate > 0 && rate < 1)) throw new RangeError(`rate: got ${rate}, expected between 0 and 1`)
  let blocks = Infinity
  let hashes = 1
  for (let k = 1; k <= MOST_HASHES; k++) {
    const table = blockTable(blockBits, k)
    const keeps = (count: number) => rateOfBlocks(count, urls, table) <= rate
    if (blocks < Infinity && (blocks === 1 || !keeps(blocks - 1))) continue
    const known = blocks < Infinity ? blocks : leastDoubled(keeps, (urls * limitBitsPerUrl(rate)) / blockBits)
    blocks = fewest(keeps, known)
    hashes = k
  }
  const bits = blocks * blockBits
  return { blocks, bits, hashes, rate: blockedRate({ bits, hashes, urls, blockBits }) }
}

/** Some count that passes: `from` doubled as often as it takes. */
function leastDoubled(passes: (count: number) => boolean, from: number): number {
  let count = Math.max(1, Math.ceil(from))
  while (!passes(count)) count *= 2
  return count
}

/** Smallest count that passes a test which, once passed, stays passed; `known` passes. */
function fewest(passes: (count: number) => boolean, known: number): number {
  let above = known
  let below = 0
  while (above - below > 1) {
    const middle = below + Math.floor((above - below) / 2)
    // Past 2^53 neighbours are no longer one apart; then this is as near as a double gets.
    if (middle === below || middle === above) break
    if (passes(middle)) above = middle
    else below = middle
  }
  return above
}

/** Sum over the keys in a block, outwards from the likeliest number; weights are relative to it. */
function rateOfBlocks(blocks: number, urls: number, table: (keys: number) => number): number {
  if (urls === 0) return 0
  // A count that was estimated from the fill is no whole number.
  if (blocks <= 1) return table(Math.ceil(urls))
  const odds = 1 / (blocks - 1)
  const likeliest = Math.min(urls, Math.floor((urls + 1) / blocks))
  // Where even a block far poorer than the likeliest is full, every answer is "seen".
  if (table(Math.floor(likeliest - 40 * Math.sqrt(likeliest))) === 1) return 1
  let weight = 1
  let weights = 0
  let sum = 0
  for (let keys = likeliest; weight > 1e-40 && keys <= urls; keys++) {
    weights += weight
    sum += weight * table(keys)
    weight *= ((urls - keys) / (keys + 1)) * odds
  }
  weight = 1
  for (let keys = likeliest; keys > 0; keys--) {
    weight *= keys / ((urls - keys + 1) * odds)
    if (weight < 1e-40) break
    weights += weight
    sum += weight * table(keys - 1)
  }
  return sum / weights
}

const tables = new Map<string, (keys: number) => number>()

/**
 * q(i): the chance that all k probes of a new URL fall on ones in a block that holds i keys, which is
 * E[(X/B)^k] for X cells occupied by i·k throws. With u_j(t) the chance that j given cells are all occupied
 * after t throws, the first throw either takes one of the j or does not:
 *   u_j(t) = j/B · u_{j−1}(t−1) + (1 − j/B) · u_j(t−1),
 * and q(i) = Σ_j P(the probes are j distinct cells) · u_j(ik). All terms are positive: nothing cancels.
 */
function blockTable(blockBits: number, hashes: number): (keys: number) => number {
  const name = `${blockBits}/${hashes}`
  const known = tables.get(name)
  if (known) return known

  const distinct = new Float64Array(hashes + 1)
  distinct[0] = 1
  for (let probe = 0; probe < hashes; probe++) {
    for (let j = hashes; j >= 0; j--) {
      const fresh = j === 0 ? 0 : distinct[j - 1]! * (1 - (j - 1) / blockBits)
      distinct[j] = distinct[j]! * (j / blockBits) + fresh
    }
  }

  const occupied = new Float64Array(hashes + 1)
  occupied[0] = 1
  const rates = [0]
  let full = Infinity
  const table = (keys: number): number => {
    if (keys <= 0) return 0
    while (rates.length <= keys && full === Infinity) {
      for (let thrown = 0; thrown < hashes; thrown++) {
        for (let j = hashes; j > 0; j--) {
          occupied[j] = occupied[j]! + (j / blockBits) * (occupied[j - 1]! - occupied[j]!)
        }
      }
      let rate = 0
      for (let j = 1; j <= hashes; j++) rate += distinct[j]! * occupied[j]!
      // Rounding keeps the sum a little short of 1; from here on say 1, which errs towards the higher rate.
      if (rate > 1 - 1e-10) full = rates.length
      rates.push(Math.min(rate, 1))
    }
    return keys >= full ? 1 : rates[keys]!
  }
  tables.set(name, table)
  return table
}
