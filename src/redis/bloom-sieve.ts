// A sieve on a server with BF.* commands: RedisBloom, valkey-bloom or `urlsieve serve`. The keys of the URLs are the items, so
// that any other client of the same filter agrees. A repeated BF.INSERT answers "seen" for what its first attempt marked:
// such verdicts are reported as unknown. `urlsieve serve` has the first answers of a call with a number (SIEVE.CALL).
import { crc32 } from 'node:zlib'
import { keyOf, type Profile, type ProfileChoice, resolveProfile } from '../canonical/profiles.ts'
import { invalidOption, option, optionConflict, SieveError, wording } from '../errors.ts'
import { expectedUrls, falsePositiveRate } from '../options/filter-options.ts'
import { checkOption } from '../options/option.ts'
import { checkUrls } from '../url-input.ts'
import type { CallMetrics } from './call-metrics.ts'
import { Calls, type Patience, patienceOf } from './calls.ts'
import { type RedisClient, scriptClient } from './client.ts'
import { checkName } from './parameters.ts'
import { RedisSieveError, UNKNOWN } from './partial-error.ts'
import { evenTags } from './slots.ts'

export interface BloomRedisSieveOptions extends Omit<Patience, 'waitReplicas' | 'waitAof'> {
  readonly client: RedisClient
  /** The key of the filter; with several tags the end of their keys. */
  readonly name: string
  /** How a URL becomes an item. Default `web`. */
  readonly profile?: ProfileChoice
  /** Capacity of the filter when it is created; it grows. */
  readonly expectedUrls: number
  /** Error rate of the filter when it is created. */
  readonly falsePositiveRate: number
  /** Filters over which the URLs are spread, a power of two, the same for every process. Default 1. */
  readonly tags?: number
}

/** Items of one command: about a millisecond of the server. */
const MOST_PER_CALL = 1000
const MOST_TAGS = 16_384

/** The items of one filter, and their places in the list. */
interface Group {
  readonly items: string[]
  readonly indexes: number[]
}

/**
 * Answers "have I seen this URL?", and marks it, for every process that uses the same filter. Errs towards "seen" at the
 * filter's rate and where the profile's rules merge pages; towards "new" when the server loses what it acknowledged.
 */
export class BloomRedisSieve {
  readonly name: string
  readonly profile: Profile
  readonly #calls: Calls
  readonly #keys: readonly string[]
  readonly #creation: readonly string[]
  /** The name of this object's calls, while the server that gave it runs; null: the server has none. */
  #caller: string | null = null
  #number = 0

  private constructor(options: BloomRedisSieveOptions, keys: readonly string[]) {
    const { client, name, tags = 1 } = options
    this.name = name
    this.profile = resolveProfile(options.profile ?? 'web')
    this.#keys = keys
    this.#calls = new Calls(scriptClient(client), keys, patienceOf(options))
    const capacity = Math.ceil(options.expectedUrls / tags)
    // An add to a filter that is gone creates it again with the same parameters, and not with the server's defaults.
    this.#creation = ['CAPACITY', String(capacity), 'ERROR', String(options.falsePositiveRate)]
  }

  /** Fails when the server has no BF.* commands. The filters are created by the first adds. */
  static async open(options: BloomRedisSieveOptions): Promise<BloomRedisSieve> {
    const { name, tags = 1 } = options
    checkName(name)
    for (const one of [expectedUrls, falsePositiveRate]) {
      if (options[one.name] === undefined) {
        throw optionConflict(one.name, wording`${option(one.name)} is missing: expected ${one.kind.valid}`)
      }
      checkOption(one, options[one.name])
    }
    if (!Number.isInteger(Math.log2(tags)) || tags < 1 || tags > MOST_TAGS) {
      throw invalidOption('tags', tags, `a power of two from 1 to ${MOST_TAGS}`)
    }
    const keys = tags === 1 ? [name] : evenTags(tags).map((tag) => `{${tag}}${name}`)
    const sieve = new BloomRedisSieve(options, keys)
    await sieve.#count(keys[0]!)
    await sieve.#name()
    return sieve
  }

  /** Counts and events of this object's calls. */
  get metrics(): CallMetrics {
    return this.#calls.metrics
  }

  /** Marks a URL. True: it is new. */
  async add(url: string): Promise<boolean> {
    return (await this.addMany([url]))[0] === 1
  }

  /** Whether a URL was seen. Marks nothing. */
  async has(url: string): Promise<boolean> {
    return (await this.hasMany([url]))[0] === 1
  }

