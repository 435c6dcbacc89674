// What a tree of shapes has found, for people and for JSON: per host its shapes with counts and shares, the places of each
// with their distinct values, examples, and what is suspicious.
import { DISTINCT_ERROR } from './distinct-counts.ts'
import { FORM, FORMS, type Form } from './forms.ts'
import { KIND, ROOT, type ShapeNodes } from './shape-nodes.ts'
import type { ShapeTree } from './shape-tree.ts'
import { findTraps, type Place, type ShapeFacts, type Trap } from './traps.ts'

export interface Shape {
  /** Path and query with places in braces: `/post/{number}`. */
  readonly shape: string
  readonly count: number
  /** Of the host's URLs. */
  readonly share: number
  /** `count` is low by at most this. */
  readonly error: number
  /** Different URLs: exact up to 8, then an estimate; null: not counted for want of memory. */
  readonly distinct: number | null
  readonly places: readonly Place[]
  readonly examples: readonly string[]
  readonly traps: readonly Trap[]
  /** The shape cut at its slashes and before its query. */
  readonly parts: readonly string[]
}

/** The shapes of one host. */
export interface HostShapes {
  readonly host: string
  readonly count: number
  /** Of all URLs. */
  readonly share: number
  readonly error: number
  /** The most frequent shapes first. */
  readonly shapes: readonly Shape[]
  /** URLs of shapes that are not in the list. */
  readonly others: number
}

/** Which shapes of URL there are, host by host. */
export interface ShapesReport {
  /** Lines that are URLs. */
  readonly urls: number
  /** Lines that are not absolute URLs with a host. */
  readonly invalid: number
  /** Different hosts: exact until hosts were removed to bound the memory, then an estimate; null where there is none. */
  readonly hosts: number | null
  /** No count of a host or a shape is low by more than this. */
  readonly countError: number
  /** Standard error of distinct counts over 8, as a share. */
  readonly distinctError: number
  /** The most frequent hosts first. */
  readonly list: readonly HostShapes[]
  /** URLs of hosts that are not in the list. */
  readonly others: number
}

/** How much a report lists. */
export interface ReportOptions {
  /** Hosts in the list. Default 20. */
  readonly hosts?: number
  /** Shapes per host. Default 20. */
  readonly shapes?: number
  /** Years after the next one are suspicious. Default: of the clock. */
  readonly thisYear?: number
}

/** A shape while it is put together. */
interface Draft extends Omit<Shape, 'share' | 'traps' | 'shape'> {
  readonly orders: number
  readonly nameSets: number
  readonly isMixed: boolean
}

export function reportShapes(tree: ShapeTree, options: ReportOptions = {}): ShapesReport {
  const { hosts: mostHosts = 20, shapes: mostShapes = 20, thisYear = new Date().getUTCFullYear() } = options
  const { nodes } = tree
  const hosts = nodes.childrenOf(ROOT).sort((a, b) => nodes.count[b]! - nodes.count[a]!)
  let countError = nodes.mostRemoved[ROOT]!
  const list = hosts.slice(0, mostHosts).map((node): HostShapes => {
    const count = nodes.count[node]!
    const drafts = joinEqual(draftsOf(nodes, node)).sort((a, b) => b.count - a.count)
    for (const { error } of drafts) countError = Math.max(countError, error)
    const shapes = drafts.slice(0, mostShapes).map((draft) => finish(draft, count, thisYear))
    const others = count - shapes.reduce((sum, shape) => sum + shape.count, 0)
    return {
      host: nodes.label(node),
      count,
      share: count / tree.urls,
      error: nodes.error[node]!,
      shapes,
      others,
    }
  })
  return {
    urls: tree.urls,
    invalid: tree.invalid,
    hosts: nodes.mostRemoved[ROOT] === 0 ? hosts.length : nodes.values.count(ROOT),
    countError,
    distinctError: DISTINCT_ERROR,
    list,
    others: tree.urls - list.reduce((sum, { count }) => sum + count, 0),
  }
}

function finish({ orders, nameSets, isMixed, ...draft }: Draft, hostCount: number, thisYear: number): Shape {
  const { parts, count, places } = draft
  const traps = findTraps({ count, parts, places, orders, nameSets, isMixed }, thisYear)
  return { shape: textOf(parts), ...draft, share: count / hostCount, traps }
}

