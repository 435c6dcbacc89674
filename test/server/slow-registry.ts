// A registry whose sieves answer later, as those on other machines do.
import type { Items } from '../../src/index.ts'
import type { ServedSieve, SieveRegistry } from '../../src/server/registry.ts'

/** The bytes a sieve was given are gone when it answers. */
export function answeringLater(registry: SieveRegistry): SieveRegistry {
  const lateOf = (served: ServedSieve): ServedSieve => {
    const later = (verb: 'add' | 'has') => async (items: Items) => {
      const own = {
        bytes: new Uint8Array(items.bytes),
        starts: items.starts.slice(),
        ends: items.ends.slice(),
      }
      await new Promise(setImmediate)
      return served[verb](own)
    }
    const { name, kind, bloom, createdAt, meters } = served
    return {
      ...{ name, kind, createdAt, meters, ...(bloom && { bloom }) },
      add: later('add'),
      has: later('has'),
      explain: (url) => served.explain(url),
      stats: async () => served.stats(),
      save: () => served.save(),
    }
  }
  const known = new WeakMap<ServedSieve, ServedSieve>()
  const get = (name: string) => {
    const served = registry.get(name)
    if (served && !known.has(served)) known.set(served, lateOf(served))
    return served && known.get(served)
  }
  return {
    filters: registry.filters,
    faults: registry.faults,
    get,
    list: () => registry.list(),
    create: async (...asked) => get((await registry.create(...asked)).name)!,
    drop: (name) => registry.drop(name),
    dropAll: () => registry.dropAll(),
    sizeBytes: 0,
    close: () => registry.close(),
  }
}
