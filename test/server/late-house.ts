// A house whose sieves answer later, as those on other machines do.
import type { Items } from '../../src/index.ts'
import type { Hosted, House } from '../../src/server/house.ts'

/** The bytes a sieve was given are gone when it answers. */
export function late(house: House): House {
  const lateOf = (hosted: Hosted): Hosted => {
    const later = (verb: 'add' | 'has') => async (items: Items) => {
      const own = { bytes: items.bytes.slice(), starts: items.starts.slice(), ends: items.ends.slice() }
      await new Promise(setImmediate)
      return hosted[verb](own)
    }
    const { name, kind, bloom, createdAt, meters } = hosted
    return {
      ...{ name, kind, createdAt, meters, ...(bloom && { bloom }) },
      add: later('add'),
      has: later('has'),
      explain: (url) => hosted.explain(url),
      stats: async () => hosted.stats(),
      save: () => hosted.save(),
    }
  }
  const known = new WeakMap<Hosted, Hosted>()
  const get = (name: string) => {
    const hosted = house.get(name)
    if (hosted && !known.has(hosted)) known.set(hosted, lateOf(hosted))
    return hosted && known.get(hosted)
  }
  return {
    faults: house.faults,
    get,
    list: () => house.list(),
    create: async (...asked) => get((await house.create(...asked)).name)!,
    drop: (name) => house.drop(name),
    sizeBytes: 0,
    close: () => house.close(),
  }
}
