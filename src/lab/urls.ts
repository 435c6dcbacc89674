// The lab's URLs: distinct lines in the order of their first occurrence, from files or from the generator, in one
// byte buffer. Reads only as far as needed, so a small experiment over a large file starts immediately.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { SieveError } from '../errors.ts'
import type { Feed } from '../lines/feed.ts'
import { Sieve } from '../sieve.ts'
import type { UrlList } from './experiment.ts'
import { generateLinks } from './generator.ts'
import { keyFrom } from './random.ts'

/** A file of URLs that is missing, unreadable, damaged or too much; the system's error is the cause. */
export class UrlFileError extends Error {
  constructor(path: string, cause: unknown) {
    super(path, { cause })
  }
}

/** What an experiment was run over. */
export interface Data {
  readonly description: string
  readonly files: readonly string[]
  readonly urls: number
  readonly bytes: number
  /** SHA-256 of the distinct URLs, each with its newline. */
  readonly sha256: string
}

const READ_BYTES = 256 * 1024
const NEWLINE = 10
/** Offsets are 32 bits wide. */
const MOST_BYTES = 2 ** 32 - 2 ** 20

const decoder = new TextDecoder()

class Lines implements UrlList {
  readonly count: number
  readonly bytes: Uint8Array
  readonly starts: Uint32Array
  readonly ends: Uint32Array

  constructor(bytes: Uint8Array, starts: Uint32Array, ends: Uint32Array) {
    this.count = ends.length
    this.bytes = bytes
    this.starts = starts
    this.ends = ends
  }

  at(i: number): string {
    return decoder.decode(this.bytes.subarray(this.starts[i], this.ends[i]))
  }

  lines(from: number, to: number): Uint8Array {
    return from >= to ? this.bytes.subarray(0, 0) : this.bytes.subarray(this.starts[from], this.ends[to - 1])
  }
}

/** Distinct URLs, read only as far as needed. */
export class UrlSource {
  readonly description: string
  readonly files: readonly string[]
  readonly #chunks: AsyncIterator<Uint8Array>
  /** Keeps an unfinished line between two readings. */
  readonly #feed: Feed
  #bytes = new Uint8Array(2 ** 20)
  #starts = new Uint32Array(2 ** 14)
  #ends = new Uint32Array(2 ** 14)
  #used = 0
  #count = 0
  #done = false

  private constructor(
    sieve: Sieve,
    chunks: AsyncIterator<Uint8Array>,
    description: string,
    files: readonly string[],
  ) {
    this.#feed = sieve.feed({ keep: 'new' })
    this.#chunks = chunks
    this.description = description
    this.files = files
  }

  /** Files of one URL a line, read one after the other as one stream; .gz files as such. */
  static async fromFiles(paths: readonly string[]): Promise<UrlSource> {
    return new UrlSource(await distinct(), readFiles(paths), 'distinct lines of the files given', paths)
  }

  static async fromSeed(seed: number): Promise<UrlSource> {
    const chunks = (async function* () {
      yield* generateLinks(seed)
    })()
    return new UrlSource(await distinct(), chunks, `links generated from seed ${seed}`, [])
  }

  /** The first `most` distinct URLs, or all when there are fewer. */
  async first(most: number, reading: (urls: number) => void = () => {}): Promise<UrlList> {
    await this.#read(most, reading)
    const count = Math.min(most, this.#count)
    return new Lines(this.#bytes, this.#starts.subarray(0, count), this.#ends.subarray(0, count))
  }

  /** Says what the first `count` URLs are. */
  data(count: number): Data {
    const urls = Math.min(count, this.#count)
    const bytes = urls === 0 ? 0 : this.#ends[urls - 1]! + 1
    const sha256 = createHash('sha256').update(this.#bytes.subarray(0, bytes)).digest('hex')
    return { description: this.description, files: this.files, urls, bytes, sha256 }
  }

  async #read(most: number, reading: (urls: number) => void): Promise<void> {
    if (this.#done || this.#count >= most) return
    while (this.#count < most) {
      const { done, value } = await this.#chunks.next()
      if (done) {
        this.#done = true
        break
      }
      this.#feed.reserve(value.length).set(value)
      this.#take(this.#feed.push(value.length))
      reading(this.#count)
    }
  }

  /** Takes distinct lines, each with its newline. */
  #take(lines: Uint8Array): void {
    const end = this.#used + lines.length
    if (end > this.#bytes.length) this.#bytes = grown(this.#bytes, end)
    const bytes = this.#bytes
    bytes.set(lines, this.#used)
    for (let at = this.#used; at < end; at++) {
      if (bytes[at] !== NEWLINE) continue
      if (this.#count === this.#starts.length) {
        this.#starts = doubled(this.#starts)
        this.#ends = doubled(this.#ends)
      }
      this.#starts[this.#count] = this.#used
      this.#ends[this.#count++] = at
      this.#used = at + 1
    }
  }
}

/** A sieve that lets every line pass once, and the empty line never. */
async function distinct(): Promise<Sieve> {
  const sieve = await Sieve.create({ profile: 'raw', key: keyFrom(0, 'distinct URLs') })
  sieve.add('')
  return sieve
}

function grown(bytes: Uint8Array<ArrayBuffer>, need: number): Uint8Array<ArrayBuffer> {
  if (need > MOST_BYTES)
    throw new SieveError(
      'memory',
      `more than ${MOST_BYTES} bytes of distinct URLs: expected at most that many in the lab`,
    )
  const more = new Uint8Array(Math.min(MOST_BYTES, Math.max(need, Math.ceil(bytes.length * 1.6))))
  more.set(bytes)
  return more
}

function doubled(offsets: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(offsets.length * 2)
  more.set(offsets)
  return more
}

/** The bytes of the files as whole lines: a chunk may end inside a line, a file never does. */
async function* readFiles(paths: readonly string[]): AsyncGenerator<Uint8Array> {
  const newline = Uint8Array.of(NEWLINE)
  for (const path of paths) {
    let last = NEWLINE
    try {
      for await (const chunk of open(path) as AsyncIterable<Buffer>) {
        last = chunk[chunk.length - 1] ?? last
        yield chunk
      }
    } catch (error) {
      throw new UrlFileError(path, error)
    }
    if (last !== NEWLINE) yield newline
  }
}

function open(path: string): Readable {
  const file = createReadStream(path, { highWaterMark: READ_BYTES })
  if (!path.endsWith('.gz')) return file
  const gunzip = createGunzip({ chunkSize: READ_BYTES })
  file.on('error', (error) => gunzip.destroy(error))
  return file.pipe(gunzip)
}