const textOf = (parts: readonly string[]) =>
  parts.reduce(
    (text, part) => (part.startsWith('?') || part.startsWith(';') ? text + part : `${text}/${part}`),
    '',
  ) || '/'

// Shapes that read the same (years among numbers) are one.
function joinEqual(drafts: readonly Draft[]): Draft[] {
  const byText = new Map<string, Draft>()
  for (const draft of drafts) {
    const text = textOf(draft.parts)
    const known = byText.get(text)
    byText.set(text, known ? join(known, draft) : draft)
  }
  return [...byText.values()]
}

function join(a: Draft, b: Draft): Draft {
  const places = a.places.map((place, i): Place => {
    const other = b.places[i]
    if (other === undefined) return place
    const { least, most } = place
    return {
      ...place,
      distinct: sum(place.distinct, other.distinct),
      ...(least !== undefined && { least: Math.min(least, other.least ?? least) }),
      ...(most !== undefined && { most: Math.max(most, other.most ?? most) }),
    }
  })
  const examples = [...a.examples, ...b.examples].slice(0, 3)
  const distinct = sum(a.distinct, b.distinct)
  return { ...a, count: a.count + b.count, error: a.error + b.error, distinct, places, examples }
}

const sum = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b)

interface Step {
  readonly node: number
  readonly parts: readonly string[]
  readonly places: readonly Place[]
}

function draftsOf(nodes: ShapeNodes, host: number): Draft[] {
  const drafts: Draft[] = []
  const walk: Step[] = [{ node: host, parts: [], places: [] }]
  for (let step = walk.pop(); step !== undefined; step = walk.pop()) {
    const { node, parts, places } = step
    if (nodes.own[node]! > 0) drafts.push(draftOf(nodes, step))
    const children = nodes.childrenOf(node)
    for (const child of children) {
      if (nodes.kind[child] === KIND.parameter) continue
      if (nodes.kind[child] === KIND.query) walk.push({ node: child, ...queryOf(nodes, child, step) })
      else {
        const part = segmentOf(nodes, child, step, children)
        const next = part.place ? [...places, part.place] : places
        walk.push({ node: child, parts: [...parts, part.text], places: next })
      }
    }
  }
  return drafts
}

/** What is known of the shape that ends at a node. */
export function factsAt(nodes: ShapeNodes, node: number): ShapeFacts {
  const chain: number[] = []
  for (let at = node; nodes.kind[at] !== KIND.host; at = nodes.parent(at)) chain.unshift(at)
  let step: Step = { node: nodes.parent(chain[0] ?? node), parts: [], places: [] }
  for (const next of chain) {
    if (nodes.kind[next] === KIND.query) step = { node: next, ...queryOf(nodes, next, step) }
    else {
      const { text, place } = segmentOf(nodes, next, step, nodes.childrenOf(step.node))
      step = {
        node: next,
        parts: [...step.parts, text],
        places: place ? [...step.places, place] : step.places,
      }
    }
  }
  return draftOf(nodes, { ...step, node })
}

/** The text of the shape that ends at a node, with its host. */
export function shapeAt(nodes: ShapeNodes, node: number, { parts }: Pick<ShapeFacts, 'parts'>): string {
  let host = node
  while (nodes.kind[host] !== KIND.host) host = nodes.parent(host)
  return nodes.label(host) + textOf(parts)
}

function draftOf(nodes: ShapeNodes, { node, parts, places }: Step): Draft {
  const isQuery = nodes.kind[node] === KIND.query
  return {
    count: nodes.own[node]!,
    error: nodes.error[node]!,
    distinct: atMost(nodes.urls.count(node), nodes.own[node]! + nodes.error[node]!),
    places,
    examples: nodes.examples[node] ?? [],
    parts,
    orders: isQuery && nodes.form[node] !== FORM.rest ? (nodes.values.count(node) ?? 1) : 1,
    nameSets: isQuery
      ? nodes.childrenOf(nodes.parent(node)).filter((one) => nodes.kind[one] === KIND.query).length
      : 0,
    isMixed: isQuery && nodes.form[node] === FORM.rest,
  }
}

/** An estimate can be above what there was. */
const atMost = (distinct: number | null, most: number) =>
  distinct === null ? null : Math.min(distinct, most)

const valuesOf = (nodes: ShapeNodes, node: number) =>
  atMost(nodes.values.count(node), nodes.count[node]! + nodes.error[node]!)

