// What a sieve is made of, by its options: filter, profile and hash.
import { type Profile, type ProfileName, resolveProfile } from './canonical/profiles.ts'
import type { Rule, RuleName } from './canonical/rules.ts'
import type { FilterOptions } from './filters/filter.ts'
import { planFor } from './filters/plan.ts'
import { type FilterName, filterKind } from './filters/registry.ts'
import { chooseHash, type HashName } from './hashes.ts'
import type { Identity } from './state.ts'

export interface SieveOptions<F extends FilterName = FilterName> extends FilterOptions {
  /** Default `fingerprint`: no capacity to choose, practically exact. */
  readonly filter?: F
  /** How a URL becomes a key: a profile's name, or your own list of rules. Default `web`. */
  readonly profile?: ProfileName | readonly (RuleName | Rule)[] | Profile
  /** Default `siphash`: keyed, since pages choose the URLs. The papers' functions are for trusted input only. */
  readonly hash?: HashName | readonly HashName[]
  /** 16 bytes. A random secret unless given; give one only to repeat a result. */
  readonly key?: Uint8Array
  /** The most memory one WebAssembly instance may take; past it the filter is spread over several. Default 4 GiB. */
  readonly instanceBytes?: number
}

/** The identity of a sieve with these options. Throws a SieveError, one line, for invalid ones. */
export function identityOf(options: SieveOptions): Identity {
  const kind = filterKind(options.filter ?? 'fingerprint')
  return {
    kind,
    plan: planFor(kind, options),
    profile: resolveProfile(options.profile ?? 'web'),
    hash: chooseHash(options.hash, options.key),
  }
}
