// What a job has marked and not yet confirmed. The new hashes of each of its calls are kept beside the sets of their tag, written by the
// script that marks them, until the job confirms them; a job that was killed finds them there and answers "new" for them again, once.
import { SieveError } from '../errors.ts'
import type { Calls } from './calls.ts'
import { LeftTagError, RedisSieveError, UNKNOWN } from './partial-error.ts'
import { confirmScript, readScript } from './tentative-scripts.ts'
import type { OnPart } from './verdict-parts.ts'

/** Calls confirmed in one command. */
const MOST_TOGETHER = 500

/** A call of which Redis keeps the hashes that were new. */
interface MarkedCall {
  readonly key: string
  readonly field: string
}

/** A call whose answers may have reached nobody: the hashes of it that are not confirmed. */
interface LostCall extends MarkedCall {
  readonly left: Set<bigint>
}

interface LostHash {
  readonly call: LostCall
  readonly hash: bigint
}

/** An add of many hashes, while it is under way and until it is confirmed. */
export class AddRun {
  readonly ticket: number
  /** Calls that were answered "new", at least once. */
  readonly marked: MarkedCall[] = []
  /** Hashes that were marked by a call whose answers were lost. */
  readonly again: LostHash[] = []
  /** Calls that failed: the server may have marked their hashes. */
  readonly failed: MarkedCall[] = []
  /** Answered "new". */
  urls = 0
  readonly #ending: string
  readonly #leaseMs: string

  constructor(ticket: number, ending: string, leaseMs: string) {
    this.ticket = ticket
    this.#ending = ending
    this.#leaseMs = leaseMs
  }

