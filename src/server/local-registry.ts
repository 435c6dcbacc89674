// The sieves of a server in this process: in memory, or each in its own folder under --data.

import { basename } from 'node:path'
import { SieveError } from '../errors.ts'
import { type Durability, Sieve, type SieveOptions } from '../index.ts'
import { compileKernel } from '../kernel.ts'
import { Pace } from '../store/pace.ts'
import { DataFolder, type Entry, readingOnly } from './data-folder.ts'
import { Expiry } from './expiry.ts'
import { asideOf, Faults } from './faults.ts'
import { memoryOfFile } from './loaded-file.ts'
import { LocalSieve } from './local-sieve.ts'
import { checkName, nameTaken } from './names.ts'
import type { RecentShapes } from './recent-shapes.ts'
import type { BloomSpec, Purpose, ServedSieve, SieveRegistry, SieveSpec, Storage } from './registry.ts'
import { limitBytes, limitedOf, limitsOf, optionsOf, plannedBytes, servedFilters } from './sieve-spec.ts'

export interface LocalRegistryOptions {
  /** The folder of the sieves; without it they are in memory. */
  readonly data?: string
  /** With `data`: when an acknowledged item is on disk. Default `interval`. */
  readonly durability?: Durability
  /** Memory for all sieves. */
  readonly memoryBytes: number
  readonly mostSieves: number
  /** Collects the shapes of added URLs. */
  readonly shapes?: RecentShapes
  /** Where faults are reported; default: a list of its own. */
  readonly faults?: Faults
}

export class LocalRegistry implements SieveRegistry {
  readonly filters = servedFilters
  readonly faults: Faults
  isLoading = true
  readonly #sieves = new Map<string, LocalSieve>()
  /** Folders of the sieves that are set aside. */
  readonly #aside = new Map<string, string>()
  /** Sieves that are being created or dropped. */
  readonly #busy = new Map<string, Promise<unknown>>()
  readonly #options: LocalRegistryOptions
  readonly #data: DataFolder | undefined
  readonly #expiry = new Expiry(() => this.#dropExpired())
  /** Memory reserved for sieves that are being created. */
  #reservedBytes = 0
  expired = 0

  /** Locks the folder; throws when another server uses it. Call `load` next. */
  constructor(options: LocalRegistryOptions) {
    this.#options = options
    this.faults = options.faults ?? new Faults()
    this.#data = options.data === undefined ? undefined : new DataFolder(options.data)
  }

  static async open(options: LocalRegistryOptions): Promise<LocalRegistry> {
    const registry = new LocalRegistry(options)
    await registry.load().catch(async (error: unknown) => {
      await registry.close()
      throw error
    })
    return registry
  }

