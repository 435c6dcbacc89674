// The options of an exact sieve, and their defaults.
import type { ProfileChoice } from '../canonical/profiles.ts'
import { invalidOption } from '../errors.ts'
import { checkNumber, checkWhole } from '../filters/filter.ts'
import type { Durability } from '../journal.ts'
import { expectedUrls } from '../options/filter-options.ts'
import { checkOption } from '../options/option.ts'
import type { KeyFilterSize } from './key-filter.ts'

const CACHE_ENTRIES = 50_000

/** The options of an exact sieve. */
export interface ExactOptions {
  /** How a URL becomes a key: a profile's name, or a list of built-in rules. Default `web`; kept in the folder. */
  readonly profile?: ProfileChoice
  /** When an acknowledged URL is safe; default `interval`. */
  readonly durability?: Durability
  /** Sizes the filter's first part; it grows past it. Default a million. */
  readonly expectedUrls?: number
  /** Gives the filter a fixed size: past it, more new URLs are looked up on disk. */
  readonly filterBytes?: number
  /** How many keys the cache holds, at 150 bytes each. Default 50,000: in crawls they answer almost 80 % of tests. */
  readonly cacheEntries?: number
  /**
   * Default true: reads every file once before opening and refuses a damaged one, which LevelDB would believe. Costs
   * two to four seconds for each gigabyte.
   */
  readonly verify?: boolean
  /** Opens a damaged folder and keeps what can be kept. */
  readonly repair?: boolean
}

/** With defaults. Throws one line for an invalid value. */
export function checkOptions(options: ExactOptions): {
  durability: Durability
  cacheEntries: number
  verify: boolean
  repair: boolean
  size: KeyFilterSize
} {
  const { durability = 'interval', cacheEntries = CACHE_ENTRIES, verify = true, repair = false } = options
  if (!['always', 'interval', 'never'].includes(durability)) {
    throw invalidOption('durability', durability, 'always, interval or never')
  }
  checkWhole('cacheEntries', cacheEntries, 1, 2 ** 24)
  checkOption(expectedUrls, options.expectedUrls)
  const isSize = (n: number) => Number.isSafeInteger(n) && n >= 64
  checkNumber('filterBytes', options.filterBytes, isSize, 'a whole number of at least 64')
  return { durability, cacheEntries, verify, repair, size: options }
}
