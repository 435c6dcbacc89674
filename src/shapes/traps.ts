// What is suspicious about a shape: kinds of URLs that a site makes without end, each with its reason in words. Judged from
// the names of parameters, the forms and numbers of values, and how they stand together. A finding is a hint to look.
import { isSession } from '../canonical/tracking.ts'
import { formatCount, formatCounted } from '../quantities.ts'
import type { Form } from './forms.ts'

export type TrapKind =
  | 'counter'
  | 'calendar'
  | 'session'
  | 'sort'
  | 'facets'
  | 'history'
  | 'repeats'
  | 'sprawl'

export interface Trap {
  readonly kind: TrapKind
  readonly reason: string
}

/** A variable place of a shape. */
export interface Place {
  /** `segment 2` or `parameter rev`. */
  readonly at: string
  /** Of a parameter. */
  readonly name?: string
  readonly form: Form | 'value'
  /** Exact up to 8, else with a standard error of 3.3 %; null: more than 8, not counted for want of memory. */
  readonly distinct: number | null
  /** Of numbers, years and dates (YYYYMMDD). */
  readonly least?: number
  readonly most?: number
  /** The most frequent values with their shares. */
  readonly top: readonly { readonly value: string; readonly share: number }[]
}

/** What is known of a shape when it is judged. */
export interface ShapeFacts {
  readonly count: number
  readonly parts: readonly string[]
  readonly places: readonly Place[]
  /** Orders in which the same names came up. */
  readonly orders: number
  /** Sets of names on the same path; 40 or more are one shape, `{parameters}`. */
  readonly nameSets: number
  readonly isMixed: boolean
}

/** Shapes with fewer URLs are not judged. */
const LEAST_COUNT = 50
const COUNTER_VALUES = 50
const PAGE_VALUES = 20
/** Share of the numbers between the least and the greatest that came up. */
const COUNTER_DENSITY = 0.25
const CALENDAR_DAYS = 30
const HISTORY_VALUES = 10
const VERSION_VALUES = 2
const FACET_SETS = 8
const ORDERS = 3

/** Names that always mean a version, and names that may mean something else. */
const versionNames = /^(rev\d*|revision|revid|oldid|diff2?|undo)$/i
const historyNames = /^(version|ver|history|commit|changeset)$/i
const historyValues = /^(history|diff|revisions|blame|log|annotate|backlink|recent)$/i
const actionNames = /^(do|action|op|view|cmd)$/i
const sortNames = /^(sort\w*|order\w*|dir|direction|asc|desc|C|O)$/
const calendarNames = /^(date|day|month|year|week|ical|cal|calendar|eventdate|ts|tribe[-_].*|y|yr|mon)$/i
const pageNames = /^(p|pg|page\w*|offset|start|skip|from|limitstart|first|cursor|begin)$/i
const sessionHints = /sess|token|nonce|csrf|auth|state|ticket|sid$/i

export function findTraps(facts: ShapeFacts, thisYear: number): Trap[] {
  if (facts.count < LEAST_COUNT) return []
  const found = [
    repeats(facts),
    session(facts),
    history(facts),
    calendar(facts, thisYear),
    sorting(facts),
    sprawl(facts),
    counter(facts),
  ]
  const traps = found.filter((trap) => trap !== null)
  // A counter that is a version or a page of a calendar has that reason already.
  const isExplained = traps.some(({ kind }) => kind === 'history' || kind === 'calendar')
  return isExplained ? traps.filter(({ kind }) => kind !== 'counter') : traps
}

/** Distinct values, as text and as a number that is safe to compare. */
const many = (place: Place) => place.distinct ?? Number.POSITIVE_INFINITY
const shown = ({ distinct }: Place) => (distinct === null ? 'many' : formatCount(distinct))

function repeats({ parts }: ShapeFacts): Trap | null {
  if (parts.includes('{repeat}'))
    return { kind: 'repeats', reason: 'one segment comes up three times or more in the path' }
  if (parts.includes('{rest}')) return { kind: 'repeats', reason: 'paths of more than 12 segments' }
  return null
}

