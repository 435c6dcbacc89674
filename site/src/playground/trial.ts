// One trial of the playground: a real sieve beside an exact set, so that every error is known for certain. URLs come
// from the reader or from the lab's generator of links; a URL that was never added and is answered "seen" is the
// false positive that is looked for.
import { keyOf } from '../../../src/canonical/profiles.ts'
import type { FilterKind } from '../../../src/filters/filter.ts'
import { type FilterOptions, filters, Sieve, type SieveOptions } from '../../../src/index.ts'
import { generateLinks } from '../../../src/lab/generator.ts'
import { type Panel, panelsOf } from './panels.ts'
import { type Placement, Prober, passes } from './probes.ts'
import type { Settings, Structure } from './structures.ts'

/** URLs that the set beside the sieve takes before the browser grows heavy. */
export const MOST_URLS = 200_000
/** URLs never added that are asked to measure the rate: chunks of the generator, of about 5,000 each. */
const SAMPLE_CHUNKS = 4
const ADDED_SEED = 1
const SAMPLE_SEED = 2
const SEARCH_SEED = 3
/** A search ends here: what errs so rarely is not found by trying. */
export const MOST_TRIES = 5_000_000

const decoder = new TextDecoder()
const NEWLINE = 10

export interface Measured {
  readonly urls: number
  readonly asked: number
  readonly wrong: number
  /** What the filter says of itself at this fill; null where it cannot know. */
  readonly expected: number | null
}

export interface Asked {
  readonly url: string
  readonly key: string
  readonly verdict: 'new' | 'seen'
  /** Whether it was really added before. */
  readonly wasAdded: boolean
  readonly placement: Placement
}

export interface Collision {
  readonly cell: number
  readonly array: number
  /** A URL that was added and set this bit. */
  readonly setBy: string
}

export interface Found {
  readonly url: string
  readonly tries: number
  readonly placement: Placement
  readonly collisions: readonly Collision[]
}

/** The lines of a chunk whose answers are not 0. */
function* linesWhere(chunk: Uint8Array, answers: Uint8Array): Generator<{ url: string; line: number }> {
  let from = 0
  for (let line = 0; line < answers.length; line++) {
    const to = chunk.indexOf(NEWLINE, from)
    if (answers[line]) yield { url: decoder.decode(chunk.subarray(from, to)), line }
    from = to + 1
  }
}

export class Trial {
  readonly structure: Structure
  readonly sieve: Sieve
  readonly options: FilterOptions
  /** The rate measured after each batch of adds. */
  readonly measured: Measured[] = []
  /** Adds answered "seen" although they were new: pages that a crawler would have lost. */
  lost = 0
  readonly #prober: Prober
  readonly #keys = new Set<string>()
  readonly #links = generateLinks(ADDED_SEED)
  readonly #search = generateLinks(SEARCH_SEED)
  readonly #sample: Uint8Array[] = []
  #waiting: string[] = []
  #soft: Uint8Array | null = null

  private constructor(structure: Structure, options: FilterOptions, sieve: Sieve, prober: Prober) {
    this.structure = structure
    this.options = options
    this.sieve = sieve
    this.#prober = prober
    if (structure.name === 'prefix-layers') this.#soft = new Uint8Array(sieve.plan.sizeBytes)
    const links = generateLinks(SAMPLE_SEED)
    for (let i = 0; i < SAMPLE_CHUNKS; i++) this.#sample.push(links.next().value.slice())
  }

  /** Throws a SieveError, one line, for invalid settings. The hash's key is a new secret unless given. */
  static async create(structure: Structure, settings: Settings, key?: Uint8Array): Promise<Trial> {
    const options = structure.options(settings)
    const sieve = await Sieve.create({
      ...options,
      filter: structure.name,
      ...(key && { key }),
    } as SieveOptions)
    return new Trial(structure, options, sieve, await Prober.create(sieve))
  }

  /** Distinct URLs added, whatever the sieve thinks. */
  get urls(): number {
    return this.#keys.size
  }

  /** The memory as it is now. Where folders and whole keys share an array, the folders' bits are soft. */
  panels(): Panel[] {
    const panels = panelsOf(this.sieve)
    return this.#soft ? panels.map((panel) => ({ ...panel, soft: this.#soft! })) : panels
  }

