// Which shapes of a growing tree are suspicious: judged when a shape has enough URLs, and again each time it has grown by half.
import type { ShapeNodes } from './shape-nodes.ts'
import { factsAt } from './shape-report.ts'
import { findTraps, type Trap } from './traps.ts'

/** Numbers alone are no reason to drop a page. */
const HARMLESS = 'counter'
const AGAIN = 1.5

interface Verdict {
  readonly own: number
  readonly trap: Trap | null
}

export class TrapWatch {
  readonly #verdicts = new Map<number, Verdict>()
  readonly #thisYear = new Date().getUTCFullYear()

  /** What is suspicious about the shape at a node that has `own` URLs; null: nothing, or it is a counter. */
  trapAt(nodes: ShapeNodes, node: number, own: number): Trap | null {
    const known = this.#verdicts.get(node)
    if (known !== undefined && own >= known.own && own < known.own * AGAIN) return known.trap
    const trap = findTraps(factsAt(nodes, node), this.#thisYear).find(({ kind }) => kind !== HARMLESS) ?? null
    this.#verdicts.set(node, { own, trap })
    return trap
  }
}
