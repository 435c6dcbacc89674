// The robots.txt of each origin, fetched once: at most 500 KiB and five redirects (RFC 9309). After a 4xx
// response everything is allowed; after a 5xx or none, everything is disallowed until it is requested again.
import type { Answer, Fetcher } from './fetcher.ts'
import { noRobotsFile, RobotsFile } from './robots-file.ts'

const MOST_REDIRECTS = 5
const TRIES = 3
/** Between two attempts, and until an unreachable file is requested again. */
const WAIT_MS = 500
const AGAIN_MS = 60_000
/** How long a file is used before it is fetched again (RFC 9309, 2.4). */
const KEPT_MS = 24 * 3600 * 1000
/** Bytes of cached files; the least recently used are dropped. */
const KEPT_BYTES = 32 * 1024 * 1024
/** Memory per origin in addition to its file. */
const ORIGIN_BYTES = 1024

/** A robots.txt that could not be read. */
export interface Unreachable {
  readonly reason: string
}

interface Known {
  readonly file: Promise<RobotsFile | Unreachable>
  bytes: number
  until: number
}

export interface RobotsOptions {
  readonly fetcher: Fetcher
  readonly userAgent: string
  /** Of one file; the rest is not read. */
  readonly maxBytes: number
  /** Whether a redirect of a robots.txt may be followed. */
  readonly mayFollow: (from: string, to: string) => boolean
}

export class Robots {
  /** Files longer than `maxBytes`. */
  cut = 0
  readonly #options: RobotsOptions
  /** By origin, the one used last at the end. */
  readonly #known = new Map<string, Known>()
  #bytes = 0

  constructor(options: RobotsOptions) {
    this.#options = options
  }

  /** The file of a URL's origin. */
  of(url: string): Promise<RobotsFile | Unreachable> {
    const { origin } = new URL(url)
    let known = this.#known.get(origin)
    this.#forget(origin)
    if (!known || known.until < performance.now()) known = this.#read(origin)
    this.#known.set(origin, known)
    this.#bytes += known.bytes
    for (const other of this.#known.keys()) {
      if (this.#bytes <= KEPT_BYTES || other === origin) break
      this.#forget(other)
    }
    return known.file
  }

  #forget(origin: string): void {
    this.#bytes -= this.#known.get(origin)?.bytes ?? 0
    this.#known.delete(origin)
  }

  #read(origin: string): Known {
    const grow = (bytes: number) => {
      known.bytes += bytes
      if (this.#known.get(origin) === known) this.#bytes += bytes
    }
    const file = this.#fetch(`${origin}/robots.txt`, grow).catch((error: Error): Unreachable => {
      known.until = performance.now() + AGAIN_MS
      return { reason: `${origin}/robots.txt: ${error.message}` }
    })
    const known: Known = { file, bytes: ORIGIN_BYTES, until: performance.now() + KEPT_MS }
    return known
  }

  async #fetch(url: string, grow: (bytes: number) => void): Promise<RobotsFile> {
    for (let tries = 1; ; tries++) {
      try {
        const answer = await this.#follow(url)
        if (answer && answer.status >= 500) throw new Error(`HTTP ${answer.status}`)
        return !answer || answer.status > 299 ? noRobotsFile() : await this.#parse(answer, grow)
      } catch (error) {
        if (tries === TRIES || error instanceof NotFollowed) throw error
        await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
      }
    }
  }

  // The answer after redirects; null after too many, which counts as no file.
  async #follow(url: string): Promise<Answer | null> {
    const { fetcher, maxBytes, mayFollow } = this.#options
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const answer = await fetcher.get(url, maxBytes)
      if (answer.status < 300 || answer.status > 399) return discarded(answer)
      answer.discard()
      const { location } = answer
      if (location === undefined || !URL.canParse(location, url)) return null
      const to = new URL(location, url).href
      if (!mayFollow(url, to)) throw new NotFollowed(`a redirect to ${to.slice(0, 200)} is not followed`)
      url = to
    }
    return null
  }

  async #parse(answer: Answer, grow: (bytes: number) => void): Promise<RobotsFile> {
    const decoder = new TextDecoder()
    let text = ''
    for await (const piece of answer.body()) text += decoder.decode(piece, { stream: true })
    if (answer.cut === 'time') throw new Error('not read within the time limit')
    // A last line that is not whole could close or open more than it says.
    if (answer.cut) text = text.slice(0, text.lastIndexOf('\n') + 1)
    if (answer.cut) this.cut++
    grow(text.length)
    return new RobotsFile(text, this.#options.userAgent)
  }
}

class NotFollowed extends Error {}

const discarded = (answer: Answer): Answer => {
  if (answer.status > 299) answer.discard()
  return answer
}
