// The keys on disk: LevelDB as a set. Each write is one atomic batch; a write that fails leaves nothing behind, and
// the next one goes on when there is disk space again. What is relied on of LevelDB is stated where it is used.
import {
  closeSync,
  fdatasync,
  fsyncSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { ClassicLevel } from 'classic-level'
import { SieveError } from '../errors.ts'
import { classicLevel } from '../peers.ts'
import { diskError, openOwn, syncFolder } from '../store/file.ts'
import { type KeyRange, META_KEY } from './key-layout.ts'
import { checkFolder } from './leveldb/folder.ts'
import { lastRecord } from './leveldb/log.ts'

const NOTHING = Buffer.alloc(0)
/** Keys read at a time. */
const SOME_KEYS = 2000
/** A write buffer is kept in memory up to twice; files, and the logs read on open, have this length. */
const WRITE_BUFFER_BYTES = 8 * 1024 * 1024
const BLOCK_CACHE_BYTES = 16 * 1024 * 1024

/** How long a log may outlive its table. */
const MOST_WAIT_MS = 512

const sizes = { writeBufferSize: WRITE_BUFFER_BYTES, cacheSize: BLOCK_CACHE_BYTES }
const syncData = promisify(fdatasync)

/** One line for what LevelDB throws. */
function levelError(path: string, error: unknown): SieveError {
  if (error instanceof SieveError) return error
  const { code, message, cause } = error as NodeJS.ErrnoException
  const inner = (cause ?? error) as NodeJS.ErrnoException
  switch (inner.code ?? code) {
    case 'LEVEL_LOCKED':
      return new SieveError('locked', `${path} is open in another process: one at a time; stop that process`)
    case 'LEVEL_CORRUPTION':
      return new SieveError('corrupt', `${path} is damaged: ${inner.message}; see \`urlsieve verify\``)
    case 'LEVEL_DATABASE_NOT_OPEN':
    case 'LEVEL_ITERATOR_NOT_OPEN':
      return new SieveError('disk', `${path} is closed: open it again`)
  }
  if (/No space left/i.test(inner.message)) return diskError(path, { code: 'ENOSPC' })
  if (/File too large/i.test(inner.message)) return diskError(path, { code: 'EFBIG' })
  if (/Read-only file system/i.test(inner.message)) return diskError(path, { code: 'EROFS' })
  return new SieveError('disk', `cannot use ${path}: ${inner.message || message}`)
}

type Undo = { type: 'del'; key: Buffer } | { type: 'put'; key: Buffer; value: Buffer }

export class KeyStore {
  readonly path: string
  readonly #level: ClassicLevel<Buffer, Buffer>
  /** A write failed: LevelDB must be reopened before the next, since its log may end in half a record. */
  #isBroken = false
  /** Undoes writes that failed: they may still turn up in the log, and were never acknowledged. */
  #undos: Undo[] = []
  #isWritten = false
  /** The last sync begun, until it has ended. */
  #syncing: Promise<void> | null = null
  /** Logs whose sync has failed. */
  readonly #unsafe = new Set<string>()

  private constructor(path: string, level: ClassicLevel<Buffer, Buffer>) {
    this.path = path
    this.#level = level
  }

  /** Logs are checked always, tables with `verify`. With `repair`, what is damaged is left out instead of refused. */
  static async open(
    path: string,
    { verify, repair }: { verify: boolean; repair: boolean },
  ): Promise<KeyStore> {
    if (!repair) {
      const [damage] = (await checkFolder(path, verify)).damages
      if (damage) throw new SieveError('corrupt', damage)
    }
    const { ClassicLevel } = await classicLevel()
    const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
    const store = new KeyStore(path, new ClassicLevel(path, { ...encodings, ...sizes }))
    try {
      await store.#level.open(sizes)
    } catch (error) {
      const { code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException
      if (!repair || code !== 'LEVEL_CORRUPTION') throw levelError(path, error)
      await ClassicLevel.repair(path)
      await store.#level.open(sizes)
    }
    return store
  }

  /** What the store knows of itself; undefined when it is new. */
  async meta(): Promise<Buffer | undefined> {
    return this.#guarded(() => this.#level.get(META_KEY))
  }

  async isEmpty(): Promise<boolean> {
    for await (const _ of this.keys()) return false
    return true
  }

  /** For each key whether it is there. */
  async hasMany(keys: readonly Buffer[]): Promise<boolean[]> {
    if (keys.length === 0) return []
    // Not LevelDB's has: that seeks in every level, where get consults the tables' own filters first.
    const values = await this.#guarded(() => this.#level.getMany(keys as Buffer[]))
    return values.map((value) => value !== undefined)
  }

  /** Puts and deletes, all or none. With `sync` they are on the disk when it returns, else handed to the system. */
  async write(puts: readonly Buffer[], dels: readonly Buffer[], sync: boolean, meta?: Buffer): Promise<void> {
    if (this.#isBroken) await this.#mend()
    try {
      // A chained batch: the array of operations that LevelDB takes instead costs more than the write.
      const batch = this.#level.batch()
      if (meta) batch.put(META_KEY, meta)
      for (const key of puts) batch.put(key, NOTHING)
      for (const key of dels) batch.del(key)
      await batch.write({ sync })
      this.#isWritten = true
    } catch (error) {
      this.#isBroken = true
      for (const key of puts) this.#undos.push({ type: 'del', key })
      for (const key of dels) this.#undos.push({ type: 'put', key, value: NOTHING })
      this.#takeBack([...puts, ...dels])
      throw levelError(this.path, error)
    }
  }

  /** Keys in order, some at a time, as they were when the first were read. */
  async *keys(range?: KeyRange): AsyncGenerator<Buffer[]> {
    const bounds = range ? { gte: range.gte, lt: range.lt } : { gt: META_KEY }
    const iterator = this.#level.keys({ ...bounds, fillCache: false, highWaterMarkBytes: 512 * 1024 })
    try {
      for (;;) {
        const some = await this.#guarded(() => iterator.nextv(SOME_KEYS))
        if (some.length === 0) return
        yield some
      }
    } finally {
      await iterator.close()
    }
  }

  /** Deletes every key. */
  async clear(): Promise<void> {
    if (this.#isBroken) await this.#mend()
    try {
      await this.#level.clear({ gt: META_KEY })
      this.#isWritten = true
    } catch (error) {
      this.#isBroken = true
      throw levelError(this.path, error)
    }
  }

  /**
   * Puts all that was written on the disk. LevelDB's own sync reaches its newest log only, and a log it has just
   * left is on the disk no sooner than its table: so each log is synced here.
   */
  sync(): Promise<void> {
    const run = (this.#syncing ?? Promise.resolve()).then(() => this.#syncLogs())
    this.#syncing = run
    const end = () => {
      if (this.#syncing === run) this.#syncing = null
    }
    run.then(end, end)
    return run
  }

  /** A sync is under way: one that is called now waits for it, and fails when it fails. */
  get isSyncing(): boolean {
    return this.#syncing !== null
  }

  async #syncLogs(): Promise<void> {
    if (this.#unsafe.size > 0) await this.#rewrite()
    if (!this.#isWritten) return
    this.#isWritten = false
    for (const name of this.#logs()) {
      try {
        const file = await open(join(this.path, name), 'r').catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error // else: it is a table by now, and tables are synced
        })
        if (!file) continue
        try {
          await syncData(file.fd)
        } finally {
          await file.close()
        }
      } catch (error) {
        this.#isWritten = true
        this.#unsafe.add(name)
        throw diskError(join(this.path, name), error)
      }
    }
    try {
      syncFolder(this.path)
    } catch (error) {
      this.#isWritten = true
      throw diskError(this.path, error)
    }
  }

  // After a sync that failed the system may have dropped what it had of a log, and a later sync would not say so. LevelDB
  // has it all in memory too: a compaction writes that to a table, and the log is gone.
  async #rewrite(): Promise<void> {
    if (this.#isBroken) return this.#mend()
    await this.#guarded(() => this.#level.compactRange(META_KEY, META_KEY))
    // Whether it did is not reported, but by this. The log goes soon after its table is in place.
    for (let wait = 1; ; wait *= 2) {
      const left = this.#logs().find((name) => this.#unsafe.has(name))
      if (left === undefined) break
      if (wait > MOST_WAIT_MS) throw diskError(join(this.path, left), { code: 'EIO' })
      await setTimeout(wait)
    }
    this.#unsafe.clear()
  }

  #logs(): string[] {
    return readdirSync(this.path).filter((name) => name.endsWith('.log'))
  }

  async close(): Promise<void> {
    try {
      await this.#level.close()
    } catch (error) {
      throw levelError(this.path, error)
    }
    // Closing may have written what was refused.
    if (this.#isBroken) this.#takeBack(this.#undos.map(({ key }) => key))
  }

  async #guarded<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      throw levelError(this.path, error)
    }
  }

  // A write whose sync failed may stand in the log as a whole: a restart would find it there, though it was refused.
  // LevelDB does not write to this log again, since it is reopened before the next write.
  #takeBack(keys: readonly Buffer[]): void {
    const log = this.#logs().sort().at(-1)
    const [first] = keys
    if (!log || !first) return
    try {
      const path = join(this.path, log)
      const last = lastRecord(readFileSync(path))
      if (last?.payload.includes(first) && last.payload.includes(keys.at(-1)!)) truncateSync(path, last.at)
    } catch {
      // it is deleted when LevelDB is reopened
    }
  }

  // Reopens LevelDB when there is disk space for it: until then it stays open, so that it can be queried.
  async #mend(): Promise<void> {
    this.#probe()
    await this.close()
    try {
      await this.#level.open(sizes)
    } catch (error) {
      throw levelError(this.path, error)
    }
    await this.#guarded(() => this.#level.batch(this.#undos, { sync: true }))
    this.#undos = []
    this.#isBroken = false
    this.#unsafe.clear() // opening wrote the logs to tables
  }

  // Opening writes the logs to tables: checks that there is disk space for that.
  #probe(): void {
    const need = this.#logs().reduce((sum, name) => sum + statSync(join(this.path, name)).size, 64 * 1024)
    const path = join(this.path, '..', 'probe')
    try {
      const fd = openOwn(path, 'w')
      try {
        const block = Buffer.alloc(64 * 1024)
        for (let done = 0; done < need; ) done += writeSync(fd, block)
        fsyncSync(fd)
      } finally {
        closeSync(fd)
        unlinkSync(path)
      }
    } catch (error) {
      throw diskError(this.path, error)
    }
  }
}