function session({ places, count }: ShapeFacts): Trap | null {
  for (const place of places) {
    if (place.name === undefined || many(place) < 2) continue
    const name = place.name.replace(/^;/, '')
    const isOpaque = place.form === 'uuid' || place.form === 'hash' || place.form === 'token'
    const isFresh = many(place) >= count / 2 && isOpaque && sessionHints.test(name)
    if (isSession(name) || isFresh)
      return {
        kind: 'session',
        reason: `${place.at} has ${shown(place)} values on ${formatCounted(count, 'URL')}`,
      }
  }
  return null
}

function history({ places }: ShapeFacts): Trap | null {
  for (const place of places) {
    if (place.name === undefined) continue
    const isVersion = versionNames.test(place.name)
    const least = isVersion ? VERSION_VALUES : HISTORY_VALUES
    if ((isVersion || historyNames.test(place.name)) && many(place) >= least)
      return { kind: 'history', reason: `${place.at} has ${shown(place)} values: versions of the same pages` }
    const old = actionNames.test(place.name) && place.top.find(({ value }) => historyValues.test(value))
    if (old)
      return { kind: 'history', reason: `${place.at} is ${old.value} on ${percent(old.share)} of the URLs` }
  }
  return null
}

function calendar({ places, parts }: ShapeFacts, thisYear: number): Trap | null {
  for (const [i, place] of places.entries()) {
    const { form, most = 0, name } = place
    const lastYear = form === 'date' ? Math.floor(most / 10_000) : form === 'year' ? most : 0
    if (lastYear > thisYear + 1 && many(place) >= 3)
      return { kind: 'calendar', reason: `${place.at} reaches the year ${lastYear}` }
    // A date with a title behind it is an article; one that ends the path is a page of a calendar.
    const isLast = i === places.length - 1
    if (form === 'date' && many(place) >= CALENDAR_DAYS && (name !== undefined || isLast))
      return { kind: 'calendar', reason: `${place.at} has ${shown(place)} different dates` }
    const isNumber = form === 'number' || form === 'year'
    if (name !== undefined && calendarNames.test(name) && isNumber && many(place) >= 10)
      return { kind: 'calendar', reason: `${place.at} has ${shown(place)} values` }
  }
  const day = parts.at(-1)
  const days = places
    .filter(({ name }) => name === undefined)
    .reduce((all, place) => all * Math.min(many(place), 400), 1)
  if ((day === '{day}' || day === '{month}') && days >= CALENDAR_DAYS)
    return { kind: 'calendar', reason: `paths that end in a ${day.slice(1, -1)}` }
  return null
}

function sorting({ places, orders, nameSets }: ShapeFacts): Trap | null {
  if (orders >= ORDERS)
    return { kind: 'facets', reason: `the same parameters come in ${formatCounted(orders, 'order')}` }
  for (const place of places) {
    if (place.name === undefined || !sortNames.test(place.name) || many(place) < 2) continue
    return { kind: 'sort', reason: `${place.at} has ${shown(place)} values: the same pages in other orders` }
  }
  if (nameSets >= FACET_SETS)
    return { kind: 'facets', reason: `the path comes with ${formatCounted(nameSets, 'set')} of parameters` }
  return null
}

function sprawl({ isMixed }: ShapeFacts): Trap | null {
  return isMixed ? { kind: 'sprawl', reason: 'the path comes with 40 or more sets of parameters' } : null
}

function counter({ places }: ShapeFacts): Trap | null {
  for (const place of places) {
    const { form, least = 0, most = 0, name } = place
    if (form !== 'number') continue
    const isPage = name !== undefined && pageNames.test(name)
    const isDense = many(place) >= (most - least + 1) * COUNTER_DENSITY
    if (many(place) >= (isPage ? PAGE_VALUES : COUNTER_VALUES) && (isPage || isDense)) {
      const range = `${formatCount(least)} to ${formatCount(most)}`
      return { kind: 'counter', reason: `${place.at} has ${shown(place)} numbers from ${range}` }
    }
  }
  return null
}

export const percent = (share: number) => `${(share * 100).toFixed(share < 0.0995 ? 2 : 1)} %`