// The text of a segment, and its place where it has several values.
function segmentOf(
  nodes: ShapeNodes,
  node: number,
  above: Step,
  siblings: readonly number[],
): { text: string; place?: Place } {
  const label = nodes.label(node)
  if (nodes.kind[node] === KIND.literal) return { text: label }
  const form = FORMS[nodes.form[node]!]!
  const distinct = valuesOf(nodes, node)
  if (form === 'repeat' || form === 'rest') return { text: `{${form}}` }
  const name = placeName(nodes, node, form, above, siblings)
  if (distinct === 1 && (form !== 'year' || name === 'year')) return { text: label }
  const extension = /\.[A-Za-z][A-Za-z0-9]{0,4}$/.exec(label)?.[0] ?? ''
  const at = `segment ${above.parts.length + 1}`
  const plain: Form = name === 'number' ? 'number' : form
  const place = { at, form: plain, distinct, ...rangeOf(nodes, node), top: topOf(nodes, node) }
  return { text: `{${name}}${form === 'version' ? '' : extension}`, place }
}

// Years among many more numbers are numbers; numbers up to 12 behind a year are months, those up to 31 behind these days.
function placeName(
  nodes: ShapeNodes,
  node: number,
  form: Form,
  above: Step,
  siblings: readonly number[],
): string {
  if (form === 'year') {
    const isNumber = (one: number) => nodes.kind[one] === KIND.place && nodes.form[one] === FORM.number
    return siblings.some((one) => isNumber(one) && nodes.count[one]! >= nodes.count[node]!)
      ? 'number'
      : 'year'
  }
  if (form !== 'number') return form
  const before = above.parts.at(-1)
  const most = nodes.most[node]!
  const isDated = before === '{year}' || /^(19|20)\d\d$/.test(before ?? '')
  if (isDated && most <= 12 && nodes.least[node]! >= 1) return 'month'
  return before === '{month}' && most <= 31 ? 'day' : 'number'
}

function rangeOf(nodes: ShapeNodes, node: number): { least: number; most: number } | object {
  const least = nodes.least[node]!
  return Number.isFinite(least) ? { least, most: nodes.most[node]! } : {}
}

function topOf(nodes: ShapeNodes, node: number): Place['top'] {
  const count = nodes.count[node]!
  return nodes.top
    .list(node)
    .map(({ text, count: times, error }) => ({ value: text, share: (times - error) / count }))
}

function queryOf(nodes: ShapeNodes, node: number, above: Step): { parts: string[]; places: Place[] } {
  const places: Place[] = [...above.places]
  const isMixed = nodes.form[node] === FORM.rest
  const texts: string[] = []
  const parameters = nodes.childrenOf(node).map((child) => ({ child, name: nodes.label(child) }))
  parameters.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const { child, name } of parameters) {
    const form = commonForm(nodes, child)
    const distinct = valuesOf(nodes, child)
    const top = topOf(nodes, child)
    const one = top[0]?.value
    if (form === 'empty') texts.push(name)
    else if (distinct === 1) texts.push(one === undefined ? `${name}={${form}}` : `${name}=${one}`)
    else texts.push(`${name}={${form}}`)
    if (distinct !== 1)
      places.push({ at: `parameter ${name}`, name, form, distinct, ...rangeOf(nodes, child), top })
  }
  const behind = texts.filter((text) => text.startsWith(';')).join('')
  const query = texts.filter((text) => !text.startsWith(';')).join('&')
  const parts = [...above.parts]
  if (isMixed) parts.push('?{parameters}')
  else parts.push(...(behind ? [behind] : []), ...(query ? [`?${query}`] : []))
  return { parts, places }
}

// The form that at least four in five values have.
function commonForm(nodes: ShapeNodes, node: number): Form | 'value' {
  const from = node * FORMS.length
  const counts = [...nodes.forms.subarray(from, from + FORMS.length)]
  const all = counts.reduce((total, count) => total + count, 0)
  const years = counts[FORM.year]!
  if (years > 0 && counts[FORM.number]! >= years) {
    counts[FORM.number]! += years
    counts[FORM.year] = 0
  }
  const best = counts.indexOf(Math.max(...counts))
  return counts[best]! >= all * 0.8 ? FORMS[best]! : 'value'
}
