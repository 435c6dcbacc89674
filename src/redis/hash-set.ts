// A set of 64-bit hashes on Redis or a cluster: spread by tag, one call for each tag; test-and-set is on the server. With a
// window it consists of generations, which expire.
import { SieveError } from '../errors.ts'
import type { Calls } from './calls.ts'
import type { Parameters } from './parameters.ts'
import { RedisSieveError, UNKNOWN } from './partial-error.ts'
import { clearScript, type Script, scriptsFor, stateScript } from './scripts.ts'
import { Spread } from './spread.ts'

/** Hashes that go to the cluster together, per tag on average: a script that runs about a millisecond. */
const MOST_PER_TAG = 512
/** All of them together, unless there are many tags and each call would be short. */
const MOST_TOGETHER = 16_384
const ENOUGH_PER_TAG = 32
/** How long answers are kept for a call that is repeated: longer than any call is tried. */
const ANSWERS_MS = 120_000
/** Sets taken away in one call. */
const CLEARED_SETS = 2000

export class HashSet {
  readonly #name: string
  readonly #parameters: Parameters
  readonly #calls: Calls
  readonly #spread: Spread
  readonly #tags: readonly string[]
  readonly #scripts: ReturnType<typeof scriptsFor>
  /** This object's own name among the answers kept. */
  readonly #client = Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString('base64url')
  /** Lanes: batches under way at the same time; each has one place for its answers in every tag. */
  readonly #freeLanes: number[] = []
  #lanes = 0
  #batches = 0

  /** `tags`: the beginning of the keys of each tag. */
  constructor(name: string, parameters: Parameters, calls: Calls, tags: readonly string[]) {
    this.#name = name
    this.#parameters = parameters
    this.#calls = calls
    this.#spread = new Spread(parameters.tags)
    this.#tags = tags
    const width = parameters.mode === 'fingerprint' ? 53 : 32
    this.#scripts = scriptsFor({ ...parameters, width, answersMs: ANSWERS_MS })
  }

  /**
   * Marks, finds or deletes hashes: one verdict each, in order, 1 new and 0 seen. Throws a RedisSieveError with the verdicts
   * that are known when the cluster fails on the way.
   */
  async run(verb: 'add' | 'has' | 'forget', hashes: BigUint64Array): Promise<Uint8Array> {
    const verdicts = new Uint8Array(hashes.length).fill(UNKNOWN)
    const { tags } = this.#parameters
    const most = Math.min(MOST_PER_TAG * tags, Math.max(MOST_TOGETHER, ENOUGH_PER_TAG * tags))
    for (let from = 0; from < hashes.length; from += most) {
      const to = Math.min(from + most, hashes.length)
      try {
        await this.#batch(this.#scripts[verb], hashes.subarray(from, to), verdicts.subarray(from, to))
      } catch (error) {
        throw error instanceof SieveError ? new RedisSieveError(error, verdicts) : error
      }
    }
    return verdicts
  }

  /** Counts that the scripts keep, summed over the tags: no key is searched for. */
  async counts(): Promise<{ urls: number; seen: number; sets: number }> {
    let [urls, seen, sets] = [0, 0, 0]
    for (const [u, s, n] of await Promise.all(this.#states().map((key) => this.#state(key)))) {
      urls += u
      seen += s
      sets += Math.min(n, u)
    }
    return { urls, seen, sets }
  }

  /** Deletes everything. What others add meanwhile may stay. */
  async clear(): Promise<void> {
    await Promise.all(
      this.#states().map(async (state, i) => {
        const tag = this.#tags[Math.floor(i / this.#generations().length)]!
        const total = (await this.#state(state))[2]
        for (let from = 0; from < total; from += CLEARED_SETS) {
          const args = [from, CLEARED_SETS, total].map(String)
          await this.#calls.script(clearScript, [state, `${tag}|guard`], args)
        }
      }),
    )
  }

  // The generations, newest first: the one that is filled, the next one (another clock may be ahead), and the older.
  #generations(now = Date.now()): string[] {
    const { windowMs, generations } = this.#parameters
    if (windowMs === null) return ['']
    const newest = Math.floor((now * generations) / windowMs)
    const older = Array.from({ length: generations - 1 }, (_, i) => newest - 1 - i)
    return [newest, newest + 1, ...older].map((g) => `|g${g}`)
  }

  // When a generation that is filled now ends, in ms since 1970; 0: never.
  #ends(now: number): string {
    const { windowMs, generations } = this.#parameters
    if (windowMs === null) return '0'
    const newest = Math.floor((now * generations) / windowMs)
    return String(Math.ceil(((newest + generations) * windowMs) / generations))
  }

  #states(): string[] {
    const generations = this.#generations()
    return this.#tags.flatMap((tag) => generations.map((g) => `${tag}${this.#name}${g}`))
  }

  async #state(key: string): Promise<[urls: number, seen: number, sets: number]> {
    const reply = await this.#calls.script(stateScript, [key], [String(this.#parameters.base)])
    return (reply as unknown[]).map(Number) as [number, number, number]
  }

  // One round trip to each node, unless something fails: then that tag's call is repeated.
  async #batch(script: Script, hashes: BigUint64Array, verdicts: Uint8Array): Promise<void> {
    const lane = this.#freeLanes.pop() ?? this.#lanes++
    const number = (++this.#batches).toString(36).padStart(10, '0')
    const now = Date.now()
    const [newest, ...others] = this.#generations(now)
    const tail = [number, this.#ends(now)]
    const answer = async (tag: string, items: Buffer, indexes: Uint32Array) => {
      const state = `${tag}${this.#name}`
      const guard = `${tag}|guard`
      const answers = script.isReadOnly ? guard : `${state}|r|${this.#client}.${lane}`
      const keys = [state + newest, guard, answers, ...others.map((g) => state + g)]
      const digits = String(await this.#calls.script(script, keys, [items, ...tail]))
      if (digits.length !== indexes.length) {
        throw new SieveError('corrupt', `Redis returned ${digits.length} answers: expected ${indexes.length}`)
      }
      for (let i = 0; i < indexes.length; i++) verdicts[indexes[i]!] = digits.charCodeAt(i) - 48
    }
    const parts = this.#spread.over(hashes)
    const calls = parts.map(({ tag, items, indexes }) => answer(this.#tags[tag]!, items, indexes))
    const failed = (await Promise.allSettled(calls)).find((call) => call.status === 'rejected')
    // A lane whose call failed is not used again: its answers may still be on the way.
    if (failed) throw failed.reason
    this.#freeLanes.push(lane)
  }
}
