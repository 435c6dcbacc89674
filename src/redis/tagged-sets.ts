// The hashes of one sieve: a set over the tags that it has now, and those over the fewer tags that it had before. What was added
// before stays where it is. Whoever knows of the new tags leaves a tag of an earlier set with the call that asks it: from
// then on the server refuses adds there, and whoever is refused learns of the new tags. So a hash is never added in two places.
import { SieveError } from '../errors.ts'
import type { Calls } from './calls.ts'
import { type Answers, HashSet, type Verb } from './hash-set.ts'
import type { Parameters } from './parameters.ts'
import { LEFT, RedisSieveError, UNKNOWN } from './partial-error.ts'
import type { AddRun, TentativeMarks } from './tentative-marks.ts'
import type { OnPart } from './verdict-parts.ts'

type BasicVerb = 'add' | 'has' | 'forget'

export class TaggedSets {
  readonly #name: string
  readonly #calls: Calls
  readonly #reload: () => Promise<Parameters | null>
  #parameters: Parameters
  #current: HashSet
  /** First to last. */
  #earlier: readonly HashSet[]
  #marks: TentativeMarks | null = null

  /** `reload`: the parameters as they are now; null when the sieve was dropped. */
  constructor(name: string, parameters: Parameters, calls: Calls, reload: () => Promise<Parameters | null>) {
    this.#name = name
    this.#calls = calls
    this.#reload = reload
    this.#parameters = parameters
    this.#current = new HashSet(name, parameters, calls)
    this.#earlier = this.#earlierSets(parameters)
  }

  get parameters(): Parameters {
    return this.#parameters
  }

