// What was found out about a URL in the playground: what each layer said, and which bits a false positive shares with
// which other URLs.
import { h } from '../dom.ts'
import { layerList } from '../explanation.ts'
import { count, plural } from '../format.ts'
import { type Answer, type Placement, passes } from './probes.ts'
import type { Collision, Found } from './trial.ts'

/** More than these are folded away. */
const SHOWN_COLLISIONS = 10

/** The layer that made the verdict: of a refusal the first that refused, else the last word. */
function decider({ answers, verdict, anyDecides }: Placement): Answer | undefined {
  if (anyDecides) return verdict === 'seen' ? answers.find(passes) : undefined
  return verdict === 'new' ? answers.find((answer) => !passes(answer)) : answers.at(-1)
}

export function answerList(placement: Placement): HTMLElement {
  const decided = decider(placement)
  const isOne = placement.answers.length === 1
  const rows = placement.answers.map((answer) => ({
    name: answer.layer,
    of: answer.piece,
    verdict: passes(answer) ? ('seen' as const) : ('new' as const),
    isDecisive: !isOne && answer === decided,
    note:
      answer.cells.length === 0
        ? 'no slot'
        : `${answer.cells.length - answer.missing.length} of ${answer.cells.length} set`,
  }))
  return layerList(rows)
}

/** The bits of a false positive, together where one URL set several of a layer. */
function collisionList(collisions: readonly Collision[], nameOf: (array: number) => string): HTMLElement {
  const groups = new Map<string, Collision[]>()
  for (const collision of [...collisions].sort((a, b) => a.array - b.array || a.cell - b.cell)) {
    const name = `${collision.array} ${collision.setBy}`
    groups.set(name, [...(groups.get(name) ?? []), collision])
  }
  const item = (group: readonly Collision[]) =>
    h(
      'li',
      {},
      h(
        'span',
        { class: 'cell-name' },
        `${nameOf(group[0]!.array)}${group.length === 1 ? 'bit' : 'bits'} ${group.map(({ cell }) => count(cell)).join(' · ')}`,
      ),
      h('code', { class: 'url' }, group[0]!.setBy),
    )
  const items = [...groups.values()].map(item)
  const rest = items.slice(SHOWN_COLLISIONS)
  return h(
    'div',
    { class: 'collision-lists' },
    h('ul', { class: 'collisions' }, ...items.slice(0, SHOWN_COLLISIONS)),
    rest.length > 0 &&
      h(
        'details',
        {},
        h('summary', {}, `${count(rest.length)} more`),
        h('ul', { class: 'collisions' }, ...rest),
      ),
  )
}

export function foundSection(
  { url, placement, collisions }: Found,
  nameOf: (array: number) => string,
): HTMLElement {
  const others = new Set(collisions.map(({ setBy }) => setBy))
  return h(
    'div',
    {},
    h('p', { class: 'lead' }, h('code', { class: 'url' }, url)),
    h(
      'p',
      {},
      `Never added, and answered “seen”. Its ${plural(collisions.length, 'bit')} had been set by ${plural(others.size, 'other URL')}:`,
    ),
    collisionList(collisions, nameOf),
    placement.answers.length > 1 && answerList(placement),
  )
}
