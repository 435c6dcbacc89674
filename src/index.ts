// The public API: re-exports only. It imports no dependency and nothing of Node, so it works in a browser bundle.
export type { Step } from './canonical/explain.ts'
export { type Profile, type ProfileName, profiles } from './canonical/profiles.ts'
export { type Rule, type RuleName, rules } from './canonical/rules.ts'
export type { CommandRun, Commands } from './commands.ts'
export {
  type ContentOptions,
  ContentSieve,
  type ContentStats,
  type ContentVerdict,
} from './content/content-sieve.ts'
export { SieveError, type SieveErrorCode } from './errors.ts'
export type { Feed, FeedOptions } from './feed.ts'
export type { Capabilities, FilterOptions, LayerMeasure, Plan, SizeRequest } from './filters/filter.ts'
export {
  type DeletingFilterName,
  type FilterName,
  type FolderFilterName,
  filterNames,
  filters,
} from './filters/registry.ts'
export { type FreezeOptions, type FrozenSieve, freeze } from './freeze.ts'
export { type HashName, hashDescriptions, hashNames } from './hashes.ts'
export {
  type DeletingSieve,
  type Explanation,
  type FolderSieve,
  type Items,
  Sieve,
  type SieveOf,
  type SieveOptions,
  type Stats,
} from './sieve.ts'
export type { Durability, StoreInfo, StoreOptions } from './state.ts'
