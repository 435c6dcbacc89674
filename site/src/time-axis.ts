// The time axis below a chart: round local times, and the time under the pointer.
import { h, setText } from './dom.ts'
import { clock } from './format.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const STEPS = [
  10 * SECOND,
  30 * SECOND,
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
]
/** Labels nearer to an edge than this share would be cut off. */
const MARGIN = 0.07

export interface Tick {
  /** From 0 at the left to 1 at the right. */
  readonly at: number
  readonly text: string
}

/** Up to `most` round times between two, as the clock of a zone that is `offsetMs` ahead of UTC shows them. */
export function ticks(from: number, to: number, most: number, offsetMs: number): Tick[] {
  const step = STEPS.find((ms) => (to - from) / ms <= most) ?? 24 * HOUR
  const found: Tick[] = []
  for (let time = Math.ceil((from + offsetMs) / step) * step - offsetMs; time <= to; time += step) {
    const at = (time - from) / (to - from)
    if (at >= MARGIN && at <= 1 - MARGIN) found.push({ at, text: clock(time, step < MINUTE) })
  }
  return found
}

const offsetOf = (time: number): number => -new Date(time).getTimezoneOffset() * MINUTE

export class TimeAxis {
  readonly #labels: HTMLElement[] = []
  readonly #pointed = h('span', { class: 'pointed', hidden: true })
  readonly #most: number
  readonly element = h('p', { class: 'times', 'aria-hidden': 'true' }, this.#pointed)

  /** `most`: labels that fit. */
  constructor(most: number) {
    this.#most = most
  }

  show(from: number, to: number): void {
    const wanted = ticks(from, to, this.#most, offsetOf(to))
    while (this.#labels.length < wanted.length) {
      const label = h('span')
      this.#labels.push(label)
      this.element.append(label)
    }
    for (const [i, label] of this.#labels.entries()) {
      const tick = wanted[i]
      label.hidden = tick === undefined
      if (!tick) continue
      setText(label, tick.text)
      label.style.left = `${(tick.at * 100).toFixed(2)}%`
    }
  }

  /** Shows a time at its place; null removes it. */
  point(pointed: Tick | null): void {
    this.#pointed.hidden = pointed === null
    if (!pointed) return
    setText(this.#pointed, pointed.text)
    const within = Math.min(1 - MARGIN, Math.max(MARGIN, pointed.at))
    this.#pointed.style.left = `${(within * 100).toFixed(2)}%`
  }
}
