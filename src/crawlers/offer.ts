// Which of the offered items are written to a frontier: those that the sieve has not seen, each key once.
import type { AddOptions, Queued } from './crawl-queue.ts'
import type { SeenUrls } from './seen-urls.ts'

export interface Chosen {
  /** Indexes of the items to write. */
  readonly fresh: number[]
  /** Why the sieve could not be queried. */
  readonly failure?: unknown
}

/** The items to write; all distinct ones when the sieve fails or is not to be queried. */
export async function choose(
  sieve: SeenUrls,
  keys: readonly string[],
  when: NonNullable<AddOptions['sieve']>,
): Promise<Chosen> {
  if (when === 'never') return { fresh: [...keys.keys()] }
  const none = new Uint8Array(keys.length)
  if (when === 'later') return { fresh: distinct(keys, none) }
  try {
    return { fresh: distinct(keys, (await sieve.hasMany?.(keys)) ?? none) }
  } catch (failure) {
    return { fresh: distinct(keys, none), failure }
  }
}

type Add<T> = (items: readonly T[]) => Promise<boolean[]>

/** Adds items in order: those to be fetched with `add`, those that are handled already with `addHandled`. */
export async function addInOrder<T extends Queued>(
  items: readonly T[],
  add: Add<T>,
  addHandled: Add<T>,
): Promise<boolean[]> {
  const isNew: boolean[] = []
  for (let from = 0; from < items.length; from = isNew.length) {
    const { isHandled = false } = items[from]!
    const end = items.findIndex((item, i) => i > from && (item.isHandled ?? false) !== isHandled)
    const some = items.slice(from, end < 0 ? items.length : end)
    isNew.push(...(await (isHandled ? addHandled : add)(some)))
  }
  return isNew
}

/** Marks items; the indexes of those that were new. */
export async function markNew(sieve: SeenUrls, keys: readonly string[]): Promise<number[]> {
  const verdicts = await sieve.addMany(keys)
  return [...keys.keys()].filter((i) => verdicts[i] === 1)
}

function distinct(keys: readonly string[], seen: Uint8Array): number[] {
  const found = new Set<string>()
  return keys.flatMap((key, i) => {
    if (seen[i] === 1 || found.has(key)) return []
    found.add(key)
    return [i]
  })
}
