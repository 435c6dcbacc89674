// The options of a sieve: those of every sieve, and those of its filter. An option that the filter does not take is a
// type error, and refused at run time.
import { type Profile, type ProfileName, profiles, resolveProfile } from './canonical/profiles.ts'
import type { Rule, RuleName } from './canonical/rules.ts'
import type { AnyKind, FilterOptions, Plan } from './filters/filter.ts'
import { planFor } from './filters/plan.ts'
import { type FilterName, filterKind, filterKinds, filterNames, type filters } from './filters/registry.ts'
import { chooseHash, type HashName, hashNames } from './hashes.ts'
import { choice, type OptionsOf, type SieveOption } from './options/option.ts'
import type { Identity } from './state.ts'

/** The options of every sieve. */
export interface SharedOptions {
  /** How a URL becomes a key: a profile's name, or your own list of rules. Default `web`. */
  readonly profile?: ProfileName | readonly (RuleName | Rule)[] | Profile | undefined
  /** Default `siphash`: keyed, since pages choose the URLs. The papers' functions are for trusted input only. */
  readonly hash?: HashName | readonly HashName[] | undefined
  /** 16 bytes. A random secret unless given; give one only to repeat a result. */
  readonly key?: Uint8Array | undefined
  /** The most memory one WebAssembly instance may take; past it the filter is spread over several. Default 4 GiB. */
  readonly instanceBytes?: number | undefined
}

/** The name of the filter; the default, `fingerprint`, can be left out. */
type NamedFilter<F extends FilterName> = F extends 'fingerprint'
  ? { readonly filter?: F | undefined }
  : { readonly filter: F }

/** The options of a sieve with this filter; of any filter, a union that `filter` tells apart. */
export type SieveOptions<F extends FilterName = FilterName> = F extends FilterName
  ? SharedOptions & NamedFilter<F> & OptionsOf<(typeof filters)[F]['options']>
  : never

/** The options of a sieve whose filter is known at run time only: checked then. */
export interface AnySieveOptions extends SharedOptions, FilterOptions {
  readonly filter?: string | undefined
}

/** Options whose filter is chosen at run time: types cannot tell whether they are those of the filter, its plan checks it. */
export const chosenAtRunTime = (options: AnySieveOptions) => options as SieveOptions

/** The plan of a sieve's filter. Throws for options that the filter does not take, and for invalid ones. */
export function planSieve(kind: AnyKind, options: AnySieveOptions): Plan {
  const { filter, profile, hash, key, instanceBytes, ...own } = options
  return planFor(kind, own, chooseHash(hash, key).names)
}

/** The identity of a sieve with these options. Throws a SieveError, one line, for invalid ones. */
export function identityOf(options: AnySieveOptions): Identity {
  const kind = filterKind(options.filter ?? 'fingerprint')
  return {
    kind,
    plan: planSieve(kind, options),
    profile: resolveProfile(options.profile ?? 'web'),
    hash: chooseHash(options.hash, options.key),
  }
}

/** The options that filters take, in the order of the registry; one whose values depend on the filter is there for each. */
export const filterOptions: readonly SieveOption[] = [
  ...new Set(filterKinds.flatMap(({ options }) => options)),
]

/** The options of every sieve that are names. */
export const sharedNames = [
  {
    name: 'filter',
    kind: choice(filterNames),
    does: 'what remembers the keys',
    default: 'fingerprint',
    flag: '--filter',
    word: 'FILTER',
  },
  {
    name: 'profile',
    kind: choice(Object.keys(profiles)),
    does: 'how a URL becomes a key',
    default: 'web',
    flag: '--profile',
    word: 'PROFILE',
  },
  {
    name: 'hash',
    kind: choice(hashNames),
    does: 'how a key is hashed; siphash has a secret key',
    default: 'siphash',
    flag: '--hash',
    word: 'HASH',
  },
] as const satisfies readonly SieveOption[]