  /**
   * Marks many URLs: one verdict each, in order, 1 new and 0 seen. Throws a RedisSieveError with the verdicts that are known
   * when the server fails, and when an answer was lost: what the repeated command calls seen may be new.
   */
  addMany(urls: readonly string[]): Promise<Uint8Array> {
    return this.#run(urls, async (key, items) => {
      const command = ['BF.INSERT', key, ...this.#creation, 'ITEMS', ...items]
      const { reply, isUnsure } = await this.#insert(key, command)
      return verdictsOf(reply, items).map((verdict) => (verdict === 0 && isUnsure ? UNKNOWN : verdict))
    })
  }

  // `isUnsure`: the server may have executed it before.
  async #insert(key: string, command: string[]): Promise<{ reply: unknown; isUnsure: boolean }> {
    const sent = { isRepeated: false }
    const caller = this.#caller
    if (caller === null) {
      const reply = await this.#calls.commandOnce(key, command, sent)
      return { reply, isUnsure: sent.isRepeated }
    }
    const call = ['SIEVE.CALL', caller, String(++this.#number), ...command]
    try {
      return { reply: await this.#calls.commandOnce(key, call, sent), isUnsure: false }
    } catch (error) {
      if (!(error instanceof SieveError) || !/\bNOCALLER\b/.test(error.message)) throw error
      // The server was restarted, perhaps after it had executed the call.
      if (this.#caller === caller) await this.#name()
      const { reply, isUnsure } = await this.#insert(key, command)
      return { reply, isUnsure: isUnsure || sent.isRepeated }
    }
  }

  async #name(): Promise<void> {
    const key = this.#keys[0]!
    try {
      this.#caller = String(await this.#calls.command(key, ['SIEVE.CALLER']))
    } catch (error) {
      if (!(error instanceof SieveError) || !/unknown command/i.test(error.message)) throw error
      this.#caller = null
    }
  }

  /** Whether each of many URLs was seen: in order, 1 seen and 0 not. Marks nothing. Fails as `addMany`. */
  hasMany(urls: readonly string[]): Promise<Uint8Array> {
    return this.#run(urls, async (key, items) =>
      verdictsOf(await this.#calls.command(key, ['BF.MEXISTS', key, ...items]), items),
    )
  }

  /** The number of URLs in the filters (BF.CARD). */
  async count(): Promise<number> {
    const counts = await Promise.all(this.#keys.map((key) => this.#count(key)))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** Deletes the filters. */
  async drop(): Promise<void> {
    await Promise.all(this.#keys.map((key) => this.#calls.command(key, ['DEL', key])))
  }

  async #count(key: string): Promise<number> {
    try {
      return Number(await this.#calls.command(key, ['BF.CARD', key]))
    } catch (error) {
      if (!(error instanceof SieveError) || !/unknown command/i.test(error.message)) throw error
      throw new SieveError(
        'option',
        'this server has no BF.* commands: expected RedisBloom, valkey-bloom or urlsieve serve; RedisSieve needs none of them',
      )
    }
  }

  // Filters are called side by side, each with one command after another: of equal URLs the first is new.
  async #run(
    urls: readonly string[],
    call: (key: string, items: readonly string[]) => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    checkUrls(urls)
    const verdicts = new Uint8Array(urls.length).fill(UNKNOWN)
    const calls = this.#groupsOf(urls).map(async ({ items, indexes }, tag) => {
      for (let from = 0; from < items.length; from += MOST_PER_CALL) {
        const answers = await call(this.#keys[tag]!, items.slice(from, from + MOST_PER_CALL))
        for (let i = 0; i < answers.length; i++) verdicts[indexes[from + i]!] = answers[i]!
      }
    })
    const failed = (await Promise.allSettled(calls)).find((one) => one.status === 'rejected')
    const unknown = verdicts.reduce((sum, verdict) => sum + Number(verdict === UNKNOWN), 0)
    if (!failed && unknown === 0) return verdicts
    const error = failed ? failed.reason : lostAnswer(unknown)
    if (!(error instanceof SieveError)) throw error
    this.metrics.observeUnknown(unknown, error)
    throw new RedisSieveError(error, verdicts)
  }

  #groupsOf(urls: readonly string[]): Group[] {
    const groups: Group[] = this.#keys.map(() => ({ items: [], indexes: [] }))
    for (const [i, url] of urls.entries()) {
      const item = keyOf(this.profile, url) ?? url
      const group = groups[groups.length === 1 ? 0 : crc32(item) & (groups.length - 1)]!
      group.items.push(item)
      group.indexes.push(i)
    }
    return groups
  }
}

// RESP2 has 1 and 0, RESP3 booleans; an item that could not be marked is an error in their place.
function verdictsOf(reply: unknown, items: readonly string[]): Uint8Array {
  const answers = Array.isArray(reply) ? reply : []
  if (answers.length !== items.length) {
    throw new SieveError('corrupt', `Redis returned ${answers.length} answers: expected ${items.length}`)
  }
  const bad = answers.find((answer) => ![0, 1, true, false].includes(answer as number))
  if (bad !== undefined)
    throw new SieveError('network', `Redis refuses: ${String((bad as Error)?.message ?? bad)}`)
  return Uint8Array.from(answers, Number)
}

function lostAnswer(unknown: number): SieveError {
  return new SieveError(
    'network',
    `an answer of Redis was lost, and BF.INSERT repeated: of ${unknown} URLs it is unknown whether they were new`,
  )
}