  keyOf(url: string): string {
    return keyOf(this.sieve.profile, url) ?? url
  }

  /** Looks a URL up, marks nothing. */
  ask(url: string): Asked {
    const key = this.keyOf(url)
    const placement = this.#prober.place(key, this.panels())
    const verdict = this.sieve.has(url) ? 'seen' : 'new'
    return { url, key, verdict, wasAdded: this.#keys.has(key), placement }
  }

  /** Marks a URL and says how it stood before. */
  add(url: string): Asked {
    const asked = this.ask(url)
    this.sieve.add(url)
    if (!asked.wasAdded && asked.verdict === 'seen') this.lost++
    this.#remember(asked.key)
    return asked
  }

  /** Marks so many generated URLs, none of which was added before. */
  addGenerated(count: number): void {
    const urls: string[] = []
    while (urls.length < count && this.#keys.size < MOST_URLS) {
      const url = this.#nextLink()
      const key = this.keyOf(url)
      if (this.#keys.has(key)) continue
      this.#remember(key)
      urls.push(url)
    }
    for (const verdict of this.sieve.addMany(urls)) this.lost += 1 - verdict
  }

  /** Asks for URLs that were never added; how many are answered "seen" all the same. */
  measure(): Measured {
    let asked = 0
    let wrong = 0
    for (const chunk of this.#sample) {
      const answers = this.sieve.hasLines(chunk)
      asked += answers.length
      for (const { url } of linesWhere(chunk, answers)) {
        if (this.#keys.has(this.keyOf(url))) asked--
        else wrong++
      }
    }
    const measured = { urls: this.urls, asked, wrong, expected: this.sieve.stats().expectedRate }
    this.measured.push(measured)
    return measured
  }

  /** What the formula says of a filter that holds `urls`; null where it has none. */
  formula(urls: number): number | null {
    const { name } = this.structure
    if (name === 'scalable') return this.sieve.plan.promisedRate
    const kind: FilterKind = filters[name]
    if (kind.rateAt) return kind.rateAt(this.sieve.plan, urls)
    return kind.plan({ ...this.options, expectedUrls: urls }).expectedRate
  }

  /** Tries generated URLs until one that was never added is answered "seen". Null when stopped, or past all tries. */
  async find(signal: AbortSignal, onTries: (tries: number) => void): Promise<Found | null> {
    let tries = 0
    while (!signal.aborted && tries < MOST_TRIES) {
      const chunk = this.#search.next().value
      const answers = this.sieve.hasLines(chunk)
      for (const { url, line } of linesWhere(chunk, answers)) {
        const key = this.keyOf(url)
        if (!this.#keys.has(key)) return this.#found(url, key, tries + line + 1)
      }
      tries += answers.length
      onTries(tries)
      await new Promise((resolve) => setTimeout(resolve))
    }
    return null
  }

  #found(url: string, key: string, tries: number): Found {
    const placement = this.#prober.place(key, this.panels())
    const passing = placement.answers.filter(passes)
    const wanted = new Map(
      passing.flatMap(({ array, cells }) => cells.map((cell) => [`${array}/${cell}`, { array, cell }])),
    )
    const collisions: Collision[] = []
    for (const setBy of this.#keys) {
      if (wanted.size === 0) break
      for (const { array, cells } of this.#prober.probes(setBy)) {
        for (const cell of cells) {
          if (wanted.delete(`${array}/${cell}`)) collisions.push({ array, cell, setBy })
        }
      }
    }
    return { url, tries, placement, collisions }
  }

  #remember(key: string): void {
    this.#keys.add(key)
    if (!this.#soft) return
    const probes = this.#prober.probes(key)
    for (const cell of probes.slice(0, -1).flatMap(({ cells }) => cells))
      this.#soft[cell >> 3]! |= 1 << (cell & 7)
    for (const cell of probes.at(-1)!.cells) this.#soft[cell >> 3]! &= ~(1 << (cell & 7))
  }

  #nextLink(): string {
    if (this.#waiting.length === 0) {
      this.#waiting = decoder.decode(this.#links.next().value).trimEnd().split('\n').reverse()
    }
    return this.#waiting.pop()!
  }
}
