// What `inspect` says of a filter that forgets: its window, and when it forgets next.
import { Generations } from '../filters/generations.ts'
import { formatCount, formatCounted } from '../quantities.ts'
import type { Sieve } from '../sieve.ts'
import { STATE } from '../state.ts'

export interface WindowState {
  readonly windowUrls: number | null
  readonly windowMs: number | null
  readonly generations: number
  /** When the oldest generation is forgotten by its age. */
  readonly forgetsAt: string | null
  /** After how many more new URLs it is forgotten. */
  readonly forgetsAfterUrls: number | null
  /** How many URLs that generation has. */
  readonly forgetsUrls: number
}

/** Null for a filter that does not forget. */
export function windowOf(sieve: Sieve): WindowState | null {
  const { filter, shape = {} } = sieve.plan
  const held = sieve[STATE].shards.all[0]?.filter
  if (filter !== 'window' || !(held instanceof Generations)) return null
  const { windowUrls, windowMs, generations } = shape as unknown as WindowState
  const oldest = held.all[0]!
  const each = windowUrls === null ? 0 : Math.ceil(windowUrls / generations)
  const unfilled = generations - held.all.length
  return {
    windowUrls,
    windowMs,
    generations,
    forgetsAt: windowMs === null ? null : new Date(oldest.born + windowMs).toISOString(),
    forgetsAfterUrls: windowUrls === null ? null : (unfilled + 1) * each - held.all.at(-1)!.urls + 1,
    forgetsUrls: oldest.urls,
  }
}

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
]

/** 30d, as `--window` takes it. */
function formatDuration(ms: number): string {
  const [unit, length] = UNITS.find(([, length]) => ms % length === 0) ?? ['s', 1000]
  return `${formatCount(ms / length)}${unit}`
}

export function windowRows(state: WindowState): [string, string][] {
  const { windowUrls, windowMs, generations, forgetsAt, forgetsAfterUrls, forgetsUrls } = state
  const limits = [
    ...(windowMs === null ? [] : [formatDuration(windowMs)]),
    ...(windowUrls === null ? [] : [formatCounted(windowUrls, 'URL')]),
  ]
  const next = [
    ...(forgetsAt === null ? [] : [`at ${forgetsAt}`]),
    ...(forgetsAfterUrls === null ? [] : [`with the ${formatCount(forgetsAfterUrls)}. new URL from now on`]),
  ]
  return [
    ['window', `${limits.join(' or ')}, in ${formatCount(generations)} generations`],
    ['forgets next', `${formatCounted(forgetsUrls, 'URL')} ${next.join(' or ')}`],
  ]
}
