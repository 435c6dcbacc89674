// Filters in transfer between servers: BF.SCANDUMP returns a .sieve file in chunks, BF.LOADCHUNK puts it together. The files
// contain the filter's secret key and are deleted after the transfer.
import { createHash } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { SieveError } from '../../errors.ts'
import { savedObject, savedWhole } from '../../filters/saved-plan.ts'
import { diskError } from '../../store/file.ts'
import { turns } from '../../store/pace.ts'
import { savedBloom } from '../entry-file.ts'
import type { BloomSpec, ServedSieve } from '../registry.ts'
import { TransferFolder } from './transfer-folder.ts'

/** Concurrent dumps, and concurrent loads; the oldest one is ended. */
const MOST_FILES = 8
const CHUNK_BYTES = 128 * 1024
/** Chunks that are read at the same time, of all clients. */
const MOST_READS = 8
const MAGIC = 'USBLOOM1'

/** A dump is deleted this long after its last chunk was read: until then any of its chunks can be read again. */
const KEPT_MS = 60_000

interface Transfer {
  readonly path: string
  readonly file: FileHandle
  readonly bytes: number
  timer?: NodeJS.Timeout
}

/** The last chunk of a load: a client that did not get the reply sends it again. */
interface LastChunk {
  readonly iterator: number
  readonly digest: string
}

interface Load extends Transfer {
  readonly bloom: BloomSpec
  /** Bytes received, and those of them written to the file. */
  received: number
  written: number
}

/** One chunk and the iterator of the next; 0: it was the last. */
export interface DumpChunk {
  readonly next: number
  readonly bytes: Buffer
}

/** Lets so many work at the same time; the others wait in the order in which they came. */
class Gate {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(places: number) {
    this.#free = places
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}

const digestOf = (chunk: Buffer) => createHash('sha256').update(chunk).digest('hex')

const badData = () => new SieveError('corrupt', 'received bad data')

export class Dumps {
  readonly #chunkBytes: number
  readonly #mostBytes: number
  readonly #folder: TransferFolder
  readonly #dumps = new Map<ServedSieve, Transfer>()
  readonly #loads = new Map<string, Load>()
  /** Size of the last dump of each filter. */
  readonly #sizes = new WeakMap<ServedSieve, number>()
  readonly #writing = new Gate(1)
  readonly #reading = new Gate(MOST_READS)
  /** Dumps that are to be written. */
  readonly #waiting = new Map<ServedSieve, Promise<DumpChunk>>()
  readonly #lastChunks = new WeakMap<ServedSieve, LastChunk>()

  /** A chunk must fit into one argument, a filter to load into the memory for all sieves. */
  constructor(itemBytes: number, mostBytes: number, folder?: string) {
    this.#chunkBytes = Math.min(CHUNK_BYTES, itemBytes)
    this.#mostBytes = mostBytes
    this.#folder = new TransferFolder(folder)
  }

