// The options that describe a sieve, the same for every command that makes one.
import { type Command, Option } from 'commander'
import { profiles } from '../canonical/profiles.ts'
import { featureNames } from '../filters/eigenvalue.ts'
import { filterNames } from '../filters/registry.ts'
import { hashNames } from '../hashes.ts'
import type { FilterName, HashName, ProfileName, SieveOptions } from '../index.ts'
import { parseCount, parseList, parseRate, parseSize, parseWindow } from '../quantities.ts'

export interface SieveFlags {
  filter: FilterName
  profile: ProfileName
  hash: HashName[]
  urls?: number
  fpr?: number
  memory?: number
  bits?: number
  hashes?: number
  layers?: number
  depth?: 'join' | 'grow'
  bitsPerLayer?: number
  folderHashes?: number
  keywords?: number
  features?: string
  featureHashes?: number
  inner?: string
  window?: { urls?: number; ms?: number }
  generations?: number
}

/**
 * `defaults` for a command whose paper says otherwise; `moreFilters` for one that knows others than the registry's;
 * `depthFlag` for one with a --depth of its own.
 */
export function withSieveOptions(
  command: Command,
  defaults: Partial<SieveFlags> = {},
  moreFilters: readonly string[] = [],
  depthFlag = '--depth',
): Command {
  const names = Object.keys(profiles)
  return command
    .addOption(
      new Option('--filter <name>', 'what remembers the keys')
        .choices([...filterNames, ...moreFilters])
        .default(defaults.filter ?? 'fingerprint'),
    )
    .addOption(
      new Option('--profile <name>', 'how a URL becomes a key')
        .choices(names)
        .default(defaults.profile ?? 'web'),
    )
    .option(
      '--hash <names>',
      `how a key is hashed: ${hashNames.join(', ')}; several with commas`,
      parseList,
      defaults.hash ?? ['siphash'],
    )
    .option('--urls <n>', 'expected distinct URLs, for filters of a fixed size', parseCount('--urls'))
    .option('--fpr <rate>', 'promised false-positive rate at that many URLs', parseRate('--fpr'))
    .option('--memory <size>', 'memory for the filter, instead of a rate', parseSize('--memory'))
    .option('--bits <m>', "the papers' m: bits of the whole filter", parseCount('--bits'))
    .option('--hashes <k>', "the papers' k: hash functions", parseCount('--hashes'))
    .option('--layers <L>', 'multilayer, prefix-layers, keyword-layers: layers', parseCount('--layers'))
    .addOption(new Option(`${depthFlag} <way>`, 'multilayer: past the last layer').choices(['join', 'grow']))
    .option(
      '--bits-per-layer <m>',
      'multilayer, keyword-layers: bits of each layer',
      parseCount('--bits-per-layer'),
    )
    .option('--folder-hashes <k>', 'prefix-layers: hash functions of a folder', parseCount('--folder-hashes'))
    .option('--keywords <n>', 'keyword-layers: words expected in a key', parseCount('--keywords'))
    .addOption(new Option('--features <g>', 'eigenvalue: the feature function').choices(featureNames))
    .option('--inner <filter>', 'scalable, window: the filter inside')
    .option(
      '--window <n|time>',
      'window: how many URLs (10M) or how long (30d, 12h) to remember',
      parseWindow('--window'),
    )
    .option('--generations <g>', 'window: parts in which it forgets', parseCount('--generations'))
    .option(
      '--feature-hashes <d>',
      'eigenvalue: hash functions of the feature',
      parseCount('--feature-hashes'),
    )
}

export function sieveOptions(flags: SieveFlags): SieveOptions {
  return {
    filter: flags.filter,
    profile: flags.profile,
    hash: flags.hash,
    expectedUrls: flags.urls,
    falsePositiveRate: flags.fpr,
    sizeBytes: flags.memory,
    bits: flags.bits,
    hashes: flags.hashes,
    layers: flags.layers,
    depth: flags.depth,
    bitsPerLayer: flags.bitsPerLayer,
    folderHashes: flags.folderHashes,
    keywords: flags.keywords,
    features: flags.features,
    featureHashes: flags.featureHashes,
    inner: flags.inner,
    windowUrls: flags.window?.urls,
    windowMs: flags.window?.ms,
    generations: flags.generations,
  }
}
