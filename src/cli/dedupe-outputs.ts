// Several outputs of one run of `dedupe`: new rows, repeats and lines that are not URLs, each to a file of its own, and new
// rows by host. Every row is in one of new, repeated and invalid.
import { keyOf, type Profile } from '../canonical/profiles.ts'
import type { Delivered } from '../journal.ts'
import type { RecordBatch } from '../records/format.ts'
import { keepRows } from '../records/keep-rows.ts'
import { HostFiles } from './host-files.ts'
import type { Output } from './output.ts'
import { type Placing, placedOutput } from './placing.ts'

export interface OutputFlags {
  new?: string
  repeatedTo?: string
  invalidTo?: string
  byHost?: string
}

/** What a row is: verdicts, and lines that are not URLs where those have a file of their own. */
const KIND = { seen: 0, new: 1, invalid: 2 } as const

export class Outputs {
  readonly #files: (readonly [kind: number, file: Output])[] = []
  readonly #hosts: HostFiles | null
  readonly #profile: Profile
  readonly #splitsInvalid: boolean
  /** Nothing may wait in memory: what is remembered across runs must have been written. */
  readonly #isImmediate: boolean
  #hasHeader = false
  #hasFailed = false

  constructor(
    flags: OutputFlags,
    profile: Profile,
    { extension, placing }: { readonly extension: string; readonly placing: Placing },
  ) {
    this.#profile = profile
    this.#isImmediate = placing.outlivesRun
    this.#splitsInvalid = flags.invalidTo !== undefined
    const named = [
      [KIND.new, flags.new],
      [KIND.seen, flags.repeatedTo],
      [KIND.invalid, flags.invalidTo],
    ] as const
    for (const [kind, path] of named) {
      if (path !== undefined) this.#files.push([kind, placedOutput(path, placing)])
    }
    this.#hosts = flags.byHost === undefined ? null : new HostFiles(flags.byHost, extension, placing)
  }

  /** All that it writes. */
  get files(): readonly Delivered[] {
    return [...this.#files.map(([, file]) => file), ...(this.#hosts ? [this.#hosts] : [])]
  }

  /** Whether the rows of a kind have a file: then stdout does not get them. */
  has(kind: 'new' | 'seen'): boolean {
    return this.#files.some(([of]) => of === KIND[kind]) || (kind === 'new' && this.#hosts !== null)
  }

  /** What precedes the rows; once. */
  async begin(header: Uint8Array): Promise<void> {
    if (this.#hasHeader) return
    this.#hasHeader = true
    for (const [, file] of this.#files) if (!file.isContinued) await file.deliver(header)
    this.#hosts?.begin(header)
  }

  /** The kind of each row. */
  kindsOf({ urls, ends }: RecordBatch, verdicts: Uint8Array): Uint8Array {
    if (!this.#splitsInvalid) return verdicts
    const kinds = Uint8Array.from(verdicts)
    for (const [i, line] of linesOf(urls, ends.length).entries()) {
      if (!isUrl(this.#profile, line)) kinds[i] = KIND.invalid
    }
    return kinds
  }

  /** Writes the rows of a batch. When it throws, some of them may have been written. */
  async write(batch: RecordBatch, kinds: Uint8Array): Promise<void> {
    try {
      for (const [kind, file] of this.#files) await file.deliver(keepRows(batch, kinds, kind))
      if (this.#hosts) this.#writeHosts(this.#hosts, batch, kinds)
    } catch (error) {
      this.#hasFailed = true
      throw error
    }
  }

  close(): void {
    if (!this.#hasFailed) this.#hosts?.flush(true)
    for (const [, file] of this.#files) file.close()
  }

  warn(): void {
    this.#hosts?.warn()
  }

  #writeHosts(hosts: HostFiles, { rows, ends, urls }: RecordBatch, kinds: Uint8Array): void {
    const lines = linesOf(urls, ends.length)
    const text = latin1(rows)
    let from = 0
    for (const [i, end] of ends.entries()) {
      if (kinds[i] === KIND.new) hosts.add(lines[i]!, text.slice(from, end))
      from = end
    }
    hosts.flush(this.#isImmediate)
  }
}

/** One byte per character: bytes that are not UTF-8 stay as they are. */
const latin1 = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')

const linesOf = (urls: Uint8Array, count: number) => latin1(urls).split('\n', count)

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function isUrl(profile: Profile, line: string): boolean {
  try {
    return keyOf(profile, decoder.decode(Buffer.from(line, 'latin1'))) !== null
  } catch {
    return false // not UTF-8
  }
}
