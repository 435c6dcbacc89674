// The flags of limits by shape, for the commands that keep or drop URLs.
import type { Command } from 'commander'
import { type ProfileChoice, resolveProfile } from '../canonical/profiles.ts'
import { parseCount, parseList, parseRate } from '../quantities.ts'
import type { ShapeLimitOptions } from '../shapes/shape-limits.ts'
import { stripRule } from '../shapes/strip-rule.ts'
import { CommandError, EXIT } from './exit.ts'

export interface LimitFlags {
  keepPerShape?: number
  keepPerTrap?: number
  maxShare?: number
  maxCrawlShare?: number
  maxRepeats?: number
  queryNames?: boolean
  assets?: string
  allowAssets?: string[]
  denyAssets?: string[]
  strip?: string[]
  dropped?: string
}

export function withLimitOptions(command: Command): Command {
  return command
    .optionsGroup('Limits by shape:')
    .option('--keep-per-shape <n>', 'keep this many new URLs of each shape', parseCount('--keep-per-shape'))
    .option(
      '--max-share <rate>',
      "largest share of a host's new URLs for one shape: 5%",
      parseRate('--max-share'),
    )
    .option(
      '--max-crawl-share <rate>',
      'largest share of all new URLs for one shape of a host: 5%',
      parseRate('--max-crawl-share'),
    )
    .option(
      '--keep-per-trap <n>',
      'keep this many of each suspicious shape: calendars, sessions, …',
      parseCount('--keep-per-trap'),
    )
    .option(
      '--max-repeats <n>',
      'drop paths in which a segment comes up more often',
      parseCount('--max-repeats'),
    )
    .option('--query-names', 'of one path keep only URLs with a new set of parameter names')
    .option('--assets <skip>', 'skip: drop images, styles, scripts, archives, … by extension')
    .option('--allow-assets <list>', 'extensions that are kept: svg,pdf', parseList)
    .option('--deny-assets <list>', 'further extensions that are dropped: pdf,doc', parseList)
    .option('--strip <host/path=names>', 'leave parameters out of the keys (repeat for more)', collect)
    .optionsGroup('Options:')
}

const collect = (value: string, before: string[] = []) => [...before, value]

/** The limits that the flags describe; null: none. */
export function limitsOf(flags: LimitFlags): ShapeLimitOptions | null {
  const { keepPerShape, keepPerTrap, maxShare, maxCrawlShare, maxRepeats } = flags
  const { queryNames, allowAssets, denyAssets } = flags
  if (flags.assets !== undefined && flags.assets !== 'skip')
    throw new CommandError(EXIT.usage, `--assets ${flags.assets}: expected skip`)
  const hasAssets = flags.assets !== undefined || allowAssets !== undefined || denyAssets !== undefined
  const options: ShapeLimitOptions = {
    ...(keepPerShape !== undefined && { keepPerShape }),
    ...(keepPerTrap !== undefined && { keepPerTrap }),
    ...(maxShare !== undefined && { maxShare }),
    ...(maxCrawlShare !== undefined && { maxCrawlShare }),
    ...(maxRepeats !== undefined && { maxRepeats }),
    ...(queryNames && { queryNames }),
    ...(hasAssets && {
      assets: { ...(allowAssets && { allow: allowAssets }), ...(denyAssets && { deny: denyAssets }) },
    }),
  }
  return Object.keys(options).length > 0 ? options : null
}

/** The profile with the rules of `--strip` behind its own. */
export function strippedProfile(profile: ProfileChoice, { strip = [] }: LimitFlags): ProfileChoice {
  if (strip.length === 0) return profile
  return [...resolveProfile(profile).rules, ...strip.map(stripRule)]
}
