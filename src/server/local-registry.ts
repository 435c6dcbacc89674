// The sieves of a server in this process: in memory, or each in its own folder under --data.

import { SieveError } from '../errors.ts'
import { type Durability, Sieve, type SieveOptions } from '../index.ts'
import { DataFolder, type Entry } from './data-folder.ts'
import { asideOf, Faults } from './faults.ts'
import { memoryOfFile } from './loaded-file.ts'
import { LocalSieve } from './local-sieve.ts'
import { checkName, nameTaken } from './names.ts'
import type { BloomSpec, ServedSieve, SieveRegistry, SieveSpec } from './registry.ts'
import { optionsOf, plannedBytes } from './sieve-spec.ts'

export interface LocalRegistryOptions {
  /** The folder of the sieves; without it they are in memory. */
  readonly data?: string
  /** With `data`: when an acknowledged item is on disk. Default `interval`. */
  readonly durability?: Durability
  /** Memory for all sieves. */
  readonly memoryBytes: number
  readonly mostSieves: number
  /** Where faults are reported; default: a list of its own. */
  readonly faults?: Faults
}

export class LocalRegistry implements SieveRegistry {
  readonly faults: Faults
  isLoading = true
  readonly #sieves = new Map<string, LocalSieve>()
  /** Folders of the sieves that are set aside. */
  readonly #aside = new Map<string, string>()
  /** Sieves that are being created or dropped. */
  readonly #busy = new Map<string, Promise<unknown>>()
  readonly #options: LocalRegistryOptions
  readonly #data: DataFolder | undefined
  /** Memory reserved for sieves that are being created. */
  #reservedBytes = 0

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
    const { entries, bad } = this.#data?.entries() ?? { entries: [], bad: [] }
    for (const { name, folder, error } of bad) this.#setAside(name, folder, error)
    for (const entry of entries) {
      await this.#openExisting(entry).catch((error: unknown) => {
        this.#setAside(entry.name, this.#data!.folderOf(entry.name), error)
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
    return this.#sieves.get(name)
  }

  list(): readonly ServedSieve[] {
    return [...this.#sieves.values()]
  }

  get sizeBytes(): number {
    let bytes = 0
    for (const sieve of this.#sieves.values()) bytes += sieve.sizeBytes
    return bytes
  }

  get limitBytes(): number {
    return this.#options.memoryBytes
  }

  async create(name: string, spec: SieveSpec, bloom?: BloomSpec): Promise<ServedSieve> {
    checkName(name)
    const bytes = plannedBytes(optionsOf(spec, bloom))
    const entry = { name, spec, createdAt: new Date(), ...(bloom && { bloom }) }
    return this.#begin(name, bytes, () => this.#create(entry))
  }

  async adopt(name: string, path: string, bloom: BloomSpec): Promise<ServedSieve> {
    checkName(name)
    const bytes = await memoryOfFile(path)
    return this.#begin(name, bytes, async () => {
      const entry = { name, spec: {}, bloom, createdAt: new Date() }
      const served = this.#data
        ? await this.#create(entry, path)
        : this.#register(name, await Sieve.load(path), entry.createdAt, bloom)
      // Its memory is known only after loading.
      if (served.sizeBytes <= bytes) return served
      this.#sieves.delete(name)
      await served.close()
      await this.#data?.remove(this.#data.folderOf(name))
      throw new SieveError(
        'corrupt',
        `it takes ${served.sizeBytes} bytes: expected at most ${bytes} from its file`,
      )
    })
  }

  async drop(name: string): Promise<boolean> {
    while (this.#busy.has(name)) await this.#settled(name)
    const sieve = this.#sieves.get(name)
    const aside = this.#aside.get(name)
    if (!sieve && aside === undefined) return false
    this.#sieves.delete(name)
    await this.#exclusively(name, async () => {
      await sieve?.close().catch(() => {}) // a failure to flush does not matter
      try {
        await this.#data?.remove(aside ?? this.#data.folderOf(name))
      } catch (error) {
        if (sieve) await this.#reopen(sieve)
        throw error
      }
      this.#aside.delete(name)
      this.faults.endAll(name)
    })
    return true
  }

  async close(): Promise<void> {
    while (this.#busy.size > 0) await Promise.allSettled(this.#busy.values())
    const ends = await Promise.allSettled(Array.from(this.#sieves.values(), (sieve) => sieve.close()))
    this.#sieves.clear()
    await this.#data?.release()
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  // Creates a sieve if its name is free and its memory is available.
  async #begin(name: string, bytes: number, make: () => Promise<LocalSieve>): Promise<ServedSieve> {
    while (this.#busy.has(name)) await this.#settled(name)
    if (this.#sieves.has(name)) throw nameTaken(name)
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
  async #reopen({ name, createdAt, bloom }: LocalSieve): Promise<void> {
    this.faults.endAll(name)
    try {
      await this.#openStore({ name, spec: {}, createdAt, ...(bloom && { bloom }) }, {})
    } catch (error) {
      this.#setAside(name, this.#data!.folderOf(name), error)
    }
  }

  // In memory, or in its folder; a failure leaves no folder behind.
  async #create(entry: Entry, file?: string): Promise<LocalSieve> {
    const { name, spec, bloom, createdAt } = entry
    const data = this.#data
    const options = file === undefined ? optionsOf(spec, bloom) : {}
    if (!data) return this.#register(name, await Sieve.create(options), createdAt, bloom)
    await data.write(entry, file)
    try {
      return await this.#openStore(entry, options)
    } catch (error) {
      await data.remove(data.folderOf(name))
      throw error
    }
  }

  // A sieve from an earlier run of the server. Its folder stays even after a failure.
  async #openExisting(entry: Entry): Promise<void> {
    const isMade = this.#data!.isMade(entry.name)
    await this.#openStore(entry, isMade ? {} : optionsOf(entry.spec, entry.bloom))
  }

  async #openStore({ name, bloom, createdAt }: Entry, options: SieveOptions): Promise<LocalSieve> {
    const durability = this.#options.durability ?? 'interval'
    const sieve = await Sieve.open(this.#data!.folderOf(name), { ...options, durability })
    return this.#register(name, sieve, createdAt, bloom)
  }

  // Its files are left as they are; its name is refused until it is repaired or dropped.
  #setAside(name: string, folder: string, error: unknown): void {
    this.#aside.set(name, folder)
    const why = error instanceof Error ? error.message : String(error)
    const help = `'urlsieve verify --repair ${folder}' and a restart recover what can be recovered, DEL drops it`
    this.faults.begin('set-aside', `${why}; ${help}`, name)
  }

  #register(name: string, sieve: Sieve, createdAt: Date, bloom?: BloomSpec): LocalSieve {
    const checkMemory = (one: LocalSieve, bytes: number) => this.#check(bytes, `add to '${one.name}'`)
    const served = new LocalSieve(name, sieve, createdAt, checkMemory, this.faults, bloom)
    this.#sieves.set(name, served)
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
