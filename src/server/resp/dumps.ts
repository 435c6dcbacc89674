// Filters on their way between servers: BF.SCANDUMP gives a .sieve file in chunks, BF.LOADCHUNK puts it together. The
// files hold the filter's secret key, so they lie in a private folder and go when they are done with.
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SieveError } from '../../errors.ts'
import type { BloomSpec, Hosted } from '../house.ts'

/** So many of each kind at once; the oldest goes. */
const MOST_FILES = 8
const CHUNK_BYTES = 512 * 1024
const MAGIC = 'USBLOOM1'

interface Transfer {
  readonly path: string
  readonly fd: number
  readonly bytes: number
}

interface Load extends Transfer {
  readonly bloom: BloomSpec
  received: number
}

/** One chunk, and the number to ask with for the next; 0: there is no more. */
export interface DumpChunk {
  readonly next: number
  readonly bytes: Buffer
}

const badData = () => new SieveError('corrupt', 'received bad data')

export class Dumps {
  readonly #chunkBytes: number
  readonly #mostBytes: number
  readonly #dumps = new Map<Hosted, Transfer>()
  readonly #loads = new Map<string, Load>()
  #folder: string | undefined
  #files = 0

  /** Chunks must fit into one argument; a filter to load must fit into the memory for all. */
  constructor(itemBytes: number, mostBytes: number) {
    this.#chunkBytes = Math.min(CHUNK_BYTES, itemBytes)
    this.#mostBytes = mostBytes
  }

  #path(): string {
    this.#folder ??= mkdtempSync(join(tmpdir(), 'urlsieve-dumps-'))
    return join(this.#folder, String(this.#files++))
  }

  /** Begins a dump: the filter as it is now. */
  async begin(hosted: Hosted): Promise<DumpChunk> {
    const path = this.#path()
    try {
      await hosted.dump!(path)
    } catch (error) {
      rmSync(path, { force: true })
      throw error
    }
    const bytes = statSync(path).size
    this.#end(this.#dumps, hosted)
    this.#add(this.#dumps, hosted, { path, fd: openSync(path, 'r'), bytes })
    return { next: 1, bytes: Buffer.from(MAGIC + JSON.stringify({ bytes, bloom: hosted.bloom })) }
  }

  /** The chunk that `iterator` asks for. */
  next(hosted: Hosted, iterator: number): DumpChunk {
    const dump = this.#dumps.get(hosted)
    if (!dump) throw new SieveError('option', 'no dump is under way: begin with iterator 0')
    const offset = iterator - 1
    if (offset < 0 || offset >= dump.bytes) {
      this.#end(this.#dumps, hosted)
      return { next: 0, bytes: Buffer.alloc(0) }
    }
    const bytes = Buffer.alloc(Math.min(this.#chunkBytes, dump.bytes - offset))
    readSync(dump.fd, bytes, 0, bytes.length, offset)
    return { next: iterator + bytes.length, bytes }
  }

  /** Begins to load, from a dump's first chunk. */
  load(name: string, header: Buffer): void {
    const text = header.toString()
    let said: { bytes?: unknown; bloom?: Partial<BloomSpec> }
    try {
      said = text.startsWith(MAGIC) ? (JSON.parse(text.slice(MAGIC.length)) as typeof said) : {}
    } catch {
      throw badData()
    }
    const { capacity, errorRate, expansion } = said?.bloom ?? {}
    const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
    if (!isCount(said?.bytes) || !isCount(capacity) || !isCount(expansion)) throw badData()
    if (typeof errorRate !== 'number' || !(errorRate > 0 && errorRate < 1)) throw badData()
    if (said.bytes > this.#mostBytes) {
      throw new SieveError('room', `a dump of ${said.bytes} bytes: ${this.#mostBytes} are allowed (--memory)`)
    }
    this.#end(this.#loads, name)
    const path = this.#path()
    const load = { path, fd: openSync(path, 'wx'), bytes: said.bytes, received: 0 }
    this.#add(this.#loads, name, { ...load, bloom: { capacity, errorRate, expansion } })
  }

  /** Takes the next chunk. Whole: the file, to be given up with `loaded`. */
  take(name: string, iterator: number, chunk: Buffer): { path: string; bloom: BloomSpec } | null {
    const load = this.#loads.get(name)
    if (!load) throw new SieveError('option', 'not found')
    if (iterator - 1 - chunk.length !== load.received) {
      throw new SieveError('option', 'invalid offset - no link found')
    }
    if (load.received + chunk.length > load.bytes) {
      throw new SieveError('option', 'invalid chunk - Too big for current filter')
    }
    writeSync(load.fd, chunk, 0, chunk.length, load.received)
    load.received += chunk.length
    return load.received === load.bytes ? load : null
  }

  loaded(name: string): void {
    this.#end(this.#loads, name)
  }

  close(): void {
    for (const hosted of [...this.#dumps.keys()]) this.#end(this.#dumps, hosted)
    for (const name of [...this.#loads.keys()]) this.#end(this.#loads, name)
    if (this.#folder) rmSync(this.#folder, { recursive: true, force: true })
  }

  #add<K, T extends Transfer>(transfers: Map<K, T>, key: K, transfer: T): void {
    transfers.set(key, transfer)
    const [oldest] = transfers.keys()
    if (transfers.size > MOST_FILES) this.#end(transfers, oldest!)
  }

  #end<K, T extends Transfer>(transfers: Map<K, T>, key: K): void {
    const transfer = transfers.get(key)
    if (!transfer) return
    transfers.delete(key)
    closeSync(transfer.fd)
    rmSync(transfer.path, { force: true })
  }
}
