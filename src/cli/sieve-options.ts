// The options that describe a sieve, the same for every command that makes one.
import { type Command, Option } from 'commander'
import { profiles } from '../canonical/profiles.ts'
import { filterNames } from '../filters/registry.ts'
import { hashNames } from '../hashes.ts'
import type { FilterName, HashName, ProfileName, SieveOptions } from '../index.ts'
import { count, list, rate, size } from './values.ts'

export interface SieveFlags {
  filter: FilterName
  profile: ProfileName
  hash: HashName[]
  urls?: number
  fpr?: number
  memory?: number
}

export function withSieveOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--filter <name>', 'what remembers the keys').choices(filterNames).default('fingerprint'),
    )
    .addOption(
      new Option('--profile <name>', 'how a URL becomes a key').choices(Object.keys(profiles)).default('web'),
    )
    .option('--hash <names>', `how a key is hashed: ${hashNames.join(', ')}; several with commas`, list, [
      'siphash',
    ])
    .option('--urls <n>', 'expected distinct URLs, for filters of a fixed size', count('--urls'))
    .option('--fpr <rate>', 'promised false-positive rate at that many URLs', rate('--fpr'))
    .option('--memory <size>', 'memory for the filter, instead of a rate', size('--memory'))
}

export function sieveOptions(flags: SieveFlags): SieveOptions {
  return {
    filter: flags.filter,
    profile: flags.profile,
    hash: flags.hash,
    expectedUrls: flags.urls,
    falsePositiveRate: flags.fpr,
    sizeBytes: flags.memory,
  }
}
