// A tree of shapes that learns from a stream of URLs: hosts, below them the segments of paths, below these the sets of
// parameters' names. A value of a variable form is a place; where many literals stand side by side they become one too.
// When the nodes are used up, those with the fewest URLs are removed (as in lossy counting, Manku and Motwani 2002): a
// count is exact or low by at most the node's `error`.
import { FIRST_VARIABLE, FORM, FORMS } from './forms.ts'
import { GROUPS, KIND, NONE, ROOT, ShapeNodes } from './shape-nodes.ts'
import { UrlTokens } from './url-tokens.ts'

/** Literals of one group side by side, from this number on, become a place. */
export const PLACE_AFTER = 40
/** A literal with at least this share of its neighbours' URLs stays one, and becomes one again. */
const KEPT_SHARE = 1 / 16
const PROMOTED_SHARE = 1 / 8
const KEPT_COUNT = 16
const PROMOTED_COUNT = 64
const QUERY_GROUP = GROUPS - 1
/** Nodes that are looked at to find the half with the fewest URLs. */
const SAMPLED_NODES = 8192
/** Nodes that one URL can bring. */
const NODES_PER_URL = 32

export interface ShapeTreeOptions {
  /** Nodes to tell apart: 1.1 KB each at most. Default 2^17. */
  readonly maxNodes?: number
  /** What cuts URLs into tokens. Default: the one that is shared. */
  readonly tokens?: UrlTokens
}

export class ShapeTree {
  readonly nodes: ShapeNodes
  readonly tokens: UrlTokens
  /** URLs taken in, and lines that are not URLs. */
  urls = 0
  invalid = 0
  #created = 0

  constructor({ maxNodes = 2 ** 17, tokens = UrlTokens.shared() }: ShapeTreeOptions = {}) {
    this.nodes = new ShapeNodes(Math.max(maxNodes, 1024))
    this.tokens = tokens
  }

  /** Takes in the URL at addresses [start, end) of the tokens' memory. Returns the node of its shape, or -1 when it is not a URL. */
  add(start: number, end: number): number {
    const { nodes, tokens } = this
    const { bytes } = tokens
    if (!tokens.read(start, end)) {
      this.invalid++
      return NONE
    }
    this.#reserve()
    this.urls++
    nodes.count[ROOT]!++
    let node = nodes.find(ROOT, tokens.hostLo, tokens.hostHi)
    if (node === NONE) node = this.#host()
    nodes.count[node]!++
    const { segments } = tokens
    for (let token = 0; token < segments; token++) {
      node = this.#step(node, token, bytes)
      nodes.count[node]!++
    }
    if (tokens.parameters > 0) node = this.#query(node, bytes)
    nodes.own[node]!++
    nodes.urls.add(node, tokens.urlLo)
    nodes.keepExample(node, bytes, start, end)
    return node
  }

