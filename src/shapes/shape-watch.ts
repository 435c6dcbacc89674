// The shapes of a growing tree that have many URLs: their text, and what is suspicious about them. Each is judged when it is
// first looked at, and again each time it has grown by half.
import type { ShapeNodes } from './shape-nodes.ts'
import { factsAt, shapeAt } from './shape-report.ts'
import { findTraps, type Trap } from './traps.ts'

/** Numbers alone are no reason to drop a page. */
const HARMLESS = 'counter'
const AGAIN = 1.5

export interface WatchedShape {
  /** Host, path and query. */
  readonly shape: string
  /** Null: nothing is suspicious, or it is a counter. */
  readonly trap: Trap | null
}

export class ShapeWatch {
  readonly #known = new Map<number, WatchedShape & { readonly own: number }>()
  readonly #thisYear = new Date().getUTCFullYear()

  /** The shape at a node that has `own` URLs. */
  at(nodes: ShapeNodes, node: number, own: number): WatchedShape {
    const known = this.#known.get(node)
    if (known !== undefined && own >= known.own && own < known.own * AGAIN) return known
    const facts = factsAt(nodes, node)
    const trap = findTraps(facts, this.#thisYear).find(({ kind }) => kind !== HARMLESS) ?? null
    const judged = { shape: shapeAt(nodes, node, facts), trap, own }
    this.#known.set(node, judged)
    return judged
  }
}
