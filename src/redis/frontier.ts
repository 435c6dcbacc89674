// A frontier on Redis or Valkey, one node or a cluster: what is to be fetched, shared by any number of crawlers. What a
// crawler takes is leased to it; the lease is renewed while the crawler lives and returns the text when it does not.
import { checkWhole } from '../filters/filter.ts'
import { Calls, type Patience, patienceOf } from './calls.ts'
import { type Argument, type RedisClient, scriptClient } from './client.ts'
import { frontierScripts, HANDLED, STATE } from './frontier-scripts.ts'
import { checkName } from './parameters.ts'
import type { Script } from './scripts.ts'
import { evenTags } from './slots.ts'

export interface RedisFrontierOptions extends Patience {
  /** A connected client of the package `redis`: createClient, createClientPool, createCluster or createSentinel. */
  readonly client: RedisClient
  /** Which frontier: any number of them live on one cluster, each on one node of it. */
  readonly name: string
  /** After this long without a sign of life, what a crawler has taken returns. Default 60,000. */
  readonly leaseMs?: number
}

/**
 * Whether the sieve has marked the URL of a text: `marked`; `unsure`: perhaps, since a crawler ended on the way;
 * `unmarked`: it could not be queried.
 */
export type MarkState = keyof typeof STATE

/** A text that is leased to this crawler until `finish` or `again`. */
export interface LeasedText {
  readonly token: string
  readonly text: string
  readonly state: MarkState
}

export interface FrontierCounts {
  /** Texts that `next` would return now. */
  readonly waiting: number
  /** All texts that are not finished: waiting, leased to a crawler, or held. */
  readonly unfinished: number
  readonly handled: number
  /** Leases that ended without a word of their crawler. */
  readonly expired: number
}

const DEFAULT_LEASE_MS = 60_000
const LEAST_LEASE_MS = 100
const MOST_LEASE_MS = 86_400_000
/** Leases renewed in one call. */
const MOST_TOGETHER = 1000
const KEY_NAMES = ['texts', 'guard', 'pending', 'leased', 'takings', 'answered', 'counts']
/** Keys of many nodes, to find out who owns a slot when its node is silent. */
const SOME_KEYS = evenTags(32).map((tag) => `urlsieve:{${tag}}:`)

const STATES = new Map(Object.entries(STATE).map(([state, character]) => [character as string, state]))

export class RedisFrontier {
  readonly name: string
  readonly leaseMs: number
  readonly createdAt: Date
  readonly #calls: Calls
  readonly #keys: readonly string[]
  /** This object's own name among the tokens. */
  readonly #client = Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString('base64url')
  /** Leases to renew. */
  readonly #leases = new Set<string>()
  readonly #heartbeat: NodeJS.Timeout
  #tokens = 0
  #isRenewing = false

  private constructor(name: string, leaseMs: number, createdAt: Date, calls: Calls, keys: readonly string[]) {
    this.name = name
    this.leaseMs = leaseMs
    this.createdAt = createdAt
    this.#calls = calls
    this.#keys = keys
    this.#heartbeat = setInterval(() => void this.#renew(), leaseMs / 3)
    this.#heartbeat.unref()
  }

  /** Opens the frontier of that name, or creates it. */
  static async open(options: RedisFrontierOptions): Promise<RedisFrontier> {
    const { client, name, leaseMs = DEFAULT_LEASE_MS } = options
    checkName(name)
    checkWhole('leaseMs', leaseMs, LEAST_LEASE_MS, MOST_LEASE_MS)
    const calls = new Calls(scriptClient(client), SOME_KEYS, patienceOf(options))
    const keys = KEY_NAMES.map((key) => `urlsieve:{frontier:${name}}:${key}`)
    const counts = keys.at(-1)!
    await calls.command(counts, ['HSETNX', counts, 'createdAt', String(Date.now())])
    const createdAt = new Date(Number(await calls.command(counts, ['HGET', counts, 'createdAt'])))
    return new RedisFrontier(name, leaseMs, createdAt, calls, keys)
  }

  /**
   * Writes texts and returns their token. `next` returns them once they are released, or when the lease
   * ends because this crawler does.
   */
  async hold(texts: readonly string[]): Promise<string> {
    const token = this.#token()
    await this.#run(frontierScripts.hold, [token, String(this.leaseMs), ...texts])
    this.#leases.add(token)
    return token
  }

