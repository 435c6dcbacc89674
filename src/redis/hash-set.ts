// A set of 64-bit hashes on Redis or a cluster: spread by tag, one call for each tag; test-and-set is on the server. With a
// window it consists of generations, which expire.
import { SieveError } from '../errors.ts'
import type { Calls } from './calls.ts'
import type { Parameters } from './parameters.ts'
import { LEFT, LeftTagError, UNKNOWN } from './partial-error.ts'
import { clearScript, type Script, scriptsFor, stateScript } from './scripts.ts'
import { tagPrefixes } from './slots.ts'
import { type Part, Spread } from './spread.ts'
import type { AddRun } from './tentative-marks.ts'
import type { OnPart } from './verdict-parts.ts'

/** Hashes of one call at most: a script that runs about a millisecond. */
const MOST_PER_CALL = 512
/** How long answers are kept for a call that is repeated: longer than any call is tried. */
const ANSWERS_MS = 120_000
/** Sets taken away in one call. */
const CLEARED_SETS = 2000

export type Verb = 'add' | 'has' | 'forget' | 'leave'

/** Verdicts in order, 1 new and 0 seen; `LEFT` where others have left the tag; `UNKNOWN` where the cluster failed, and how. */
export interface Answers {
  readonly verdicts: Uint8Array
  readonly failure: unknown
}

export class HashSet {
  readonly #name: string
  readonly #parameters: Parameters
  readonly #calls: Calls
  readonly #spread: Spread
  readonly #tags: readonly string[]
  /** Nothing is added any more: other tags take what comes. */
  readonly #isLeft: boolean
  readonly #scripts: ReturnType<typeof scriptsFor>
  /** This object's own name among the answers kept. */
  readonly #client = Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString('base64url')
  /** Lanes: runs under way at the same time; each has one place for its answers in every tag. */
  readonly #freeLanes: number[] = []
  #lanes = 0
  #numbers = 0

  /** `parameters.tags` tags. */
  constructor(name: string, parameters: Parameters, calls: Calls, isLeft = false) {
    this.#name = name
    this.#parameters = parameters
    this.#calls = calls
    this.#spread = new Spread(parameters.tags)
    this.#tags = tagPrefixes(parameters.tags)
    this.#isLeft = isLeft
    const width = parameters.mode === 'fingerprint' ? 53 : 32
    this.#scripts = scriptsFor({ ...parameters, width, answersMs: ANSWERS_MS })
  }

  /** The beginnings of its keys. */
  get prefixes(): readonly string[] {
    return this.#tags
  }

  /**
   * Marks, finds or deletes hashes. The tags are called side by side, each with one call after another, so that of equal hashes
   * the first is new; `onPart` gets the answers of each call as they come.
   */
  async run(verb: Verb, hashes: BigUint64Array, onPart?: OnPart, run?: AddRun): Promise<Answers> {
    const verdicts = new Uint8Array(hashes.length).fill(UNKNOWN)
    const lane = this.#freeLanes.pop() ?? this.#lanes++
    const answer = async ({ tag, items, indexes }: Part) => {
      for (let from = 0; from < indexes.length; from += MOST_PER_CALL) {
        const to = Math.min(from + MOST_PER_CALL, indexes.length)
        const places = indexes.subarray(from, to)
        const digits = await this.#call(verb, tag, lane, items.subarray(8 * from, 8 * to), run)
        if (digits.length !== places.length) {
          throw new SieveError(
            'corrupt',
            `Redis returned ${digits.length} answers: expected ${places.length}`,
          )
        }
        for (let i = 0; i < places.length; i++) verdicts[places[i]!] = digits.charCodeAt(i) - 48
        onPart?.({ indexes: places, verdicts: Uint8Array.from(places, (place) => verdicts[place]!) })
      }
    }
    const answerOrLeave = (part: Part) =>
      answer(part).catch((error: unknown) => {
        if (!(error instanceof LeftTagError)) throw error
        for (const place of part.indexes) if (verdicts[place] === UNKNOWN) verdicts[place] = LEFT
      })
    const calls = await Promise.allSettled(this.#spread.over(hashes).map(answerOrLeave))
    const failed = calls.find((call) => call.status === 'rejected')
    // A lane whose call failed is not used again: its answers may still be on the way.
    if (!failed) this.#freeLanes.push(lane)
    return { verdicts, failure: failed?.reason ?? null }
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

  /** Forgets that the tags were left. */
  async forgetLeaving(): Promise<void> {
    await Promise.all(
      this.#tags.map((tag) => this.#calls.command(this.#leftKey(tag), ['DEL', this.#leftKey(tag)])),
    )
  }

  // Not shared by sieves that have the name one after the other.
  #leftKey(tag: string): string {
    return `${tag}${this.#name}|left|${this.#parameters.createdAt}`
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

  async #call(verb: Verb, tag: number, lane: number, items: Buffer, run?: AddRun): Promise<string> {
    const script: Script = this.#scripts[verb]
    const now = Date.now()
    const [newest, ...others] = this.#generations(now)
    const prefix = this.#tags[tag]!
    const state = `${prefix}${this.#name}`
    const guard = `${prefix}|guard`
    const answers = script.isReadOnly ? guard : `${state}|r|${this.#client}.${lane}`
    const keys = [state + newest, guard, answers, ...others.map((g) => state + g)]
    const number = (++this.#numbers).toString(36).padStart(10, '0')
    const left = this.#isLeft && verb !== 'leave' ? '' : this.#leftKey(prefix)
    const args = [items, number, this.#ends(now), left]
    if (!run || verb !== 'add') return String(await this.#calls.script(script, keys, args))
    return run.call(prefix, `${this.#client}.${number}`, async (marks) =>
      String(await this.#calls.script(script, keys, [...args, ...marks])),
    )
  }
}
