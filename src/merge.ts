// The union of two sieves with the same filter, parameters, profile and key: bit for bit, or hash by hash.
import { SieveError } from './errors.ts'
import { type Identity, type SieveState, STATE } from './state.ts'

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

/** Everything `source` remembers, `target` remembers too. Their counts add up; URLs in both count once where known. */
export function unite(target: HasState, source: HasState): void {
  const to = target[STATE]
  const from = source[STATE]
  const differ = difference(to, from)
  if (differ) {
    throw new SieveError(
      'option',
      `cannot merge sieves with different ${differ}: only of the same kind, or where keys are kept`,
    )
  }
  for (const [i, { filter }] of from.shards.all.entries()) {
    if (filter.hashes) {
      for (const hashes of filter.hashes()) addHashes(to, hashes)
    } else if (filter.keys) {
      for (const key of filter.keys()) addKey(to, key)
    } else if (filter.unite && to.shards.count === from.shards.count) {
      to.shards.all[i]!.filter.unite!(filter)
      to.shards.all[i]!.kernel.refresh()
    } else {
      throw new SieveError('option', `filter '${from.kind.name}' cannot be merged`)
    }
  }
  const counted = from.shards.all.every(({ filter }) => filter.hashes || filter.keys)
  if (!counted) to.urls += from.urls
  to.seen += from.seen
  to.invalid += from.invalid
}

function addHashes(to: SieveState, hashes: BigUint64Array): void {
  const { kernel } = to
  for (let at = 0; at < hashes.length; at += kernel.batchLines) {
    const some = hashes.subarray(at, at + kernel.batchLines)
    kernel.hashes.set(some)
    to.shards.add(0, some.length)
    to.kernel.refresh()
    to.urls += kernel.call.countNew(0, some.length)
  }
}

// Makes a batch of one key.
function takeKey({ kernel, hashKeys }: SieveState, key: Uint8Array): void {
  const at = kernel.call.reserveSpill(Math.max(key.length, 64)) >>> 0
  kernel.refresh()
  if (at === 0) throw new SieveError('room', `no memory left for a key of ${key.length} bytes`)
  kernel.bytes.set(key, at)
  kernel.keyStarts[0] = at
  kernel.keyEnds[0] = at + key.length
  hashKeys(1)
}

/** Adds a key as it is: no rule is applied to it. True: it was new. */
export function addKey(to: SieveState, key: Uint8Array): boolean {
  takeKey(to, key)
  to.shards.add(0, 1)
  to.kernel.refresh()
  const isNew = to.kernel.verdicts[0] === 1
  if (isNew) {
    to.urls++
    to.journal?.added(0, 1)
  }
  return isNew
}

/** Forgets a key as it is. True: it was remembered. */
export function deleteKey(from: SieveState, key: Uint8Array): boolean {
  takeKey(from, key)
  from.shards.delete(1)
  const was = from.kernel.verdicts[0] === 0
  if (was) {
    from.urls--
    from.journal?.deleted(1)
  }
  return was
}
