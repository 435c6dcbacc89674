// What a crawl has seen, with limits by shape: a new URL that a limit drops is answered "seen", counted and reported.
import type { Drop, LimitName, ShapeLimitOptions } from '../shapes/shape-limits.ts'
import { ShapeLimits } from '../shapes/shape-limits.ts'
import type { KeptLog } from './kept-log.ts'
import type { SeenUrls } from './seen-urls.ts'

/** A shape that hit a limit. */
export interface LimitedShape {
  readonly shape: string
  readonly limit: LimitName
  readonly reason: string
  dropped: number
}

/** Shapes that are counted one by one. */
const MOST_SHAPES = 1000

export class LimitedUrls implements SeenUrls {
  /** New URLs that were dropped. */
  dropped = 0
  readonly #urls: SeenUrls
  readonly #limits: ShapeLimits
  readonly #onDrop: (url: string, drop: Drop) => void
  readonly #shapes = new Map<string, LimitedShape>()
  readonly #log: KeptLog | null

  /** With `log` the limits go on where an earlier run ended. */
  constructor(
    urls: SeenUrls,
    limits: ShapeLimitOptions,
    onDrop: (url: string, drop: Drop) => void = () => {},
    log: KeptLog | null = null,
  ) {
    this.#urls = urls
    this.#limits = new ShapeLimits(limits)
    this.#onDrop = onDrop
    this.#log = log
    log?.read((url) => this.#limits.restore(url))
  }

  async addMany(urls: readonly string[]): Promise<Uint8Array> {
    const verdicts = await this.#urls.addMany(urls)
    const kept: string[] = []
    for (let i = 0; i < verdicts.length; i++) {
      if (verdicts[i] !== 1) continue
      const drop = this.#limits.admit(urls[i]!)
      if (drop === null) {
        kept.push(urls[i]!)
        continue
      }
      verdicts[i] = 0
      this.dropped++
      this.#count(drop)
      this.#onDrop(urls[i]!, drop)
    }
    this.#log?.append(kept)
    return verdicts
  }

  async hasMany(urls: readonly string[]): Promise<Uint8Array> {
    return (await this.#urls.hasMany?.(urls)) ?? new Uint8Array(urls.length)
  }

  /** The shapes that hit a limit, those with the most drops first. */
  shapes(): LimitedShape[] {
    return [...this.#shapes.values()].sort((a, b) => b.dropped - a.dropped)
  }

  #count({ limit, reason, shape = '' }: Drop): void {
    const known = this.#shapes.get(`${limit} ${shape}`)
    if (known) known.dropped++
    else if (this.#shapes.size < MOST_SHAPES)
      this.#shapes.set(`${limit} ${shape}`, { shape, limit, reason, dropped: 1 })
  }
}
