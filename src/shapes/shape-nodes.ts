// The nodes of a tree of shapes in flat arrays of a fixed size: found by parent and key in one hash table, linked as lists
// of children. Labels and examples are here too. Nothing is allocated for a URL that brings no node.
import { DistinctCounts } from './distinct-counts.ts'
import { FORMS } from './forms.ts'
import { TopValues } from './top-values.ts'

export const KIND = { root: 0, host: 1, literal: 2, place: 3, query: 4, parameter: 5 } as const

export const ROOT = 0
export const NONE = -1
const REMOVED = -2
/** Kinds of children that can become one place: word, name and text, without and with extension, and sets of names. */
export const GROUPS = 7

/** Uses of a node: in the table, or taken out of it for a while. */
const FREE = 0
const LISTED = 1
const DETACHED = 2

const LABEL_BYTES = 64
const MOST_EXAMPLE = 500
/** An example is kept of the first URL of a shape and of these. */
const EXAMPLE_COUNTS = [1, 20, 400]

const decoder = new TextDecoder()

export class ShapeNodes {
  readonly capacity: number
  /** Nodes in use. */
  size = 0
  readonly kind: Uint8Array
  readonly form: Uint8Array
  /** Key (two halves), parent and use of each node, side by side: a lookup reads one cache line. */
  readonly #links: Int32Array
  readonly firstChild: Int32Array
  readonly nextSibling: Int32Array
  /** URLs that pass through a node. */
  readonly count: Float64Array
  /** URLs that end at a node: those of its shape. */
  readonly own: Float64Array
  /** URLs that a node may have had before it was made: `count` is low by at most this. */
  readonly error: Float64Array
  /** URLs below a node whose own nodes were removed, and the largest of these. */
  readonly rest: Float64Array
  readonly mostRemoved: Float64Array
  /** Of places of numbers, years and dates. */
  readonly least: Float64Array
  readonly most: Float64Array
  /** Literal children by group, and which groups are places by now (a bit each). */
  readonly fan: Uint8Array
  readonly collapsed: Uint8Array
  /** Of parameters: URLs by the form of their value. */
  readonly forms: Uint32Array
  /** Values of a place or parameter; of a query the orders of its names; of the root the hosts. */
  readonly values: DistinctCounts
  /** URLs of a shape. */
  readonly urls: DistinctCounts
  readonly top: TopValues
  readonly examples: (string[] | undefined)[]
  readonly #labels: Uint8Array
  readonly #labelLengths: Uint8Array
  readonly #free: Int32Array
  #freeCount = 0
  #table: Int32Array
  #removed = 0

