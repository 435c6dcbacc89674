// What a sieve on Redis is: its parameters, written down once under its name and read by every process that opens it.
import {
  isStoredAs,
  type Profile,
  type ProfileChoice,
  resolveProfile,
  type StoredProfile,
} from '../canonical/profiles.ts'
import { type Rule, type RuleName, rules } from '../canonical/rules.ts'
import { invalidOption, option, SieveError, wording } from '../errors.ts'
import { checkNumber, checkWhole } from '../filters/filter.ts'
import { expectedUrls, falsePositiveRate } from '../options/filter-options.ts'
import { checkOption } from '../options/option.ts'

const VERSION = 1
/** Of a sieve that has got more tags. */
const VERSION_MORE_TAGS = 2
/** URLs in a set on average; a set holds at most twice as many, far from the 512 up to which Redis packs them. */
const MEAN_URLS = 192
/** Hashes have 64 bits: a tag and a cell take 11 of them, a member the other 53, all that Lua's numbers can hold. */
const CELL_BITS = 11
const COMPACT_BITS = 32
const DEFAULT_TAGS = 32
const MOST_TAGS = 16384
const DEFAULT_GENERATIONS = 4

/**
 * `fingerprint`: 64 bits of a hash, practically exact, about 9 bytes per URL, no capacity to choose. `compact`: about 5
 * bytes per URL; errs towards "seen" at 4.5e-8 when it holds its expectedUrls, in proportion when it holds more.
 */
export type Mode = 'fingerprint' | 'compact'

export interface Shape {
  /** Default `fingerprint`. */
  readonly mode?: Mode
  /** How a URL becomes a key: a profile's name, or a list of built-in rules. Default `web`. */
  readonly profile?: ProfileChoice
  /** Needed for `compact`; for `fingerprint` it saves the growing. */
  readonly expectedUrls?: number
  /** For `compact`: the promise, not under 4.5e-8. */
  readonly falsePositiveRate?: number
  /** In how many parts the hashes are spread over the nodes: a power of two, a few for each node. Default 32. */
  readonly tags?: number
  /** Forgets a URL after so long, and not before (generations − 1) / generations of it. */
  readonly windowMs?: number
  /** Of a window: the parts in which it forgets. Default 4; each costs time. */
  readonly generations?: number
  /** 16 bytes. A random secret unless given. */
  readonly key?: Uint8Array
  /** Written down with the others, for whoever reads `parameters`; says nothing to the sieve. */
  readonly notes?: Readonly<Record<string, number>>
}

/** A number of tags, and the sets of each to begin with, before so many doublings. */
interface Tags {
  readonly tags: number
  readonly base: number
  readonly doublings: number
}

/** As it lies in Redis, as JSON. */
export interface Parameters extends Tags {
  readonly version: number
  readonly mode: Mode
  readonly profile: StoredProfile
  readonly key: string
  readonly expectedUrls: number | null
  readonly falsePositiveRate: number | null
  readonly windowMs: number | null
  readonly generations: number
  /** URLs a set on average. */
  readonly meanUrls: number
  /** The tags that it had before, first to last: what was added then is there. */
  readonly earlier?: readonly Tags[]
  readonly notes?: Readonly<Record<string, number>>
  readonly createdAt: string
}

export function checkName(name: unknown, what = 'name'): asserts name is string {
  if (typeof name === 'string' && /^[!-z~]{1,200}$/.test(name)) return
  throw new SieveError(
    'option',
    `${what} ${JSON.stringify(name)}: expected up to 200 ASCII letters, digits and signs, but no space, { } or |`,
  )
}

/** The parameters that a shape asks for. */
export function parametersFor(shape: Shape): Parameters {
  const { mode = 'fingerprint', tags = DEFAULT_TAGS, windowMs, falsePositiveRate } = shape
  const generations = windowMs === undefined ? 1 : (shape.generations ?? DEFAULT_GENERATIONS)
  check(shape)
  const profile = resolveProfile(shape.profile ?? 'web')
  const key = shape.key ?? crypto.getRandomValues(new Uint8Array(16))
  return {
    version: VERSION,
    mode,
    profile: { name: profile.name, rules: profile.rules.map(ruleName) },
    key: Buffer.from(key).toString('hex'),
    expectedUrls: shape.expectedUrls ?? null,
    falsePositiveRate: falsePositiveRate ?? null,
    windowMs: windowMs ?? null,
    generations,
    tags,
    ...setsFor(mode, tags, shape.expectedUrls, generations),
    meanUrls: MEAN_URLS,
    ...(shape.notes && { notes: shape.notes }),
    createdAt: new Date().toISOString(),
  }
}

function setsFor(
  mode: Mode,
  tags: number,
  urls: number | undefined | null,
  generations: number,
): { base: number; doublings: number } {
  const wanted = Math.max(1, Math.ceil(Math.ceil((urls ?? 0) / generations) / (tags * MEAN_URLS)))
  if (mode === 'compact') return { base: wanted, doublings: 0 }
  const base = Math.max(1, 2 ** CELL_BITS / tags)
  return { base, doublings: Math.max(0, Math.ceil(Math.log2(wanted / base))) }
}

/** The parameters of the same sieve with more tags. */
export function withMoreTags(name: string, there: Parameters, tags: number): Parameters {
  // With a tag in every slot some would be those that it has.
  checkTags(tags, MOST_TAGS / 2)
  if (tags <= there.tags) {
    throw new SieveError(
      'option',
      wording`${option('tags')} ${tags}: sieve '${name}' has ${there.tags}, expected more`,
      { option: 'tags', got: tags, expected: `more than ${there.tags}` },
    )
  }
  if (there.mode === 'compact') {
    throw new SieveError(
      'option',
      `sieve '${name}' is of mode 'compact', which is sized once: expected 'fingerprint'`,
    )
  }
  const { mode, expectedUrls, generations, earlier = [] } = there
  const { tags: before, base, doublings } = there
  return {
    ...there,
    version: VERSION_MORE_TAGS,
    tags,
    ...setsFor(mode, tags, expectedUrls, generations),
    earlier: [...earlier, { tags: before, base, doublings }],
  }
}

