// A filter that forgets: G generations, of which the oldest goes when a new one begins, by count or by age. For
// recrawls: "seen in the last 30 days".

import { option, SieveError, wording } from '../errors.ts'
import { generations, growingSizes, inner, windowMs, windowUrls } from '../options/filter-options.ts'
import { blocked } from './blocked.ts'
import { classic } from './classic.ts'
import type { FilterKind, FilterOptions, Held, Shaped } from './filter.ts'
import { fingerprint } from './fingerprint.ts'
import {
  compoundRate,
  GENERATION_BYTES,
  type Generation,
  Generations,
  heldByGenerations,
  sharesOf,
} from './generations.ts'
import { checkField, checkNear, MOST_COUNT, savedObject, savedWhole } from './saved-plan.ts'

const inners = { fingerprint, blocked, classic } as const
const innerNames = Object.keys(inners) as (keyof typeof inners)[]
const DEFAULT_GENERATIONS = 8
const LEAST_GENERATIONS = 2
const MOST_GENERATIONS = 255
/** Making a generation takes two milliseconds: it is to last for more than a few URLs, and longer than that. */
const LEAST_URLS = 8
const LEAST_MS = 20

export interface WindowShape {
  readonly inner: keyof typeof inners
  readonly generations: number
  readonly windowUrls: number | null
  readonly windowMs: number | null
  readonly rate: number | null
  readonly expectedUrls: number | null
}

function shapeOf(options: FilterOptions): WindowShape {
  const inner = (options.inner ?? 'fingerprint') as WindowShape['inner']
  const windowUrls = options.windowUrls ?? (options.windowMs === undefined ? options.expectedUrls : undefined)
  if (windowUrls === undefined && options.windowMs === undefined) {
    throw new SieveError(
      'option',
      wording`filter 'window' has no limit: expected ${option('windowUrls')} (a number of URLs) or ${option('windowMs')} (a duration)`,
      { option: 'windowUrls', expected: 'windowUrls or windowMs' },
    )
  }
  if (windowUrls === undefined && !inners[inner].can.grow && options.expectedUrls === undefined) {
    throw new SieveError(
      'option',
      wording`filter 'window' of '${inner}' by age: expected ${option('expectedUrls')}, the number of URLs in that time`,
      { option: 'expectedUrls', expected: 'the number of URLs in that time' },
    )
  }
  return {
    inner,
    generations: generationsFor(options, windowUrls),
    windowUrls: windowUrls ?? null,
    windowMs: options.windowMs ?? null,
    rate: options.falsePositiveRate ?? null,
    expectedUrls: options.expectedUrls ?? null,
  }
}

// Those given, unless they are too many for the window.
function generationsFor({ generations, windowMs }: FilterOptions, windowUrls: number | undefined): number {
  const byUrls = Math.floor((windowUrls ?? Number.POSITIVE_INFINITY) / LEAST_URLS)
  const byAge = Math.floor((windowMs ?? Number.POSITIVE_INFINITY) / LEAST_MS)
  const most = Math.max(LEAST_GENERATIONS, Math.min(MOST_GENERATIONS, byUrls, byAge))
  if (generations !== undefined && generations > most) {
    const why =
      byUrls <= byAge
        ? wording`${option('windowUrls')} ${windowUrls!}: each takes ${LEAST_URLS} URLs or more`
        : wording`${option('windowMs')} ${windowMs!}: each lasts ${LEAST_MS} ms or more`
    throw new SieveError(
      'option',
      wording`${option('generations')} ${generations}: expected at most ${most} with ${why}`,
      { option: 'generations', got: generations, expected: `at most ${most}` },
    )
  }
  return generations ?? Math.min(DEFAULT_GENERATIONS, most)
}

// Each generation holds its part of the window, at its part of the rate; this is the share `1 / shares` of one.
function planOf(shape: WindowShape, shares = 1) {
  const urls = shape.windowUrls ?? shape.expectedUrls
  return inners[shape.inner].plan({
    ...(urls !== null && { expectedUrls: Math.ceil(urls / shape.generations / shares) }),
    ...(shape.rate !== null && { falsePositiveRate: shape.rate / shape.generations }),
  })
}

function succession({ shape }: Shaped<WindowShape>, shares: number) {
  const { generations, windowUrls, windowMs } = shape
  const plan = planOf(shape, shares)
  const most = windowUrls === null ? MOST_COUNT : Math.ceil(windowUrls / shares)
  return {
    kind: inners[shape.inner],
    most: generations,
    mostGone: MOST_COUNT,
    // Files of earlier versions have generations of this size, each as large as the others.
    capacity: () => Math.ceil(most / generations),
    plan: () => plan,
    // One that was begun after now, by a clock that was ahead, is of unknown age: it may be too old.
    ...(windowMs !== null && {
      isOver: ({ born }: Generation, now: number) => now - born >= windowMs || born > now,
    }),
    left({ urls, born }: Generation, now: number, index: number): number {
      if (windowMs !== null && now - born >= windowMs / generations) return 0
      // So many in a row as there are generations hold the window, no more and no less.
      const part = index % generations
      const end = (i: number) => Math.floor((i * most) / generations)
      return end(part + 1) - end(part) - urls
    },
  }
}