  #host(): number {
    const { host, hostLo, hostHi, hostLength } = this.tokens
    this.nodes.values.add(ROOT, hostLo)
    return this.#child(ROOT, hostLo, hostHi, KIND.host, 0, host, 0, hostLength)
  }

  /** The node, and the URLs of shape and host, of the URL that `tokens` has read; it is not taken in. */
  find(): { node: number; own: number; host: number } {
    const { nodes, tokens } = this
    const host = nodes.find(ROOT, tokens.hostLo, tokens.hostHi)
    let node = host
    for (let token = 0; token < tokens.segments && node !== NONE; token++) node = this.#known(node, token)
    if (node !== NONE && tokens.parameters > 0) {
      const isMixed = (nodes.collapsed[node]! & (1 << QUERY_GROUP)) !== 0
      node = isMixed
        ? nodes.find(node, placeLo(FORM.rest, 1), placeHi(FORM.rest))
        : nodes.find(node, tokens.namesLo, tokens.namesHi)
    }
    return { node, own: node === NONE ? 0 : nodes.own[node]!, host: host === NONE ? 0 : nodes.count[host]! }
  }

  // The child that a segment would lead to, or NONE.
  #known(parent: number, token: number): number {
    const { nodes, tokens } = this
    const form = tokens.forms[token]!
    const place = () => nodes.find(parent, placeLo(form, tokens.extensions[token]!), placeHi(form))
    if (form >= FIRST_VARIABLE) return place()
    const literal = nodes.find(parent, tokens.los[token]!, tokens.his[token]!)
    if (literal !== NONE || form === FORM.empty) return literal
    const group = form - FORM.word + (tokens.stems[token]! < tokens.ends[token]! ? 3 : 0)
    return (nodes.collapsed[parent]! & (1 << group)) !== 0 ? place() : NONE
  }

  #step(parent: number, token: number, bytes: Uint8Array): number {
    const { nodes, tokens } = this
    const form = tokens.forms[token]!
    const start = tokens.starts[token]!
    const end = tokens.ends[token]!
    const lo = tokens.los[token]!
    const hi = tokens.his[token]!
    if (form >= FIRST_VARIABLE) {
      const extension = tokens.extensions[token]!
      let place = nodes.find(parent, placeLo(form, extension), placeHi(form))
      if (place === NONE) place = this.#place(parent, form, extension, bytes, start, end)
      nodes.values.add(place, lo)
      if (form <= FORM.date) this.#widen(place, tokens.values[token]!)
      return place
    }
    const literal = nodes.find(parent, lo, hi)
    if (literal !== NONE) return literal
    if (form === FORM.empty) return this.#child(parent, lo, hi, KIND.literal, form, bytes, start, end)
    const group = form - FORM.word + (tokens.stems[token]! < end ? 3 : 0)
    if ((nodes.collapsed[parent]! & (1 << group)) !== 0)
      return this.#collapsedStep(parent, token, bytes, start, end)
    const made = this.#child(parent, lo, hi, KIND.literal, form, bytes, start, end)
    nodes.forms[made * FORMS.length] = tokens.extensions[token]!
    const fan = ++nodes.fan[parent * GROUPS + group]!
    if (fan < PLACE_AFTER) return made
    this.#collapse(parent, group)
    // The literal has no URL yet: it went into the place.
    return nodes.find(parent, placeLo(form, tokens.extensions[token]!), placeHi(form))
  }

  // A literal where literals are a place: it becomes a literal of its own when it has a large share of the place's URLs.
  #collapsedStep(parent: number, token: number, bytes: Uint8Array, start: number, end: number): number {
    const { nodes, tokens } = this
    const form = tokens.forms[token]!
    const lo = tokens.los[token]!
    const place = this.#place(parent, form, tokens.extensions[token]!, bytes, start, end)
    nodes.values.add(place, lo)
    const sure = nodes.top.add(place, lo, 1, bytes, start, end)
    if (sure < PROMOTED_COUNT || sure < nodes.count[place]! * PROMOTED_SHARE) return place
    const before = nodes.top.remove(place, lo)
    const literal = this.#child(parent, lo, tokens.his[token]!, KIND.literal, form, bytes, start, end)
    nodes.forms[literal * FORMS.length] = tokens.extensions[token]!
    nodes.error[literal] = before
    return literal
  }

  #query(parent: number, bytes: Uint8Array): number {
    const { nodes, tokens } = this
    const { segments, parameters } = tokens
    const isMixed = (nodes.collapsed[parent]! & (1 << QUERY_GROUP)) !== 0
    let node = NONE
    if (!isMixed) {
      const known = nodes.find(parent, tokens.namesLo, tokens.namesHi)
      node =
        known === NONE
          ? this.#child(parent, tokens.namesLo, tokens.namesHi, KIND.query, 0, bytes, 0, 0)
          : known
      if (known === NONE && ++nodes.fan[parent * GROUPS + QUERY_GROUP]! >= PLACE_AFTER) {
        this.#collapseQueries(parent)
        node = NONE
      }
    }
    if (node === NONE) node = this.#mixedQuery(parent)
    nodes.count[node]!++
    nodes.values.add(node, tokens.orderLo)
    const { names, nameWidth } = tokens
    for (let i = 0; i < parameters; i++) {
      const token = segments + i
      const at = i * nameWidth
      const lo = tokens.nameLos[token]!
      const hi = tokens.nameHis[token]!
      let parameter = nodes.find(node, lo, hi)
      if (parameter === NONE)
        parameter = this.#child(node, lo, hi, KIND.parameter, 0, names, at, at + tokens.nameLengths[token]!)
      const form = tokens.forms[token]!
      nodes.count[parameter]!++
      nodes.forms[parameter * FORMS.length + form]!++
      nodes.values.add(parameter, tokens.los[token]!)
      if (form < FIRST_VARIABLE)
        nodes.top.add(parameter, tokens.los[token]!, 1, bytes, tokens.starts[token]!, tokens.ends[token]!)
      if (form >= FORM.number && form <= FORM.date) this.#widen(parameter, tokens.values[token]!)
    }
    return node
  }

  #widen(node: number, value: number): void {
    const { least, most } = this.nodes
    if (value < least[node]!) least[node] = value
    if (value > most[node]!) most[node] = value
  }

  #child(
    parent: number,
    lo: number,
    hi: number,
    kind: number,
    form: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): number {
    const known = this.nodes.find(parent, lo, hi)
    if (known !== NONE) return known
    this.#created++
    return this.nodes.create(parent, kind, form, lo, hi, bytes, start, end)
  }

  #place(
    parent: number,
    form: number,
    extension: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): number {
    return this.#child(parent, placeLo(form, extension), placeHi(form), KIND.place, form, bytes, start, end)
  }

  /** The query node of a path with too many sets of names: all of them. */
  #mixedQuery(parent: number): number {
    const form = FORM.rest
    return this.#child(parent, placeLo(form, 1), placeHi(form), KIND.query, form, NOTHING, 0, 0)
  }

  // The light literals of a group become one place for each form and extension.
  #collapse(parent: number, group: number): void {
    const { nodes } = this
    nodes.collapsed[parent]! |= 1 << group
    const isHeavy = (node: number) =>
      nodes.count[node]! >= KEPT_COUNT && nodes.count[node]! >= nodes.count[parent]! * KEPT_SHARE
    const light = this.#takeOut(parent, (child) => this.#groupOf(child) === group && !isHeavy(child))
    for (const child of light) this.#mergeLiteral(parent, child)
  }

  #collapseQueries(parent: number): void {
    const { nodes } = this
    nodes.collapsed[parent]! |= 1 << QUERY_GROUP
    const queries = this.#takeOut(parent, (child) => this.#groupOf(child) === QUERY_GROUP)
    const mixed = this.#mixedQuery(parent)
    for (const query of queries) this.#merge(mixed, query)
  }

  // Children that match, out of the table and out of their list.
  #takeOut(parent: number, isTaken: (child: number) => boolean): number[] {
    const { nodes } = this
    const children = nodes.childrenOf(parent)
    const taken = children.filter(isTaken)
    const gone = new Set(taken)
    nodes.relist(
      parent,
      children.filter((child) => !gone.has(child)),
    )
    for (const child of taken) nodes.detach(child)
    return taken
  }

  #groupOf(node: number): number {
    const { kind, form, forms } = this.nodes
    if (kind[node] === KIND.query && form[node] !== FORM.rest) return QUERY_GROUP
    if (kind[node] !== KIND.literal || form[node] === FORM.empty) return NONE
    return form[node]! - FORM.word + (forms[node * FORMS.length] !== 0 ? 3 : 0)
  }

  #mergeLiteral(parent: number, child: number): void {
    const { nodes } = this
    const label = nodes.labelBytes(child)
    const extension = nodes.forms[child * FORMS.length]! | 0
    const place = this.#place(parent, nodes.form[child]!, extension, label, 0, label.length)
    nodes.values.add(place, nodes.keyLo(child))
    const count = nodes.count[child]!
    if (count > 0) nodes.top.add(place, nodes.keyLo(child), count, label, 0, label.length)
    this.#merge(place, child, false)
  }

  // Adds a node that is out of the table, and all below it, to another.
  #merge(into: number, from: number, withValues = true): void {
    const { nodes } = this
    for (const array of [nodes.count, nodes.own, nodes.error, nodes.rest]) array[into]! += array[from]!
    nodes.mostRemoved[into] = Math.max(nodes.mostRemoved[into]!, nodes.mostRemoved[from]!)
    this.#widen(into, nodes.least[from]!)
    if (nodes.most[from]! > nodes.most[into]!) nodes.most[into] = nodes.most[from]!
    if (nodes.kind[from] === KIND.parameter)
      for (let form = 0; form < FORMS.length; form++)
        nodes.forms[into * FORMS.length + form]! += nodes.forms[from * FORMS.length + form]!
    nodes.urls.merge(into, from)
    if (withValues) {
      nodes.values.merge(into, from)
      nodes.top.merge(into, from)
    }
    nodes.examples[into] = [...(nodes.examples[into] ?? []), ...(nodes.examples[from] ?? [])].slice(0, 3)
    const children = nodes.childrenOf(from)
    for (const child of children) {
      nodes.detach(child)
      this.#adopt(into, child)
    }
    nodes.firstChild[from] = NONE
    nodes.release(from)
  }

  // Puts a node that is out of the table below a parent, or merges it with what is there.
  #adopt(parent: number, child: number): void {
    const { nodes } = this
    const known = nodes.find(parent, nodes.keyLo(child), nodes.keyHi(child))
    if (known !== NONE) {
      this.#merge(known, child)
      return
    }
    const group = this.#groupOf(child)
    if (group !== NONE && (nodes.collapsed[parent]! & (1 << group)) !== 0) {
      if (group === QUERY_GROUP) this.#merge(this.#mixedQuery(parent), child)
      else this.#mergeLiteral(parent, child)
      return
    }
    nodes.attach(child, parent)
    if (group === NONE || ++nodes.fan[parent * GROUPS + group]! < PLACE_AFTER) return
    if (group === QUERY_GROUP) this.#collapseQueries(parent)
    else this.#collapse(parent, group)
  }

  // Makes sure that the next URL finds nodes.
  #reserve(): void {
    const { nodes } = this
    const isShort = nodes.spare < 4 * NODES_PER_URL
    const isWithoutSketches =
      (nodes.values.spare === 0 || nodes.urls.spare === 0) && this.#created > nodes.capacity >> 2
    if (isShort || isWithoutSketches) this.#prune()
  }

  // Removes about half of the nodes, those that have the fewest URLs; what was below a node counts as its `rest`.
  #prune(): void {
    const { nodes } = this
    const { firstChild, nextSibling } = nodes
    const limit = this.#middleSize()
    const walk = [ROOT]
    for (let node = walk.pop(); node !== undefined; node = walk.pop()) {
      let kept = NONE
      for (let child = firstChild[node]!, next = NONE; child !== NONE; child = next) {
        next = nextSibling[child]!
        const size = nodes.count[child]! + nodes.error[child]!
        if (size <= limit) {
          this.#drop(node, child, size)
          continue
        }
        if (kept === NONE) firstChild[node] = child
        else nextSibling[kept] = child
        kept = child
        walk.push(child)
      }
      if (kept === NONE) firstChild[node] = NONE
      else nextSibling[kept] = NONE
    }
    nodes.rebuild()
    this.#created = 0
  }

  // The median of the nodes' URLs, of a sample of them.
  #middleSize(): number {
    const { nodes } = this
    const step = Math.ceil(nodes.capacity / SAMPLED_NODES)
    const sizes: number[] = []
    for (let node = ROOT + 1; node < nodes.capacity; node += step)
      if (nodes.isUsed(node)) sizes.push(nodes.count[node]! + nodes.error[node]!)
    return Float64Array.from(sizes).sort()[sizes.length >> 1] ?? 0
  }

  #drop(parent: number, child: number, size: number): void {
    const { nodes } = this
    nodes.mostRemoved[parent] = Math.max(nodes.mostRemoved[parent]!, size)
    if (nodes.kind[child] !== KIND.parameter) nodes.rest[parent]! += nodes.count[child]!
    const group = this.#groupOf(child)
    if (group !== NONE && nodes.fan[parent * GROUPS + group]! > 0) nodes.fan[parent * GROUPS + group]!--
    const walk = [child]
    for (let node = walk.pop(); node !== undefined; node = walk.pop()) {
      for (let below = nodes.firstChild[node]!; below !== NONE; below = nodes.nextSibling[below]!)
        walk.push(below)
      nodes.release(node)
    }
  }
}

const NOTHING = new Uint8Array(0)

const placeLo = (form: number, extension: number) => Math.imul(form + 1, 0x9e3779b1) ^ extension
const placeHi = (form: number) => 0x5ca1ab1e ^ form