function checkTags(tags: number | undefined, most = MOST_TAGS): void {
  const isPower = (n: number) => Number.isInteger(Math.log2(n)) && n >= 1 && n <= most
  checkNumber('tags', tags, isPower, `a power of two from 1 to ${most}`)
}

function check({ mode = 'fingerprint', tags, windowMs, ...shape }: Shape): void {
  if (mode !== 'fingerprint' && mode !== 'compact') {
    throw invalidOption('mode', mode, 'fingerprint or compact')
  }
  checkOption(expectedUrls, shape.expectedUrls)
  checkOption(falsePositiveRate, shape.falsePositiveRate)
  checkTags(tags)
  checkNumber('windowMs', windowMs, (ms) => ms >= 1000, 'at least 1000 milliseconds')
  checkWhole('generations', shape.generations, 2, 64)
  if (shape.generations !== undefined && windowMs === undefined) {
    throw new SieveError(
      'option',
      wording`${option('generations')} without ${option('windowMs')}: expected both, or neither`,
      { option: 'generations', got: shape.generations, expected: 'both, or neither' },
    )
  }
  if (shape.key && shape.key.length !== 16) {
    throw new SieveError(
      'option',
      wording`${option('key')} of ${shape.key.length} bytes: expected 16 bytes`,
      {
        option: 'key',
        got: shape.key.length,
        expected: '16 bytes',
      },
    )
  }
  if (mode !== 'compact') {
    if (shape.falsePositiveRate === undefined) return
    throw new SieveError(
      'option',
      wording`${option('falsePositiveRate')} is for mode 'compact': 'fingerprint' is practically exact`,
      { option: 'falsePositiveRate', got: shape.falsePositiveRate, expected: "mode 'compact'" },
    )
  }
  if (shape.expectedUrls === undefined) {
    throw new SieveError(
      'option',
      wording`mode 'compact' needs ${option('expectedUrls')}: the number of URLs it holds at most`,
      { option: 'expectedUrls', expected: 'the number of URLs it holds at most' },
    )
  }
  const least = MEAN_URLS / 2 ** COMPACT_BITS
  if (shape.falsePositiveRate !== undefined && shape.falsePositiveRate < least) {
    throw new SieveError(
      'option',
      wording`${option('falsePositiveRate')} ${shape.falsePositiveRate}: mode 'compact' errs at ${least.toExponential(1)}; use 'fingerprint'`,
      {
        option: 'falsePositiveRate',
        got: shape.falsePositiveRate,
        expected: `at least ${least.toExponential(1)}`,
      },
    )
  }
}

// A rule that others can read from its name.
function ruleName(rule: Rule): string {
  if (rules[rule.name as RuleName] === rule) return rule.name
  throw new SieveError('option', `rule '${rule.name}' is not built in: other processes could not know it`)
}

/** What was written down under `name`, or one clear line. */
export function readParameters(name: string, text: string): Parameters {
  let read: Parameters | null
  try {
    read = JSON.parse(text) as Parameters | null
  } catch {
    throw new SieveError('corrupt', `sieve '${name}' is damaged: its parameters are no JSON`)
  }
  if (read?.version === VERSION || read?.version === VERSION_MORE_TAGS) return read
  throw new SieveError(
    'version',
    `sieve '${name}' has version ${read?.version}: this urlsieve reads versions ${VERSION} and ${VERSION_MORE_TAGS}`,
  )
}

/**
 * Throws when a shape asks for something else than what is there. What it leaves out is as it is, and it may ask for the tags that
 * the sieve had before.
 */
export function checkShape(name: string, there: Parameters, shape: Shape): void {
  const { mode, expectedUrls, falsePositiveRate, windowMs, generations } = shape
  const isEarlier = there.earlier?.some(({ tags }) => tags === shape.tags) ?? false
  const tags = isEarlier ? there.tags : shape.tags
  const asked = { mode, expectedUrls, falsePositiveRate, tags, windowMs, generations }
  for (const [of, value] of Object.entries(asked)) {
    const its = there[of as keyof typeof asked]
    if (value !== undefined && value !== its) throw otherwise(name, of, its ?? 'none', value)
  }
  if (shape.profile !== undefined && !isStoredAs(shape.profile, there.profile)) {
    throw otherwise(name, 'profile', there.profile.name, resolveProfile(shape.profile).name)
  }
  if (shape.key !== undefined && Buffer.from(shape.key).toString('hex') !== there.key) {
    throw otherwise(name, 'key', 'of its own', 'this one')
  }
}

function otherwise(name: string, of: string, its: string | number, asked: string | number): SieveError {
  return new SieveError(
    'option',
    wording`sieve '${name}' has ${option(of)} ${its}, not ${asked}: leave the option out, or use another name`,
    { option: of, got: asked, expected: String(its) },
  )
}

/** The profile that was written down. */
export function profileOf({ profile }: Parameters): Profile {
  return { ...resolveProfile(profile.rules as RuleName[]), name: profile.name }
}

/** The chance that a new URL is answered "seen" when so many are remembered. */
export function rateAt({ mode, tags, base }: Parameters, urls: number): number {
  return mode === 'fingerprint' ? urls / 2 ** 64 : Math.min(1, urls / (tags * base * 2 ** COMPACT_BITS))
}