const growthOf = (inner: WindowShape['inner']) => (inners[inner] as FilterKind).growth

// The generations that may begin before `urls` more are in: by age one, by count one for each that is filled. One is made
// before the oldest goes.
function growthBytes({ shape, sizeBytes }: Shaped<WindowShape>, { layers }: Held, urls: number): number {
  const { inner, generations, windowUrls } = shape
  const filled = windowUrls === null ? 0 : Math.ceil(urls / Math.floor(windowUrls / generations))
  const most = generations + 1 - Math.min(generations, layers?.length ?? 0)
  const begun = Math.min(1 + filled, most)
  const growth = growthOf(inner)
  if (!growth) return (sizeBytes / generations + GENERATION_BYTES) * begun
  const one = planOf(shape)
  return growth.growthBytes(one, { sizeBytes: 0 }, urls) + GENERATION_BYTES * begun
}

/**
 * Errs towards "new" by design: it forgets the oldest. A URL is remembered for at least (G − 1) / G of the window and
 * never longer than the window. Within it, errs towards "seen" as its inner filter does, all generations together.
 * By age, a clock that is set back makes it forget the generations that were begun after the time it is set to.
 */
export const window = {
  name: 'window',
  does: 'generations that expire by count or age, for recrawls',
  source: 'ours',
  errs: 'towards "new" when it forgets, by design; towards "seen" as its inner filter does',
  exactness: 'approximate',
  forgets: true,
  options: [...growingSizes, windowMs, windowUrls, generations, inner(innerNames)],
  can: { delete: false, grow: true, under: false },
  takes: 'hashes',
  hasOwnInstances: true,
  growth: {
    heldBytes: heldByGenerations,
    growthBytes,
    // One generation is made before the oldest goes.
    overheadBytes({ shape, sizeBytes }) {
      const { inner, generations } = shape
      const next = growthOf(inner) ? 0 : sizeBytes / generations
      return GENERATION_BYTES * (generations + 1) + next
    },
  },

  plan(options) {
    const shape = shapeOf(options)
    const one = planOf(shape)
    const all = (value: number | null) => (value === null ? null : value * shape.generations)
    const rates =
      one.expectedRate === null ? null : Array.from({ length: shape.generations }, () => one.expectedRate!)
    const expectedRate = rates && compoundRate(rates)
    return {
      filter: 'window',
      expectedUrls: shape.windowUrls ?? shape.expectedUrls,
      promisedRate: options.falsePositiveRate ?? expectedRate,
      expectedRate,
      sizeBytes: one.sizeBytes * shape.generations,
      bits: all(one.bits),
      hashes: one.hashes,
      bitsPerUrl: one.bitsPerUrl,
      shape: { ...shape },
    }
  },

  arrayBytes(plan) {
    const shape = savedObject('plan.shape', plan.shape)
    const { inner, windowMs, rate } = shape
    const isInner = typeof inner === 'string' && Object.hasOwn(inners, inner)
    checkField('plan.shape.inner', inner, isInner, `one of ${innerNames.join(', ')}`)
    const generations = savedWhole('plan.shape.generations', shape.generations, 2, MOST_GENERATIONS)
    for (const name of ['windowUrls', 'expectedUrls']) {
      if (shape[name] !== null) savedWhole(`plan.shape.${name}`, shape[name], 1, Number.MAX_SAFE_INTEGER)
    }
    const isTime = windowMs === null || (Number.isFinite(windowMs) && (windowMs as number) > 0)
    checkField('plan.shape.windowMs', windowMs, isTime, 'a time in milliseconds or null')
    const isRate = rate === null || (typeof rate === 'number' && rate > 0 && rate < 1)
    checkField('plan.shape.rate', rate, isRate, 'a number between 0 and 1, or null')
    const isSized =
      inners[inner as WindowShape['inner']].can.grow ||
      shape.windowUrls !== null ||
      shape.expectedUrls !== null
    checkField('plan.shape.windowUrls', null, isSized, 'a number, or expectedUrls')
    checkNear(plan, planOf((plan as Shaped<WindowShape>).shape), generations)
    return 0
  },

  create: (kernel, plan, shares, own) => new Generations(kernel, succession(plan, shares), false, own),
  revive: (kernel, plan, share, own) =>
    new Generations(kernel, succession(plan, sharesOf(share)), true, own, share),
} as const satisfies FilterKind<Shaped<WindowShape>>
