// The current faults of the server, above every view: a list that screen readers announce when it changes, and that is
// hidden when it is empty.
import type { Fault } from './api.ts'
import { fill, h, nameText } from './dom.ts'
import { moment, plural } from './format.ts'
import type { Live } from './live.ts'
import { hrefOf } from './sieve-charts.ts'

/** Faults listed; the others are counted. */
const MOST_SHOWN = 5

export const FAULT_TITLES: Readonly<Record<Fault['kind'], string>> = {
  'set-aside': 'Damaged and not served',
  'past-capacity': 'Past its capacity',
  disk: 'The disk refuses writes',
  redis: 'Redis does not answer',
}

/** Kinds for which the server is not ready. */
const REFUSING: readonly Fault['kind'][] = ['disk', 'redis']

function item({ kind, sieve, message, since }: Fault): HTMLElement {
  const href = sieve === undefined || kind === 'set-aside' ? null : hrefOf(sieve)
  const name = sieve !== undefined && h(href === null ? 'b' : 'a', { href }, nameText(sieve))
  return h(
    'li',
    {},
    h('p', {}, h('strong', {}, FAULT_TITLES[kind] ?? kind), name && [': ', name]),
    h(
      'p',
      { class: 'hint' },
      h('bdi', {}, message),
      ' · since ',
      h('time', { datetime: since }, moment(since)),
    ),
  )
}

/** Shows the faults of the last snapshot in `element`. */
export function showFaults(element: HTMLElement, live: Live): void {
  let shown = '[]'
  live.listen(() => {
    const faults = live.snapshot?.faults ?? []
    const now = JSON.stringify(faults)
    if (now === shown) return
    shown = now
    element.hidden = faults.length === 0
    const stopsWork = ({ kind }: Fault) => REFUSING.includes(kind)
    const isRefusing = faults.some(stopsWork)
    // Faults that stop work come first.
    const sorted = [...faults].sort((a, b) => Number(stopsWork(b)) - Number(stopsWork(a)))
    const left = faults.length - MOST_SHOWN
    fill(
      element,
      h('h2', {}, isRefusing ? 'The server is not ready' : 'Something is wrong'),
      h('ul', {}, ...sorted.slice(0, MOST_SHOWN).map(item)),
      left > 0 && h('p', {}, `And ${plural(left, 'more fault')}: INFO faults lists all.`),
    )
  }, new AbortController().signal)
}