  /** Sends a call to the tag of a prefix, with the arguments that make the script keep what is new under `field`. */
  async call(
    prefix: string,
    field: string,
    send: (args: readonly string[]) => Promise<string>,
  ): Promise<string> {
    const key = prefix + this.#ending
    try {
      const digits = await send([key, field, this.#leaseMs])
      const urls = digits.replaceAll('0', '').length
      this.urls += urls
      if (urls > 0) this.marked.push({ key, field })
      return digits
    } catch (error) {
      if (!(error instanceof LeftTagError)) this.failed.push({ key, field })
      throw error
    }
  }
}

/** Asks the server, and reports parts as they come. */
type Ask = (onPart: OnPart | undefined, run: AddRun | undefined) => Promise<Uint8Array>

export class TentativeMarks {
  readonly #calls: Calls
  readonly #ending: string
  readonly #leaseMs: string
  #tickets = 0
  readonly #underWay = new Set<number>()
  /** Runs that are answered and not confirmed. */
  readonly #answered = new Map<number, AddRun>()
  readonly #ticketOf = new WeakMap<Uint8Array, number>()
  readonly #lost = new Map<bigint, LostCall>()
  /** Calls that failed: the server may have marked their hashes. */
  #doubtful: MarkedCall[] = []
  #urls = 0

  /** `ending`: of the keys, after their tag's prefix. */
  constructor(calls: Calls, ending: string, leaseMs: number) {
    this.#calls = calls
    this.#ending = ending
    this.#leaseMs = String(leaseMs)
  }

  /** URLs answered "new" and not confirmed, by this process or an earlier one. */
  get urls(): number {
    return this.#urls + this.#lost.size
  }

  /** Of the run that has answered these verdicts; or of the last run up to which all are answered. */
  ticket(verdicts?: Uint8Array): number {
    const known = verdicts && this.#ticketOf.get(verdicts)
    return known ?? Math.min(this.#tickets, ...[...this.#underWay].map((ticket) => ticket - 1))
  }

  /** Reads what earlier processes of the job have left in the tags of these prefixes. */
  async load(prefixes: readonly string[]): Promise<void> {
    await Promise.all(
      prefixes.map(async (prefix) => {
        let cursor = '0'
        do cursor = await this.#read(prefix + this.#ending, cursor, false)
        while (cursor !== '0')
      }),
    )
  }

  /** Forgets all marks of the job in the tags of these prefixes. */
  async clear(prefixes: readonly string[]): Promise<void> {
    this.#answered.clear()
    this.#lost.clear()
    this.#doubtful = []
    this.#urls = 0
    const keys = prefixes.map((prefix) => prefix + this.#ending)
    await Promise.all(keys.map((key) => this.#calls.command(key, ['DEL', key])))
  }

  /** Looks for hashes: what was lost is new. */
  has(hashes: BigUint64Array, onPart: OnPart | undefined, ask: Ask): Promise<Uint8Array> {
    return this.#correct(hashes, onPart, undefined, ask)
  }

  /** Adds hashes: what was lost is new, once. */
  async add(hashes: BigUint64Array, onPart: OnPart | undefined, ask: Ask): Promise<Uint8Array> {
    const run = new AddRun(++this.#tickets, this.#ending, this.#leaseMs)
    this.#underWay.add(run.ticket)
    try {
      await this.#settle(hashes.length)
      const verdicts = await this.#correct(hashes, onPart, run, ask)
      this.#ticketOf.set(verdicts, run.ticket)
      this.#end(run)
      return verdicts
    } catch (error) {
      if (error instanceof RedisSieveError) this.#end(run)
      // Nobody gets its answers.
      else this.#doubtful.push(...run.marked, ...run.again.map(({ call }) => call))
      throw error
    } finally {
      this.#doubtful.push(...run.failed)
      this.#underWay.delete(run.ticket)
    }
  }

  #end(run: AddRun): void {
    if (run.marked.length + run.again.length > 0) this.#answered.set(run.ticket, run)
    this.#urls += run.urls
  }

  /** What was answered "new" up to a ticket is delivered: it is seen for good. */
  async confirm(ticket = Number.POSITIVE_INFINITY): Promise<void> {
    const runs = [...this.#answered.values()].filter((run) => run.ticket <= ticket)
    const fields = new Map<string, Map<string, LostCall | null>>()
    const change = ({ key, field }: MarkedCall, lost: LostCall | null) => {
      if (!fields.has(key)) fields.set(key, new Map())
      fields.get(key)!.set(field, lost)
    }
    for (const run of runs) {
      this.#answered.delete(run.ticket)
      for (const call of run.marked) change(call, null)
      for (const { call, hash } of run.again) {
        call.left.delete(hash)
        change(call, call)
      }
    }
    try {
      await Promise.all([...fields].map(([key, changed]) => this.#write(key, [...changed])))
    } catch (error) {
      for (const run of runs) this.#answered.set(run.ticket, run)
      throw error
    }
    for (const run of runs) this.#urls -= run.urls
  }

  async #write(key: string, changed: readonly (readonly [string, LostCall | null])[]): Promise<void> {
    for (let from = 0; from < changed.length; from += MOST_TOGETHER) {
      const some = changed.slice(from, from + MOST_TOGETHER)
      const args = some.flatMap(([field, lost]) => [field, lost ? packed(lost.left) : ''])
      await this.#calls.script(confirmScript, [key], [this.#leaseMs, ...args])
    }
  }

  // Finds out what calls that failed have marked: the caller may add the same hashes again.
  async #settle(count: number): Promise<void> {
    const doubtful = this.#doubtful.splice(0)
    try {
      await Promise.all(doubtful.map(({ key, field }) => this.#read(key, field, true)))
    } catch (error) {
      this.#doubtful.push(...doubtful)
      if (!(error instanceof SieveError)) throw error
      throw new RedisSieveError(error, new Uint8Array(count).fill(UNKNOWN))
    }
  }

  // Reads some calls from a cursor on, or the call of a field. Returns the next cursor.
  async #read(key: string, from: string, isField: boolean): Promise<string> {
    const args = [this.#leaseMs, from, isField ? '1' : '0']
    const [next, pairs] = (await this.#calls.script(readScript, [key], args)) as [unknown, unknown[]]
    for (let i = 0; i < pairs.length; i += 2) {
      const hashes = String(pairs[i + 1]).match(/.{16}/g) ?? []
      const call = { key, field: String(pairs[i]), left: new Set(hashes.map((hash) => BigInt(`0x${hash}`))) }
      for (const hash of call.left) this.#lost.set(hash, call)
    }
    return String(next)
  }

  // Changes verdicts where a hash is seen only by a mark whose answer was lost.
  async #correct(
    hashes: BigUint64Array,
    onPart: OnPart | undefined,
    run: AddRun | undefined,
    ask: Ask,
  ): Promise<Uint8Array> {
    if (this.#lost.size === 0) return ask(onPart, run)
    const places: number[] = []
    const verdictOf = (place: number, verdict: number) => {
      const hash = hashes[place]!
      const call = verdict === UNKNOWN ? undefined : this.#lost.get(hash)
      if (!call) return verdict
      if (run) {
        this.#lost.delete(hash)
        run.again.push({ call, hash })
        if (verdict === 0) run.urls++
      }
      places.push(place)
      return 1
    }
    const report: OnPart = ({ indexes, verdicts }) => {
      const corrected = verdicts.map((verdict, i) => verdictOf(indexes[i]!, verdict))
      onPart?.({ indexes, verdicts: corrected })
    }
    const apply = (verdicts: Uint8Array) => {
      for (const place of places) if (place < verdicts.length) verdicts[place] = 1
      return verdicts
    }
    try {
      return apply(await ask(report, run))
    } catch (error) {
      if (error instanceof RedisSieveError) {
        apply(error.verdicts)
        apply(error.answered!)
      }
      throw error
    }
  }
}

function packed(hashes: ReadonlySet<bigint>): Buffer {
  const { buffer } = BigUint64Array.from(hashes)
  return Buffer.from(buffer)
}