  /**
   * Begins a dump: everything in the filter, and possibly items added before the promise resolves. One is written at a time;
   * those who wait for one of the same filter get the same.
   */
  begin(sieve: ServedSieve): Promise<DumpChunk> {
    let chunk = this.#waiting.get(sieve)
    if (!chunk) {
      chunk = this.#writing.run(() => {
        this.#waiting.delete(sieve)
        return this.#begin(sieve)
      })
      this.#waiting.set(sieve, chunk)
    }
    return chunk
  }

  async #begin(sieve: ServedSieve): Promise<DumpChunk> {
    const path = this.#folder.next()
    try {
      await sieve.dump!(path)
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
    const file = await open(path, 'r')
    const bytes = (await file.stat()).size
    this.#end(this.#dumps, sieve)
    this.#add(this.#dumps, sieve, { path, file, bytes })
    this.#sizes.set(sieve, bytes)
    return { next: 1, bytes: Buffer.from(MAGIC + JSON.stringify({ bytes, bloom: sieve.bloom })) }
  }

  /** The chunk at `iterator`. */
  next(sieve: ServedSieve, iterator: number): Promise<DumpChunk> {
    return this.#reading.run(() => this.#next(sieve, iterator))
  }

  async #next(sieve: ServedSieve, iterator: number): Promise<DumpChunk> {
    const dump = this.#dumps.get(sieve)
    const offset = iterator - 1
    const isOver = offset < 0 || offset >= (this.#sizes.get(sieve) ?? Number.POSITIVE_INFINITY)
    if (dump && isOver) this.#endLater(dump, sieve)
    if (isOver) return { next: 0, bytes: Buffer.alloc(0) }
    if (!dump) throw new SieveError('option', 'no dump of this filter is in progress: begin with iterator 0')
    const bytes = Buffer.allocUnsafeSlow(Math.min(this.#chunkBytes, dump.bytes - offset))
    const { bytesRead } = await dump.file.read(bytes, 0, bytes.length, offset)
    if (bytesRead < bytes.length)
      throw new SieveError('disk', 'the dump is incomplete: begin again with iterator 0')
    await turns.wait() // so that no more than these chunks wait to be sent
    return { next: iterator + bytes.length, bytes }
  }

  #endLater(dump: Transfer, sieve: ServedSieve): void {
    clearTimeout(dump.timer)
    const end = () => this.#dumps.get(sieve) === dump && this.#end(this.#dumps, sieve)
    dump.timer = setTimeout(end, KEPT_MS)
    dump.timer.unref()
  }

  /** Begins a load with the first chunk of a dump. */
  async load(name: string, first: Buffer): Promise<void> {
    const text = first.toString()
    let bytes: number
    let bloom: BloomSpec
    try {
      const header = savedObject('a dump', text.startsWith(MAGIC) && JSON.parse(text.slice(MAGIC.length)))
      bytes = savedWhole('bytes', header.bytes, 0, Number.MAX_SAFE_INTEGER)
      bloom = savedBloom(header.bloom)
    } catch {
      throw badData()
    }
    if (bytes > this.#mostBytes) {
      throw new SieveError(
        'memory',
        `a dump of ${bytes} bytes: expected at most ${this.#mostBytes} (--memory)`,
      )
    }
    const path = this.#folder.next()
    const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
      throw diskError(path, error)
    })
    this.#end(this.#loads, name)
    this.#add(this.#loads, name, { path, file, bytes, bloom, received: 0, written: 0 })
  }

  /** Takes the next chunk. After the last one it returns the file; call `loaded` when done with it. */
  async take(
    name: string,
    iterator: number,
    chunk: Buffer,
  ): Promise<{ path: string; bloom: BloomSpec } | null> {
    const load = this.#loads.get(name)
    if (!load) throw new SieveError('option', 'not found')
    if (iterator - 1 - chunk.length !== load.received) {
      throw new SieveError('option', 'invalid offset - no link found')
    }
    if (load.received + chunk.length > load.bytes) {
      throw new SieveError('option', 'invalid chunk - Too big for current filter')
    }
    const at = load.received
    load.received += chunk.length
    try {
      for (let done = 0; done < chunk.length; ) {
        done += (await load.file.write(chunk, done, chunk.length - done, at + done)).bytesWritten
      }
    } catch (error) {
      // Later chunks may already be in the file: the load cannot continue.
      if (this.#loads.get(name) === load) this.#end(this.#loads, name)
      throw diskError(load.path, error)
    }
    load.written += chunk.length
    return load.written === load.bytes ? load : null
  }

  loaded(name: string): void {
    this.#end(this.#loads, name)
  }

  /** The filter was created by a load with this last chunk. */
  completed(sieve: ServedSieve, iterator: number, chunk: Buffer): void {
    this.#lastChunks.set(sieve, { iterator, digest: digestOf(chunk) })
  }

  /** Whether this is the last chunk of the load that created the filter. */
  isLast(sieve: ServedSieve, iterator: number, chunk: Buffer): boolean {
    const last = this.#lastChunks.get(sieve)
    return last?.iterator === iterator && last.digest === digestOf(chunk)
  }

  async close(): Promise<void> {
    for (const sieve of [...this.#dumps.keys()]) this.#end(this.#dumps, sieve)
    for (const name of [...this.#loads.keys()]) this.#end(this.#loads, name)
    await this.#folder.close()
  }

  #add<K, T extends Transfer>(transfers: Map<K, T>, key: K, transfer: T): void {
    transfers.set(key, transfer)
    const [oldest] = transfers.keys()
    if (transfers.size > MOST_FILES) this.#end(transfers, oldest!)
  }

  // In the background: deleting a large file takes long. A read or write in progress ends first.
  #end<K, T extends Transfer>(transfers: Map<K, T>, key: K): void {
    const transfer = transfers.get(key)
    if (!transfer) return
    transfers.delete(key)
    clearTimeout(transfer.timer)
    rm(transfer.path, { force: true })
      .finally(() => transfer.file.close())
      .catch(() => {})
  }
}