  constructor(capacity: number) {
    this.capacity = capacity
    const bytes = () => new Uint8Array(capacity)
    const ints = () => new Int32Array(capacity)
    const floats = () => new Float64Array(capacity)
    this.kind = bytes()
    this.form = bytes()
    this.#links = new Int32Array(capacity * 4)
    this.firstChild = ints()
    this.nextSibling = ints()
    this.count = floats()
    this.own = floats()
    this.error = floats()
    this.rest = floats()
    this.mostRemoved = floats()
    this.least = floats()
    this.most = floats()
    this.fan = new Uint8Array(capacity * GROUPS)
    this.collapsed = bytes()
    this.forms = new Uint32Array(capacity * FORMS.length)
    this.values = new DistinctCounts(capacity, capacity >> 3)
    this.urls = new DistinctCounts(capacity, capacity >> 3)
    this.top = new TopValues(capacity)
    this.examples = new Array(capacity)
    this.#labels = new Uint8Array(capacity * LABEL_BYTES)
    this.#labelLengths = bytes()
    this.#free = ints()
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(capacity * 2))).fill(NONE)
    this.firstChild[ROOT] = NONE
    this.size = 1
    for (let node = capacity - 1; node > ROOT; node--) this.#free[this.#freeCount++] = node
  }

  get spare(): number {
    return this.#freeCount
  }

  /** The halves of a node's key: of a literal, the hash of its text. */
  keyLo(node: number): number {
    return this.#links[node * 4]!
  }

  keyHi(node: number): number {
    return this.#links[node * 4 + 1]!
  }

  parent(node: number): number {
    return this.#links[node * 4 + 2]!
  }

  isUsed(node: number): boolean {
    return this.#links[node * 4 + 3] !== FREE
  }

  /** The child with a key, or NONE. */
  find(parent: number, lo: number, hi: number): number {
    const table = this.#table
    const links = this.#links
    const mask = table.length - 1
    for (let slot = slotOf(parent, lo) & mask; ; slot = (slot + 1) & mask) {
      const node = table[slot]!
      if (node === NONE) return NONE
      const at = node * 4
      if (node >= 0 && links[at] === lo && links[at + 1] === hi && links[at + 2] === parent) return node
    }
  }

  /** A new child; there must be a spare node. Its label is bytes [start, end). */
  create(
    parent: number,
    kind: number,
    form: number,
    lo: number,
    hi: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): number {
    const node = this.#free[--this.#freeCount]!
    this.size++
    this.kind[node] = kind
    this.form[node] = form
    this.#links[node * 4] = lo
    this.#links[node * 4 + 1] = hi
    this.firstChild[node] = NONE
    this.count[node] = 0
    this.own[node] = 0
    this.rest[node] = 0
    this.mostRemoved[node] = 0
    this.error[node] =
      kind === KIND.literal || kind === KIND.host ? this.mostRemoved[parent]! : this.rest[parent]!
    this.least[node] = Number.POSITIVE_INFINITY
    this.most[node] = Number.NEGATIVE_INFINITY
    for (let i = node * GROUPS; i < (node + 1) * GROUPS; i++) this.fan[i] = 0
    this.collapsed[node] = 0
    // Others than parameters use the first one only.
    const forms = kind === KIND.parameter ? FORMS.length : 1
    for (let i = node * FORMS.length; i < node * FORMS.length + forms; i++) this.forms[i] = 0
    const length = Math.min(end - start, LABEL_BYTES)
    for (let i = 0; i < length; i++) this.#labels[node * LABEL_BYTES + i] = bytes[start + i]!
    this.#labelLengths[node] = length
    this.attach(node, parent)
    return node
  }

  /** Makes a node a child. */
  attach(node: number, parent: number): void {
    this.#links[node * 4 + 2] = parent
    this.#links[node * 4 + 3] = LISTED
    this.nextSibling[node] = this.firstChild[parent]!
    this.firstChild[parent] = node
    this.#insert(node)
  }

  /** Takes a node out of the table; its list of siblings is the caller's to write again. */
  detach(node: number): void {
    const table = this.#table
    const mask = table.length - 1
    let slot = slotOf(this.#links[node * 4 + 2]!, this.#links[node * 4]!) & mask
    while (table[slot] !== node) slot = (slot + 1) & mask
    table[slot] = REMOVED
    this.#links[node * 4 + 3] = DETACHED
    if (++this.#removed > table.length >> 3) this.rebuild()
  }

  /** Gives a node back. It must be out of the table, and have no children. */
  release(node: number): void {
    this.values.clear(node)
    this.urls.clear(node)
    this.top.clear(node)
    this.examples[node] = undefined
    this.#links[node * 4 + 2] = NONE
    this.#links[node * 4 + 3] = FREE
    this.#free[this.#freeCount++] = node
    this.size--
  }

  /** Writes the table again. New nodes will lie side by side where they can. */
  rebuild(): void {
    this.#table.fill(NONE)
    this.#removed = 0
    this.#freeCount = 0
    for (let node = this.capacity - 1; node > ROOT; node--) {
      const use = this.#links[node * 4 + 3]
      if (use === LISTED) this.#insert(node)
      else if (use === FREE) this.#free[this.#freeCount++] = node
    }
  }

  childrenOf(node: number): number[] {
    const children: number[] = []
    for (let child = this.firstChild[node]!; child !== NONE; child = this.nextSibling[child]!)
      children.push(child)
    return children
  }

  /** Makes exactly these nodes, which are in the table, the children of a node. */
  relist(node: number, children: readonly number[]): void {
    this.firstChild[node] = NONE
    for (let i = children.length - 1; i >= 0; i--) {
      this.nextSibling[children[i]!] = this.firstChild[node]!
      this.firstChild[node] = children[i]!
    }
  }

  label(node: number): string {
    return decoder.decode(this.labelBytes(node))
  }

  labelBytes(node: number): Uint8Array {
    return this.#labels.subarray(node * LABEL_BYTES, node * LABEL_BYTES + this.#labelLengths[node]!)
  }

  /** Keeps a URL as an example of its shape, when it is its turn. */
  keepExample(node: number, bytes: Uint8Array, start: number, end: number): void {
    const own = this.own[node]!
    if (own > 1 && own !== EXAMPLE_COUNTS[1] && own !== EXAMPLE_COUNTS[2]) return
    const examples = this.examples[node] ?? []
    const text = decoder.decode(bytes.subarray(start, Math.min(end, start + MOST_EXAMPLE)))
    if (!examples.includes(text)) examples.push(text)
    this.examples[node] = examples.slice(0, EXAMPLE_COUNTS.length)
  }

  #insert(node: number): void {
    const table = this.#table
    const mask = table.length - 1
    let slot = slotOf(this.#links[node * 4 + 2]!, this.#links[node * 4]!) & mask
    while (table[slot]! >= 0) slot = (slot + 1) & mask
    table[slot] = node
  }
}

const slotOf = (parent: number, lo: number) => {
  const mixed = lo ^ Math.imul(parent, 0x9e3779b1)
  return mixed ^ (mixed >>> 15)
}
