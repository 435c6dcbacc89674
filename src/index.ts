// The public API: re-exports only. It imports no dependency and nothing of Node, so it works in a browser bundle.
export type { AddOptions, Answer, AnySieve, AnyStats, Explanation, Stats } from './any-sieve.ts'
export type { Step } from './canonical/explain.ts'
export { type Profile, type ProfileName, profiles } from './canonical/profiles.ts'
export { type Rule, type RuleName, rules } from './canonical/rules.ts'
export {
  type ContentOptions,
  ContentSieve,
  type ContentStats,
  type ContentVerdict,
} from './content/content-sieve.ts'
export { SieveError, type SieveErrorCode } from './errors.ts'
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
export type { Durability, StoreInfo, StoreOptions } from './journal.ts'
export type { Feed, FeedOptions } from './lines/feed.ts'
export { keepLines } from './lines/keep.ts'
export { type LineBatch, siftLines } from './lines/sift.ts'
export { type CommandRun, Commands } from './run/commands.ts'
export { type DeletingSieve, type FolderSieve, Sieve, type SieveOf } from './sieve.ts'
export type { SieveOptions } from './sieve-options.ts'
export type { Items } from './url-input.ts'
