// The union of two sieves with the same filter, parameters, profile and key: bit for bit, or hash by hash.
import { SieveError } from './errors.ts'
import { unitedShare } from './filters/bit-pieces.ts'
import type { Shards } from './filters/shards.ts'
import { checkNothingUnlogged } from './journal.ts'
import { type Counts, type Identity, type SieveState, STATE } from './state.ts'

interface HasState {
  readonly [STATE]: SieveState
}

/** Why two sieves cannot be united, in words; null when they can. */
export function difference(a: Identity, b: Identity): string | null {
  const rules = (one: Identity) => one.profile.rules.map((rule) => rule.name).join()
  const key = (one: Identity) => one.hash.key.join()
  if (a.kind.name !== b.kind.name) return `filters ${a.kind.name} and ${b.kind.name}`
  if (rules(a) !== rules(b)) {
    if (a.profile.name !== b.profile.name) return `profiles ${a.profile.name} and ${b.profile.name}`
    return `rules of profile ${a.profile.name} (${rules(a)} and ${rules(b)})`
  }
  if (a.hash.names.join() !== b.hash.names.join()) return `hashes ${a.hash.names} and ${b.hash.names}`
  if (key(a) !== key(b)) return 'secret keys'
  const shape = (one: Identity) => JSON.stringify([one.plan.bits, one.plan.hashes, one.plan.shape ?? null])
  return a.kind.can.grow || shape(a) === shape(b) ? null : 'sizes'
}

/** Throws one line when two sieves cannot be united. */
export function checkMergeable(target: HasState, source: HasState): void {
  const to = target[STATE]
  const from = source[STATE]
  to.checkWritable()
  checkNothingUnlogged(from.journal, 'merge from this sieve')
  const differ = difference(to, from)
  if (differ) {
    throw new SieveError(
      'option',
      `cannot merge sieves with different ${differ}: only of the same kind, or where keys are kept`,
    )
  }
  const isSpreadAlike = to.shards.count === from.shards.count
  if (
    from.shards.all.some(({ filter }) => !filter.hashes && !filter.keys && !(filter.unite && isSpreadAlike))
  ) {
    throw new SieveError('option', `filter '${from.kind.name}' cannot be merged`)
  }
}

/**
 * Everything `source` remembers, `target` remembers too. Their counts add up; URLs in both count once, by an estimate where
 * the filter has only bits. Returns what undoes it, for filters that can forget. When it throws, `target` is as it was.
 */
export function unite(target: HasState, source: HasState): () => void {
  checkMergeable(target, source)
  const to = target[STATE]
  const from = source[STATE]
  const { urls, seen, invalid, urlsEstimated } = to
  const fresh: { hashes: BigUint64Array[]; keys: Uint8Array[] } = { hashes: [], keys: [] }
  const undo = () => {
    for (const hashes of fresh.hashes) {
      to.kernel.hashes.set(hashes)
      to.shards.delete(hashes.length)
    }
    for (const key of fresh.keys) {
      to.keyer.takeKeys([key])
      to.shards.delete(1)
    }
    Object.assign(to, { urls, seen, invalid, urlsEstimated })
  }
  try {
    for (const { filter } of from.shards.all) {
      if (filter.hashes) for (const hashes of filter.hashes()) addHashes(to, hashes, fresh.hashes)
      else if (filter.keys)
        for (const key of filter.keys()) if (addUnlogged(to, key)) fresh.keys.push(key.slice())
    }
  } catch (error) {
    undo()
    throw error
  }
  if (from.shards.all.every(({ filter }) => !filter.hashes && !filter.keys)) {
    Object.assign(to, unitedCounts(to, from, uniteBits(to.shards, from.shards)))
  } else {
    to.seen += from.seen
    to.invalid += from.invalid
  }
  return undo
}

/** What a union of two filters came to: URLs that were new to the first, or the share of both counts that is left. */
export type United = { readonly fresh: number } | { readonly share: number }

/** The counts of two sieves whose filters were united. */
export function unitedCounts(mine: Counts, theirs: Counts, united: United): Counts {
  const sum = mine.urls + theirs.urls
  const isExact = 'fresh' in united
  return {
    urls: isExact
      ? mine.urls + united.fresh
      : Math.max(mine.urls, theirs.urls, Math.round(united.share * sum)),
    seen: mine.seen + theirs.seen,
    invalid: mine.invalid + theirs.invalid,
    urlsEstimated: !isExact || mine.urlsEstimated || theirs.urlsEstimated,
  }
}

const distinctIn = (shards: Shards) =>
  shards.all.reduce((sum, { filter }) => sum + (filter.distinct?.() ?? 0), 0)

/** Sets in one filter's arrays every bit that is set in another's: of the same plan, spread alike. */
export function uniteBits(to: Shards, from: Shards): United {
  // What may be lacking is taken first: once it begins nothing fails.
  for (const [i, { filter }] of from.all.entries()) {
    const { kernel, filter: mine } = to.all[i]!
    for (const { array, offset, bytes } of filter.pieces()) {
      if (bytes.length === 0) continue
      mine.place(array, offset, bytes.length)
      if (kernel.call.reserveOutput(bytes.length) === 0) {
        throw new SieveError(
          'memory',
          `no memory left to unite two filters: ${bytes.length} bytes are needed`,
        )
      }
      kernel.refresh()
    }
  }
  const [mine, theirs] = [distinctIn(to), distinctIn(from)]
  let fresh: number | null = 0
  for (const [i, { filter }] of from.all.entries()) {
    const more = to.all[i]!.filter.unite!(filter)
    fresh = fresh === null || more === null ? null : fresh + more
    to.all[i]!.kernel.refresh()
  }
  return fresh === null ? { share: unitedShare(mine, theirs, distinctIn(to)) } : { fresh }
}

function addHashes(to: SieveState, hashes: BigUint64Array, fresh: BigUint64Array[]): void {
  for (let at = 0; at < hashes.length; ) {
    const { kernel } = to
    const some = hashes.subarray(at, at + kernel.batchLines)
    kernel.hashes.set(some)
    const done = to.shards.add(0, some.length)
    kernel.refresh()
    const isNew = kernel.verdicts.slice(0, done)
    const added = some.slice(0, done).filter((_, i) => isNew[i] === 1)
    fresh.push(added)
    to.urls += added.length
    at += done
  }
}

function addUnlogged(to: SieveState, key: Uint8Array): boolean {
  to.keyer.takeKeys([key])
  to.shards.add(0, 1)
  to.kernel.refresh()
  const isNew = to.kernel.verdicts[0] === 1
  if (isNew) to.urls++
  return isNew
}

/** Adds a key as it is: no rule is applied to it. True: it was new. */
export function addKey(to: SieveState, key: Uint8Array): boolean {
  to.checkWritable()
  const isNew = addUnlogged(to, key)
  if (!isNew) return false
  try {
    to.journal?.added(0, 1)
  } catch (error) {
    to.urls--
    throw error
  }
  return true
}

/** Forgets a key as it is. True: it was remembered. */
export function deleteKey(from: SieveState, key: Uint8Array): boolean {
  from.checkWritable()
  from.keyer.takeKeys([key])
  from.shards.delete(1)
  const was = from.kernel.verdicts[0] === 0
  if (was) {
    from.urls--
    from.journal?.deleted(1)
  }
  return was
}