  /**
   * Opens the sieves in the folder. A sieve that cannot be opened is set aside, and the others are served. Throws when they
   * take more memory than allowed; then close the registry.
   */
  async load(): Promise<void> {
    await compileKernel() // not while the first client waits
    const { entries, bad } = this.#data?.entries() ?? { entries: [], bad: [] }
    for (const { name, folder, error } of bad) this.#setAside(name, folder, error)
    const refusal = this.#data?.refusal
    if (refusal !== undefined) this.faults.begin('disk', refusal)
    for (const entry of entries) {
      await this.#openExisting(entry).catch((error: unknown) => {
        this.#setAside(entry.name, this.#data!.folderOf(entry), error)
      })
      this.#check(0, 'open the sieves in the folder')
    }
    await this.#data?.cleared()
    this.isLoading = false
  }

  get transfers(): string | undefined {
    return this.#data?.transfers
  }

  get(name: string): ServedSieve | undefined {
    const sieve = this.#sieves.get(name)
    return sieve?.isAbsent ? undefined : sieve
  }

  list(): readonly ServedSieve[] {
    return Array.from(this.#sieves.values()).filter((sieve) => !sieve.isAbsent)
  }

  get sizeBytes(): number {
    let bytes = 0
    for (const sieve of this.#sieves.values()) bytes += sieve.sizeBytes
    return bytes
  }

  get limitBytes(): number {
    return this.#options.memoryBytes
  }

  get shapes(): RecentShapes | undefined {
    return this.#options.shapes
  }

  async storage(): Promise<Storage> {
    return this.#data?.storage() ?? { kind: 'memory' }
  }

  async create(name: string, spec: SieveSpec, purpose?: Purpose, isByAdd = false): Promise<ServedSieve> {
    checkName(name)
    const pace = new Pace()
    const bytes = plannedBytes(optionsOf(spec, purpose)) + limitBytes(limitsOf(spec))
    await pace.rest()
    const entry = {
      name,
      spec,
      createdAt: new Date(),
      ...(purpose && { purpose }),
      ...(isByAdd && { isByAdd }),
    }
    return this.#begin(name, bytes, () => this.#create(entry))
  }

  async adopt(name: string, path: string, bloom: BloomSpec): Promise<ServedSieve> {
    checkName(name)
    const bytes = await memoryOfFile(path)
    return this.#begin(name, bytes, async () => {
      const entry = { name, spec: {}, purpose: bloom, createdAt: new Date() }
      const served = this.#data
        ? await this.#create(entry, path)
        : await this.#register(entry, await Sieve.load(path))
      // Its memory is known only after loading.
      if (served.sizeBytes <= bytes) return served
      this.#sieves.delete(name)
      await served.close()
      await this.#data?.remove(this.#data.folderOf(served.entry))
      throw new SieveError(
        'corrupt',
        `it takes ${served.sizeBytes} bytes: expected at most ${bytes} from its file`,
      )
    })
  }

  drop(name: string): Promise<boolean> {
    return this.#drop(name)
  }

  async dropAll(): Promise<void> {
    this.#data?.checkWritable()
    const all = [...this.#sieves.values()]
    for (const sieve of all) sieve.isHidden = true
    const failures: unknown[] = []
    const pace = new Pace()
    for (const sieve of all) {
      await this.#drop(sieve.name, sieve).catch((error) => failures.push(error))
      await pace.rest()
    }
    if (failures.length > 0) throw failures[0]
  }

  // `only`: unless another sieve has the name by now. False when there was none, or its time had come.
  async #drop(name: string, only?: LocalSieve): Promise<boolean> {
    while (this.#busy.has(name)) await this.#settled(name)
    const sieve = this.#sieves.get(name)
    if (only && sieve !== only) return false
    const aside = this.#aside.get(name)
    if (!sieve && aside === undefined) return false
    this.#data?.checkWritable()
    const isAbsent = sieve?.isAbsent ?? false
    if (sieve?.isExpired) this.expired++
    this.#sieves.delete(name)
    await this.#exclusively(name, async () => {
      await sieve?.close().catch(() => {}) // a failure to flush does not matter
      try {
        await this.#data?.remove(sieve ? this.#data.folderOf(sieve.entry) : aside!)
      } catch (error) {
        if (sieve) await this.#reopen(sieve)
        throw error
      }
      this.#aside.delete(name)
      this.faults.endAll(name)
    })
    return !isAbsent
  }

  async expire(name: string, at: number | undefined): Promise<boolean> {
    while (this.#busy.has(name)) await this.#settled(name)
    const sieve = this.#sieves.get(name)
    if (!sieve || sieve.isAbsent) return false
    if (at !== undefined && at <= Date.now()) return this.drop(name)
    this.#data?.checkWritable()
    const { expiresAt, ...rest } = sieve.entry
    const entry = at === undefined ? rest : { ...rest, expiresAt: at }
    if (this.#data) await this.#exclusively(name, () => this.#data!.rewrite(entry))
    sieve.describe(entry)
    if (at !== undefined) this.#expiry.schedule(at)
    return true
  }

  async rename(from: string, to: string, isReplacing: boolean): Promise<boolean> {
    checkName(to)
    while (this.#busy.has(from) || this.#busy.has(to)) await this.#settled(this.#busy.has(from) ? from : to)
    const sieve = this.#sieves.get(from)
    if (!sieve || sieve.isAbsent) return false
    if (from === to) return isReplacing
    if (!isReplacing && this.get(to)) return false
    const aside = asideOf(this.faults, to)
    if (aside !== undefined) throw new SieveError('corrupt', aside)
    const before = this.#sieves.get(to)
    this.#data?.checkWritable()
    const { replaces, ...rest } = sieve.entry
    const data = this.#data
    const entry: Entry = {
      ...rest,
      name: to,
      ...(data && { folder: basename(data.folderOf(sieve.entry)) }),
      ...(data && before && { replaces: basename(data.folderOf(before.entry)) }),
    }
    // Both names are taken until it is over. Clients see the sieves under their old names, then the one under its new name.
    const work = this.#exclusively(from, async () => {
      await data?.rewrite(entry)
      this.#sieves.delete(from)
      this.#sieves.set(to, sieve)
      if (before) this.faults.endAll(to)
      sieve.describe(entry)
      await before?.close().catch(() => {})
      // What cannot be removed is removed at the next start: the entry names it.
      if (before) await data?.remove(data.folderOf(before.entry)).catch(() => {})
    })
    await this.#exclusively(to, () => work)
    return true
  }

  // Drops the sieves whose time has come. Returns when the next one expires.
  async #dropExpired(): Promise<number | undefined> {
    for (const sieve of [...this.#sieves.values()]) if (sieve.isExpired) await this.#drop(sieve.name, sieve)
    const times = Array.from(this.#sieves.values(), ({ expiresAt }) => expiresAt ?? Number.POSITIVE_INFINITY)
    const next = times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY)
    return next === Number.POSITIVE_INFINITY ? undefined : next
  }

  async close(): Promise<void> {
    this.#expiry.close()
    while (this.#busy.size > 0) await Promise.allSettled(this.#busy.values())
    const ends = await Promise.allSettled(Array.from(this.#sieves.values(), (sieve) => sieve.close()))
    this.#sieves.clear()
    await this.#data?.release()
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  // Creates a sieve if its name is free and its memory is available.
  async #begin(name: string, bytes: number, make: () => Promise<LocalSieve>): Promise<ServedSieve> {
    while (this.#busy.has(name)) await this.#settled(name)
    if (this.#sieves.get(name)?.isAbsent) {
      await this.drop(name)
      return this.#begin(name, bytes, make)
    }
    if (this.#sieves.has(name)) throw nameTaken(name)
    this.#data?.checkWritable()
    const aside = asideOf(this.faults, name)
    if (aside !== undefined) throw new SieveError('corrupt', aside)
    const { mostSieves } = this.#options
    if (this.#sieves.size + this.#busy.size >= mostSieves) {
      throw new SieveError(
        'memory',
        `there are ${mostSieves} sieves, the most allowed (--max-sieves): drop one`,
      )
    }
    this.#check(bytes, 'create this sieve')
    this.#reservedBytes += bytes
    return this.#exclusively(name, make).finally(() => {
      this.#reservedBytes -= bytes
    })
  }

  // Several callers may wait for one name: each has to check again, in the same turn in which it continues.
  async #settled(name: string): Promise<void> {
    await this.#busy.get(name)?.catch(() => {})
  }

  #exclusively<T>(name: string, act: () => Promise<T>): Promise<T> {
    const work = act().finally(() => this.#busy.delete(name))
    this.#busy.set(name, work)
    return work
  }

  // Its folder could not be removed and a restart would find it, so it is served again. Its old faults are no longer watched.
  async #reopen({ name, entry }: LocalSieve): Promise<void> {
    this.faults.endAll(name)
    try {
      await this.#openStore(entry, {})
    } catch (error) {
      this.#setAside(name, this.#data!.folderOf(entry), error)
    }
  }

  // In memory, or in its folder; a failure leaves no folder behind.
  async #create(given: Entry, file?: string): Promise<LocalSieve> {
    const data = this.#data
    const options = file === undefined ? optionsOf(given.spec, given.purpose) : {}
    if (!data) return this.#register(given, await Sieve.create(options))
    const entry = await data.create(given, file)
    try {
      return await this.#openStore(entry, options)
    } catch (error) {
      await data.remove(data.folderOf(entry))
      throw error
    }
  }

  // A sieve from an earlier run of the server. Its folder stays even after a failure, unless its time has come.
  async #openExisting(entry: Entry): Promise<void> {
    const data = this.#data!
    const isMade = data.isMade(entry)
    if (data.refusal !== undefined) {
      if (isMade) await this.#openForReading(entry, data.refusal)
      return
    }
    if (entry.expiresAt !== undefined && entry.expiresAt <= Date.now()) {
      await data.remove(data.folderOf(entry))
      this.expired++
      return
    }
    try {
      const sieve = await this.#openStore(entry, isMade ? {} : optionsOf(entry.spec, entry.purpose))
      // The server was killed between the creation and the add that it was for.
      const isEmpty = (entry.isByAdd || entry.purpose === 'set') && sieve.stats().urls === 0
      if (isEmpty) await this.#drop(entry.name)
      else if (entry.expiresAt !== undefined) this.#expiry.schedule(entry.expiresAt)
    } catch (error) {
      if (!(isMade && error instanceof SieveError && error.code === 'disk')) throw error
      await this.#openForReading(entry, readingOnly(error))
      this.faults.begin('disk', readingOnly(error), entry.name)
    }
  }

  // Its answers are right; it takes nothing.
  async #openForReading(entry: Entry, refusal: string): Promise<void> {
    await this.#register(entry, await Sieve.open(this.#data!.folderOf(entry), { readOnly: true }), refusal)
  }

  async #openStore(entry: Entry, options: SieveOptions): Promise<LocalSieve> {
    const durability = this.#options.durability ?? 'interval'
    const sieve = await Sieve.open(this.#data!.folderOf(entry), { ...options, durability })
    return this.#register(entry, sieve)
  }

  // Its files are left as they are; its name is refused until it is repaired or dropped.
  #setAside(name: string, folder: string, error: unknown): void {
    this.#aside.set(name, folder)
    const why = error instanceof Error ? error.message : String(error)
    const help = `'urlsieve verify --repair ${folder}' and a restart recover what can be recovered, DEL drops it`
    this.faults.begin('set-aside', `${why}; ${help}`, name)
  }

  async #register(entry: Entry, sieve: Sieve, refusal?: string): Promise<LocalSieve> {
    const checkMemory = (one: LocalSieve, bytes: number) => this.#check(bytes, `add to '${one.name}'`)
    const limited = await limitedOf(entry.spec, sieve)
    const served = new LocalSieve(entry, sieve, checkMemory, this.faults, {
      limited,
      shapes: this.shapes,
      refusal,
    })
    this.#sieves.set(entry.name, served)
    return served
  }

  #check(bytes: number, what: string): void {
    const { memoryBytes } = this.#options
    const used = this.sizeBytes + this.#reservedBytes
    if (used + bytes <= memoryBytes) return
    throw new SieveError(
      'memory',
      `no memory to ${what}: ${used} bytes are used, ${Math.ceil(bytes)} more are needed, ${memoryBytes} are allowed (--memory)`,
    )
  }
}
