// Of the latest new keys of a filter that asks two questions about each: how many were new by the first one only, what the second
// asks about being known already (their folders, their feature). The rate at which new keys pass follows from it.

/** The keys, and those of them that the second question would have let pass: whole numbers, as f64. */
const counts: usize = memory.data(2 * 8, 16)
/** Both are halved when it describes so many keys: the latest count. */
const MOST_KEYS: f64 = 16384

/** Where the two numbers are. */
export function knownRest(): usize {
  return counts
}

/** A key is new. */
// @ts-ignore: decorator
@inline
export function countRest(isKnown: bool): void {
  const keys = load<f64>(counts) + 1
  store<f64>(counts, keys)
  store<f64>(counts, load<f64>(counts, 8) + <f64>isKnown, 8)
  if (keys < MOST_KEYS) return
  store<f64>(counts, keys / 2)
  store<f64>(counts, Math.floor(load<f64>(counts, 8) / 2), 8)
}
