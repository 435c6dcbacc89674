// How the rate grows with the URLs: the formula as a line, what was measured as dots, on a logarithmic scale.
import { h, s, setText } from '../dom.ts'
import { compact, count, power, rate } from '../format.ts'
import type { Measured } from './trial.ts'

const HEIGHT = 220
const LEFT = 44
const RIGHT = 12
const TOP = 12
const FOOT = 28
const STEPS = 60
/** Below this nothing that is drawn can be measured here. */
const LEAST_EXPONENT = -8

export interface GrowthData {
  readonly measured: readonly Measured[]
  /** URLs it is made for; null when any number will do. */
  readonly madeFor: number | null
  formula(urls: number): number | null
  /** What the formula is for, where that is not every new URL. */
  readonly note: string
}

/** A round number over the URLs there are and the URLs it is made for. */
function widest({ measured, madeFor }: GrowthData): number {
  const most = Math.max((madeFor ?? 500) * 1.6, (measured.at(-1)?.urls ?? 0) * 1.15)
  const unit = 10 ** Math.floor(Math.log10(most))
  return Math.ceil(most / unit) * unit
}

export class Growth {
  readonly element: HTMLElement
  readonly #drawing = s('svg', { role: 'img' })
  readonly #words = h('p', { class: 'hint' })
  #data: GrowthData | null = null

  constructor() {
    this.element = h(
      'figure',
      { class: 'growth' },
      h(
        'figcaption',
        {},
        h('span', { class: 'label' }, 'Rate of wrong “seen” against URLs added'),
        h(
          'span',
          { class: 'key' },
          h('span', { class: 'key-line' }, 'formula'),
          h('span', { class: 'key-dot' }, 'measured'),
        ),
      ),
      this.#drawing,
      this.#words,
    )
  }

  show(data: GrowthData): void {
    this.#data = data
    this.draw()
  }

  draw(): void {
    const width = this.element.clientWidth
    if (!this.#data || width === 0) return
    const { measured, madeFor, formula } = this.#data
    const most = widest(this.#data)
    const curve = Array.from({ length: STEPS + 1 }, (_, i) => {
      const urls = Math.max(1, Math.round((most * i) / STEPS))
      return { urls, p: formula(urls) }
    })
    const shown = [...curve.map(({ p }) => p ?? 0), ...measured.map(({ wrong, asked }) => wrong / asked)]
    const positive = shown.filter((p) => p > 0).map(Math.log10)
    const highest = Math.max(...positive)
    const from = Math.max(
      LEAST_EXPONENT,
      Math.min(-3, Math.floor(Math.max(highest - 6, Math.min(...positive)))),
    )
    const floor = highest < LEAST_EXPONENT ? Math.floor(highest) - 2 : from
    const x = (urls: number) => LEFT + ((width - LEFT - RIGHT) * urls) / most
    const y = (p: number) => TOP + ((HEIGHT - TOP - FOOT) * Math.log10(Math.max(p, 10 ** floor))) / floor
    const line = curve
      .filter(({ p }) => p !== null && p > 0)
      .map(({ urls, p }, i) => `${i ? 'L' : 'M'}${x(urls).toFixed(1)} ${y(p!).toFixed(1)}`)
      .join('')
    const step = Math.ceil(-floor / 5)
    const levels = Array.from({ length: Math.floor(-floor / step) + 1 }, (_, i) => -i * step)
    this.#drawing.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`)
    this.#drawing.replaceChildren(
      ...levels.flatMap((exponent) => [
        s('path', { class: 'rule', d: `M${LEFT} ${y(10 ** exponent)}H${width - RIGHT}` }),
        s(
          'text',
          { x: LEFT - 8, y: y(10 ** exponent) + 4, 'text-anchor': 'end' },
          exponent === 0 ? '1' : power(exponent),
        ),
      ]),
      ...[0, 0.5, 1].map((part) =>
        s(
          'text',
          {
            x: x(most * part),
            y: HEIGHT - 8,
            'text-anchor': part === 1 ? 'end' : part === 0 ? 'start' : 'middle',
          },
          part === 0 ? '0' : `${compact(most * part)}${part === 1 ? ' URLs' : ''}`,
        ),
      ),
      ...(madeFor === null
        ? []
        : [s('path', { class: 'made', d: `M${x(madeFor).toFixed(1)} ${TOP}V${HEIGHT - FOOT}` })]),
      s('path', { class: 'formula', d: line }),
      ...measured.map(({ urls, wrong, asked }) =>
        s('circle', {
          class: wrong === 0 ? 'none' : 'dot',
          cx: x(urls).toFixed(1),
          cy: y(wrong / asked).toFixed(1),
          r: 3.5,
        }),
      ),
    )
    this.#say(this.#data)
  }

  #say({ measured, madeFor, formula, note }: GrowthData): void {
    const last = measured.at(-1)
    const made = madeFor === null ? '' : ` The dashed line is n = ${count(madeFor)}, what it is made for.`
    setText(this.#words, `A hollow dot is a sample in which none was wrong.${made}${note && ` ${note}`}`)
    const now = last
      ? `at ${count(last.urls)} URLs ${count(last.wrong)} of ${count(last.asked)} never added were answered seen, the formula says ${rate(formula(Math.max(1, last.urls)))}`
      : 'nothing measured yet'
    this.#drawing.setAttribute('aria-label', `Rate of wrong “seen” against URLs added: ${now}`)
  }
}
