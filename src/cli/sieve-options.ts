// The flags that describe a sieve, the same for every command that creates one: they follow from the descriptions of the
// options. Help shows those that most people need; `urlsieve help filters` lists the others under their filter.
import { type Command, Option } from 'commander'
import { profiles } from '../canonical/profiles.ts'
import { filterNames } from '../filters/registry.ts'
import { hashNames } from '../hashes.ts'
import type { FilterName, HashName, ProfileName } from '../index.ts'
import { connectionOptions, durabilityOptions } from '../options/connection-options.ts'
import { usage } from '../options/option.ts'
import { bySpelling, readOption } from '../options/spelling.ts'
import { parseList } from '../quantities.ts'
import { chosenAtRunTime, filterOptions, type SieveOptions } from '../sieve-options.ts'

export interface SieveFlags {
  filter: FilterName
  profile: ProfileName
  hash: HashName[]
  urls?: number
  fpr?: number
  memory?: number
  bits?: number
  hashes?: number
  window?: { readonly windowUrls?: number; readonly windowMs?: number }
  generations?: number
}

interface Setup {
  /** Defaults of a command whose paper has others. */
  readonly defaults?: Partial<Pick<SieveFlags, 'filter' | 'profile' | 'hash'>>
  /** Filters of a command that knows others than the registry's. */
  readonly moreFilters?: readonly string[]
  /** Flags under another name, where a command has a flag of the same name itself. */
  readonly renamed?: Readonly<Record<string, string>>
}

/** Flags in the help of every command that creates a sieve. */
const SHOWN = ['--urls', '--fpr', '--memory']

export function withSieveOptions(command: Command, setup: Setup = {}): Command {
  const { defaults = {}, moreFilters = [], renamed = {} } = setup
  command
    .optionsGroup('Sieve:')
    .addOption(
      new Option('--filter <name>', 'what remembers the keys')
        .choices([...filterNames, ...moreFilters])
        .default(defaults.filter ?? 'fingerprint'),
    )
    .addOption(profileOption(defaults.profile ?? 'web'))
    .option(
      '--hash <names>',
      `how a key is hashed: ${hashNames.join(', ')}; several with commas`,
      parseList,
      defaults.hash ?? ['siphash'],
    )
  for (const [flag, options] of bySpelling(filterOptions, (option) => option.flag)) {
    const [first] = options
    const spelled = renamed[flag] ?? flag
    const option = new Option(usage({ ...first!, flag: spelled }), first!.does).argParser((text: string) => {
      const { name, value } = readOption(spelled, options, text)
      return options.length === 1 ? value : { [name]: value }
    })
    command.addOption(SHOWN.includes(flag) ? option : option.hideHelp())
  }
  return command
    .optionsGroup('Options:')
    .addHelpText('after', "\nFurther options, by filter: see 'urlsieve help filters'.")
    .hook('preAction', async (_, running) => {
      flagNames = renamed
      await loadProfile(running)
    })
}

// A profile by its name, or a file of learned rules.
function profileOption(byDefault: string): Option {
  const option = new Option('--profile <name>', 'how a URL becomes a key; or a file of learned rules, .json')
    .choices(Object.keys(profiles))
    .default(byDefault)
  const byName = option.parseArg!
  return option.argParser((text: string, before: unknown) =>
    text.endsWith('.json') ? text : byName(text, before as string),
  )
}

// Learned rules are read before the command runs, and their code is loaded only then.
async function loadProfile(command: Command): Promise<void> {
  const { profile } = command.opts<{ profile?: unknown }>()
  if (typeof profile !== 'string' || !profile.endsWith('.json')) return
  const [{ readRules }, { learnedProfile }] = await Promise.all([
    import('./learn.ts'),
    import('../learn/rule-file.ts'),
  ])
  command.setOptionValueWithSource('profile', learnedProfile(readRules(profile)), 'cli')
}

/** The flags of the running command that have another name than described. */
let flagNames: Readonly<Record<string, string>> = {}

/** Options that only the command and the stores have. */
const OTHER_FLAGS: Readonly<Record<string, string>> = {
  filter: '--filter',
  profile: '--profile',
  hash: '--hash',
  mode: '--filter',
  keepKeys: '--keep-keys',
  durability: '--durability',
  retryMs: '--redis-retry',
  ...Object.fromEntries([...connectionOptions, ...durabilityOptions].map(({ name, flag }) => [name, flag])),
  maxMemory: '--max-memory',
}

/** An option of the library as the command spells it. */
export function flagOf(name: string): string {
  const flag = filterOptions.find((option) => option.name === name)?.flag
  return flag === undefined ? (OTHER_FLAGS[name] ?? name) : (flagNames[flag] ?? flag)
}

/** The options of the sieve that the flags describe. */
export function sieveOptions(
  flags: SieveFlags,
  renamed: Readonly<Record<string, string>> = {},
): SieveOptions {
  const { filter, profile, hash } = flags
  const given: Record<string, unknown> = { filter, profile, hash }
  for (const [flag, options] of bySpelling(filterOptions, (option) => option.flag)) {
    const value = (flags as unknown as Record<string, unknown>)[attributeOf(renamed[flag] ?? flag)]
    if (value === undefined) continue
    if (options.length === 1) given[options[0]!.name] = value
    else Object.assign(given, value)
  }
  return chosenAtRunTime(given)
}

const attributeOf = (flag: string) => new Option(flag).attributeName()
