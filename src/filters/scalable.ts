// A filter that grows: when its newest sub-filter is full it adds a larger and tighter one, so that the compound rate
// of all of them stays under the promise (Almeida, Baquero, Preguiça, Hutchison 2007).
import { growingSizes, inner } from '../options/filter-options.ts'
import { blocked } from './blocked.ts'
import { classic } from './classic.ts'
import type { FilterKind, Held, Plan, Shaped } from './filter.ts'
import { GENERATION_BYTES, type Generation, Generations, heldByGenerations, sharesOf } from './generations.ts'
import { checkField, checkNear, savedBits, savedObject, savedWhole } from './saved-plan.ts'

const inners = { blocked, classic } as const
const innerNames = Object.keys(inners) as (keyof typeof inners)[]
const DEFAULT_URLS = 10_000
const DEFAULT_RATE = 1e-6
/** Each sub-filter holds this many times as many URLs as the one before. */
const GROWTH = 2
const MOST_GENERATIONS = 60

/** Rate for sub-filter `index` (0 is the first): P(1 − r) · r^index, so that their sum never reaches P. */
export function scalableRate({
  rate,
  index,
  tightening = 0.5,
}: {
  rate: number
  index: number
  tightening?: number
}): number {
  return rate * (1 - tightening) * tightening ** index
}

export interface ScalableShape {
  readonly inner: keyof typeof inners
  readonly firstUrls: number
  readonly rate: number
}

// Of the share `1 / shares` of sub-filter `index`.
function planOf({ inner, firstUrls, rate }: ScalableShape, index: number, shares = 1) {
  return inners[inner].plan({
    expectedUrls: Math.ceil((firstUrls * GROWTH ** index) / shares),
    falsePositiveRate: scalableRate({ rate, index }),
  })
}

// The generations that begin before `urls` more are in.
function growthBytes({ shape }: Shaped<ScalableShape>, { layers = [] }: Held, urls: number): number {
  const { firstUrls } = shape
  let index = Math.max(0, layers.length - 1)
  let left = urls - (firstUrls * GROWTH ** index - (layers.at(-1)?.distinct ?? 0))
  let bytes = 0
  while (left > 0) {
    index++
    bytes += planOf(shape, index).sizeBytes + GENERATION_BYTES
    left -= firstUrls * GROWTH ** index
  }
  return bytes
}

/** Errs towards "seen", at most at the promised rate in all, however many URLs it takes; never towards "new". */
export const scalable = {
  name: 'scalable',
  does: 'grows by ever tighter sub-filters; the promise is for all of them together',
  source: 'Almeida et al. 2007',
  errs: 'towards "seen", at most at the promised compound rate; never towards "new"',
  exactness: 'approximate',
  options: [...growingSizes, inner(innerNames, 'classic')],
  can: { delete: false, grow: true, under: false },
  takes: 'hashes',
  hasOwnInstances: true,
  growth: { heldBytes: heldByGenerations, growthBytes },

  plan(options) {
    const firstUrls = options.expectedUrls ?? DEFAULT_URLS
    const rate = options.falsePositiveRate ?? DEFAULT_RATE
    const shape: ScalableShape = {
      inner: (options.inner ?? 'blocked') as ScalableShape['inner'],
      firstUrls,
      rate,
    }
    const first = planOf(shape, 0)
    return {
      filter: 'scalable',
      expectedUrls: firstUrls,
      promisedRate: rate,
      expectedRate: first.expectedRate,
      sizeBytes: first.sizeBytes,
      bits: first.bits,
      hashes: first.hashes,
      bitsPerUrl: first.bitsPerUrl,
      shape: { ...shape },
    }
  },

  arrayBytes(plan) {
    const { inner, firstUrls, rate } = savedObject('plan.shape', plan.shape)
    const isInner = typeof inner === 'string' && Object.hasOwn(inners, inner)
    checkField('plan.shape.inner', inner, isInner, `one of ${innerNames.join(', ')}`)
    savedWhole('plan.shape.firstUrls', firstUrls, 1, Number.MAX_SAFE_INTEGER)
    const isRate = typeof rate === 'number' && rate > 0 && rate < 1
    checkField('plan.shape.rate', rate, isRate, 'a number between 0 and 1')
    savedBits(plan)
    checkNear(plan, planOf((plan as Shaped<ScalableShape>).shape, 0), 1)
    return 0
  },

  create: (kernel, plan, shares, own) => new Generations(kernel, succession(plan, shares), false, own),
  revive: (kernel, plan, share, own) =>
    new Generations(kernel, succession(plan, sharesOf(share)), true, own, share),
} as const satisfies FilterKind<Shaped<ScalableShape>>

function succession({ shape }: Shaped<ScalableShape>, shares: number) {
  return {
    kind: inners[shape.inner],
    most: MOST_GENERATIONS,
    mostGone: 0,
    capacity: ({ expectedUrls }: Plan) => expectedUrls!,
    plan: (index: number) => planOf(shape, index, shares),
    left: ({ plan, urls }: Generation) => plan.expectedUrls! - urls,
  }
}