  /** From now on what is added is tentative; what earlier processes of the job have left is read. */
  async startJob(marks: TentativeMarks): Promise<void> {
    await this.#refresh()
    await marks.load(this.#prefixes())
    this.#marks = marks
  }

  #prefixes(): string[] {
    return [...this.#earlier, this.#current].flatMap(({ prefixes }) => prefixes)
  }

  /** Goes on with more tags, if there are more. */
  take(parameters: Parameters): void {
    if (parameters.tags <= this.#parameters.tags) return
    this.#parameters = parameters
    this.#current = new HashSet(this.#name, parameters, this.#calls)
    this.#earlier = this.#earlierSets(parameters)
  }

  #earlierSets(parameters: Parameters): HashSet[] {
    const { earlier = [] } = parameters
    return earlier.map((tags) => new HashSet(this.#name, { ...parameters, ...tags }, this.#calls, true))
  }

  /**
   * Marks, finds or deletes hashes: one verdict each, in order, 1 new and 0 seen; `onPart` gets them as they come. Throws a
   * RedisSieveError with the verdicts that are known when the cluster fails for some of the tags.
   */
  async run(verb: BasicVerb, hashes: BigUint64Array, onPart?: OnPart): Promise<Uint8Array> {
    if (!this.#marks || verb === 'forget') return this.#run(verb, hashes, onPart)
    return this.#marks[verb](hashes, onPart, (report, run) => this.#run(verb, hashes, report, run))
  }

  async #run(verb: BasicVerb, hashes: BigUint64Array, onPart?: OnPart, run?: AddRun): Promise<Uint8Array> {
    let used = this.#parameters.tags
    let { verdicts, failure } = await this.#ask(verb, hashes, onPart, run)
    for (let places = placesOf(verdicts, LEFT); places.length > 0; places = placesOf(verdicts, LEFT)) {
      try {
        used = await this.#goOn(used)
      } catch (error) {
        failure ??= error
        verdicts = verdicts.map((verdict) => (verdict === LEFT ? UNKNOWN : verdict))
        break
      }
      const rest = await this.#ask(verb, pick(hashes, places), onPart && partsAt(places, onPart), run)
      for (const [i, place] of places.entries()) verdicts[place] = rest.verdicts[i]!
      failure ??= rest.failure
    }
    if (failure === null) return verdicts
    if (!(failure instanceof SieveError)) throw failure
    this.#calls.metrics.observeUnknown(placesOf(verdicts, UNKNOWN).length, failure)
    throw new RedisSieveError(failure, verdicts)
  }

  // Learns of more tags than `used`. Returns how many there are.
  async #goOn(used: number): Promise<number> {
    const now = await this.#reload()
    if (now === null) throw new SieveError('option', `sieve '${this.#name}' was dropped: open it again`)
    this.take(now)
    const { tags } = this.#parameters
    if (tags > used) return tags
    throw new SieveError(
      'corrupt',
      `sieve '${this.#name}' was given more than ${used} tags, and a failover has lost how many: call moreTags with the same number again`,
    )
  }

  // Asks the earlier sets, then the current one for what they do not have.
  async #ask(verb: BasicVerb, hashes: BigUint64Array, onPart?: OnPart, run?: AddRun): Promise<Answers> {
    if (this.#earlier.length === 0) return this.#current.run(verb, hashes, onPart, run)
    const verdicts = new Uint8Array(hashes.length).fill(UNKNOWN)
    let failure: unknown = null
    let places = Uint32Array.from(hashes, (_, i) => i)
    const sets: readonly (readonly [HashSet, Verb])[] = [
      ...this.#earlier.map((set) => [set, verb === 'add' ? 'leave' : verb] as const),
      [this.#current, verb],
    ]
    for (const [nth, [set, asked]] of sets.entries()) {
      const isLast = nth === sets.length - 1
      const report = onPart && partsAt(places, isLast ? onPart : seenOnly(onPart))
      const some = await set.run(asked, pick(hashes, places), report, run)
      failure ??= some.failure
      const open: number[] = []
      for (const [i, place] of places.entries()) {
        const verdict = some.verdicts[i]!
        if (verdict === 0 || isLast) verdicts[place] = verdict
        else if (verdict === 1) open.push(place)
      }
      places = Uint32Array.from(open)
    }
    return { verdicts, failure }
  }

  /** Counts that the scripts keep, summed over all sets. */
  async counts(): Promise<{ urls: number; seen: number; sets: number }> {
    await this.#refresh()
    const all = await Promise.all([this.#current, ...this.#earlier].map((set) => set.counts()))
    const sum = (of: 'urls' | 'seen' | 'sets') => all.reduce((total, counts) => total + counts[of], 0)
    return { urls: sum('urls'), seen: sum('seen'), sets: sum('sets') }
  }

  /** Deletes everything. What others add meanwhile may stay. */
  async clear(): Promise<void> {
    await this.#refresh()
    await Promise.all([this.#current, ...this.#earlier].map((set) => set.clear()))
    await this.#marks?.clear(this.#prefixes())
  }

  // Others may have given it more tags. Where the parameters cannot be read any more, those that are known hold.
  async #refresh(): Promise<void> {
    try {
      const now = await this.#reload()
      if (now) this.take(now)
    } catch (error) {
      if (!(error instanceof SieveError && ['corrupt', 'version'].includes(error.code))) throw error
    }
  }

  /** Forgets which tags were left: the sieve is no more. */
  async forgetLeaving(): Promise<void> {
    await Promise.all(this.#earlier.map((set) => set.forgetLeaving()))
  }
}

const pick = (hashes: BigUint64Array, places: Uint32Array) =>
  BigUint64Array.from(places, (place) => hashes[place]!)

const placesOf = (verdicts: Uint8Array, wanted: number) =>
  Uint32Array.from([...verdicts.keys()].filter((i) => verdicts[i] === wanted))

/** Parts of some of the hashes, as those of all. */
const partsAt =
  (places: Uint32Array, onPart: OnPart): OnPart =>
  ({ indexes, verdicts }) =>
    onPart({ indexes: indexes.map((i) => places[i]!), verdicts })

/** Of each part those that are seen: the others are asked for elsewhere. */
const seenOnly =
  (onPart: OnPart): OnPart =>
  ({ indexes, verdicts }) => {
    const seen = placesOf(verdicts, 0)
    if (seen.length > 0)
      onPart({ indexes: seen.map((i) => indexes[i]!), verdicts: new Uint8Array(seen.length) })
  }