  /**
   * Releases the texts of a token without those at the indexes `withdrawn`, which are counted if the state is `handled`; at the
   * end, or (`first`) before all others.
   * False: the lease had ended, and all of them are pending as `unsure`.
   */
  release(
    token: string,
    withdrawn: readonly number[],
    {
      first = false,
      state = 'marked',
    }: { readonly first?: boolean; readonly state?: MarkState | 'handled' } = {},
  ): Promise<boolean> {
    // If this call fails, the lease has to end.
    this.#leases.delete(token)
    const numbers = withdrawn.map((index) => String(index + 1))
    const character = state === 'handled' ? HANDLED : STATE[state]
    return this.#decide(frontierScripts.release, [token, character, first ? '1' : '0', ...numbers])
  }

  /** The next text, leased to this crawler. Null: none now. */
  async next(): Promise<LeasedText | null> {
    const token = this.#token()
    const reply = await this.#run(frontierScripts.next, [token, String(this.leaseMs)])
    if (reply === null) return null
    const [character, text] = (reply as unknown[]).map(String) as [string, string]
    this.#leases.add(token)
    return { token, text, state: STATES.get(character) as MarkState }
  }

  /** Ends a text: handled, or withdrawn without being counted. False: its lease had ended, and nothing changed. */
  finish(token: string, outcome: 'handled' | 'withdrawn' = 'handled'): Promise<boolean> {
    return this.#conclude(token, frontierScripts.finish, [token, outcome])
  }

  /** Queues a text again under a new text. False: its lease had ended, and nothing changed. */
  again(token: string, text: string, first = false): Promise<boolean> {
    return this.#conclude(token, frontierScripts.again, [token, first ? '1' : '0', text])
  }

  async counts(): Promise<FrontierCounts> {
    const reply = (await this.#run(frontierScripts.count, [])) as unknown[]
    const [pending, ended, unfinished, handled, expired] = reply.map(Number) as [
      number,
      number,
      number,
      number,
      number,
    ]
    return { waiting: pending + ended, unfinished, handled, expired }
  }

  /** All unfinished texts in batches, in no order. Those that are finished or added meanwhile may be missing. */
  async *texts(): AsyncGenerator<string[]> {
    const texts = this.#keys[0]!
    let cursor = '0'
    do {
      const reply = await this.#calls.command(texts, ['HSCAN', texts, cursor, 'COUNT', '1000'])
      const [next, pairs] = reply as [unknown, unknown[]]
      cursor = String(next)
      yield pairs.filter((_, i) => i % 2 === 1).map(String)
    } while (cursor !== '0')
  }

  /** Deletes everything, also what others have taken. The frontier can be used again. */
  async clear(): Promise<void> {
    this.#leases.clear()
    await this.#calls.command(this.#keys[0]!, ['UNLINK', ...this.#keys])
  }

  /** Returns what this crawler has taken. The client stays open: it is yours. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat)
    const tokens = [...this.#leases]
    this.#leases.clear()
    for (let from = 0; from < tokens.length; from += MOST_TOGETHER) {
      await this.#run(frontierScripts.renew, ['0', ...tokens.slice(from, from + MOST_TOGETHER)])
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #token(): string {
    return `${this.#client}.${(this.#tokens++).toString(36)}`
  }

  #run(script: Script, args: readonly Argument[]): Promise<unknown> {
    return this.#calls.script(script, this.#keys, args)
  }

  async #decide(script: Script, args: readonly Argument[]): Promise<boolean> {
    return Number(await this.#run(script, args)) === 1
  }

  // The lease goes on when the call fails: the caller may try again.
  async #conclude(token: string, script: Script, args: readonly Argument[]): Promise<boolean> {
    const isDone = await this.#decide(script, args)
    this.#leases.delete(token)
    return isDone
  }

  // A call that fails is left out: the next one follows after a third of the lease.
  async #renew(): Promise<void> {
    if (this.#isRenewing) return
    this.#isRenewing = true
    try {
      const tokens = [...this.#leases]
      for (let from = 0; from < tokens.length; from += MOST_TOGETHER) {
        const some = tokens.slice(from, from + MOST_TOGETHER)
        const digits = String(await this.#run(frontierScripts.renew, [String(this.leaseMs), ...some]))
        for (const [i, token] of some.entries()) if (digits[i] === '0') this.#leases.delete(token)
      }
    } catch {
      // The leases end if Redis stays away; then their texts are taken by others.
    } finally {
      this.#isRenewing = false
    }
  }
}
