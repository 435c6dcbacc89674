// Which of the offered items are written to a frontier: those that the sieve has not seen, each key once.
import type { Answer } from '../any-sieve.ts'
import type { AddOptions, QueueCodec, Queued } from './crawl-queue.ts'
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

/** How a queue takes items: those to be fetched, and the texts of new ones that are handled already. */
interface Takes<T> {
  add(items: readonly T[]): Promise<boolean[]>
  addHandled(texts: readonly string[], repeats: number): Answer<void>
}

/** Adds items in order: true for each one that is new. */
export async function addInOrder<T extends Queued>(
  items: readonly T[],
  sieve: SeenUrls,
  codec: QueueCodec<T>,
  queue: Takes<T>,
): Promise<boolean[]> {
  const isNew: boolean[] = []
  for (let from = 0; from < items.length; from = isNew.length) {
    const { isHandled = false } = items[from]!
    const end = items.findIndex((item, i) => i > from && (item.isHandled ?? false) !== isHandled)
    const some = items.slice(from, end < 0 ? items.length : end)
    if (!isHandled) {
      isNew.push(...(await queue.add(some)))
      continue
    }
    const verdicts = Array.from(await sieve.addMany(some.map((item) => codec.keyOf(item))), Boolean)
    const fresh = some.filter((_, i) => verdicts[i])
    await queue.addHandled(
      fresh.map((item) => codec.textOf(item)),
      some.length - fresh.length,
    )
    isNew.push(...verdicts)
  }
  return isNew
}

function distinct(keys: readonly string[], seen: Uint8Array): number[] {
  const found = new Set<string>()
  return keys.flatMap((key, i) => {
    if (seen[i] === 1 || found.has(key)) return []
    found.add(key)
    return [i]
  })
}
