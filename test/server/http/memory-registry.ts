// A small registry of sieves in memory, for the tests of the HTTP side alone.
import { type DeletingSieve, type FolderSieve, type Plan, Sieve, SieveError } from '../../../src/index.ts'
import { Faults } from '../../../src/server/faults.ts'
import type { BloomSpec, ServedSieve, SieveRegistry, SieveSpec } from '../../../src/server/registry.ts'
import { optionsOf, servedFilters } from '../../../src/server/sieve-spec.ts'

/** With `slow`, verdicts come later, as from another machine. */
export class MemoryRegistry implements SieveRegistry {
  readonly sieves = new Map<string, ServedSieve & { readonly plan: Plan }>()
  filters = servedFilters
  readonly faults = new Faults()
  saved = 0
  slow = false

  get(name: string): ServedSieve | undefined {
    return this.sieves.get(name)
  }

  list(): readonly ServedSieve[] {
    return [...this.sieves.values()]
  }

  get sizeBytes(): number {
    return 1000 * this.sieves.size
  }

  async create(name: string, spec: SieveSpec, bloom?: BloomSpec): Promise<ServedSieve> {
    const sieve = await Sieve.create(optionsOf(spec, bloom))
    if (this.sieves.has(name)) throw new SieveError('option', `the name '${name}' is taken`)
    const later = <T>(value: T) =>
      this.slow ? new Promise<T>((resolve) => setTimeout(resolve, 1, value)) : value
    const served: ServedSieve & { readonly plan: Plan } = {
      name,
      kind: bloom ? 'bloom' : 'sieve',
      ...(bloom && { bloom }),
      createdAt: new Date(),
      meters: { adds: 0, fresh: 0, seen: 0, asks: 0 },
      plan: sieve.plan,
      add: (items) => later(sieve.addItems(items)),
      has: (items) => later(sieve.hasItems(items)),
      explain: (url) => sieve.explain(url),
      stats: () => sieve.stats(),
      ...('delete' in sieve && {
        forget: (urls: readonly string[]) =>
          Uint8Array.from(urls, (url) => Number((sieve as DeletingSieve).delete(url))),
      }),
      ...('hasUnder' in sieve && { under: (folder: string) => (sieve as FolderSieve).hasUnder(folder) }),
      save: async () => {
        this.saved++
      },
    }
    this.sieves.set(name, served)
    return served
  }

  async drop(name: string): Promise<boolean> {
    return this.sieves.delete(name)
  }

  async dropAll(): Promise<void> {
    this.sieves.clear()
  }

  async close(): Promise<void> {
    this.sieves.clear()
  }
}
