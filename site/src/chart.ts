// A small moving chart of the last two minutes of one value, the newest at the right. The line is SVG, coloured by the style
// sheet, with a text alternative for screen readers.
import { h, isStill, s, setText } from './dom.ts'
import { power } from './format.ts'
import { SECONDS } from './history.ts'

const WIDTH = SECONDS - 1
const HEIGHT = 60
const STEP_MS = 1000

export interface ChartOptions {
  readonly title: string
  readonly format: (value: number) => string
  /** `zero`: from 0 to a round number over the highest; `share`: from 0 to 1; `log`: powers of ten. */
  readonly scale: 'zero' | 'share' | 'log'
  /** What the horizontal reference line means. */
  readonly referenceName?: string
}

type Values = readonly (number | null)[]

interface Scale {
  readonly low: string
  readonly high: string
  y(value: number): number
}

/** 1, 2 or 5 times a power of ten, at least `value`. */
export function roundUp(value: number): number {
  if (value <= 0) return 1
  const unit = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= value * 0.9999) ?? value
}

function scaleOf({ scale, format }: ChartOptions, shown: readonly number[]): Scale {
  if (scale !== 'log') {
    const top = scale === 'share' ? 1 : roundUp(Math.max(0, ...shown))
    return { low: format(0), high: format(top), y: (value) => HEIGHT * (1 - value / top) }
  }
  const exponents = shown.filter((value) => value > 0).map(Math.log10)
  const from = Math.floor(Math.min(...exponents, 0) - 0.5)
  const to = Math.min(0, Math.ceil(Math.max(...exponents, from + 1) + 0.5))
  const lift = (value: number) => (Math.log10(Math.max(value, 10 ** from)) - from) / (to - from)
  return { low: power(from), high: to === 0 ? '1' : power(to), y: (value) => HEIGHT * (1 - lift(value)) }
}

// The line through the values, with gaps where there are none, and the area below it.
function paths(values: Values, y: (value: number) => number): { line: string; area: string } {
  let line = ''
  let area = ''
  let from = -1
  const first = WIDTH - values.length + 1
  for (let i = 0; i <= values.length; i++) {
    const value = values[i]
    if (value === null || value === undefined) {
      if (from >= 0) area += `L${first + i - 1} ${HEIGHT}L${first + from} ${HEIGHT}Z`
      from = -1
      continue
    }
    const point = `${from < 0 ? 'M' : 'L'}${first + i} ${y(value).toFixed(2)}`
    // A value without neighbours is drawn as a point: a line of no length with a round end.
    line += from < 0 ? `${point}h.01` : point
    area += point
    if (from < 0) from = i
  }
  return { line, area }
}

export class Chart {
  readonly element: HTMLElement
  readonly #options: ChartOptions
  readonly #value = h('output', { class: 'value' }, '–')
  readonly #note = h('span', { class: 'note' })
  readonly #range = h('span', { class: 'range' })
  readonly #line = s('path', { class: 'line' })
  readonly #area = s('path', { class: 'area' })
  readonly #reference = s('path', { class: 'reference' })
  readonly #moving = s('g', {}, this.#area, this.#line)
  readonly #drawing = s(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img' },
    s('path', { class: 'edge', d: `M0 0H${WIDTH}` }),
    s('path', { class: 'foot', d: `M0 ${HEIGHT}H${WIDTH}` }),
    this.#moving,
    this.#reference,
  )

  constructor(options: ChartOptions) {
    this.#options = options
    this.#drawing.setAttribute('aria-label', `${options.title}: nothing measured yet`)
    this.element = h(
      'figure',
      { class: 'chart' },
      h('figcaption', {}, h('span', { class: 'label' }, options.title), this.#value),
      this.#drawing,
      h('p', { class: 'axis' }, this.#range, this.#note),
    )
    this.#value.setAttribute('aria-live', 'off')
  }

  /** Draws the values, newest last, and a horizontal line at `reference`. */
  show(values: Values, reference: number | null = null): void {
    const known = values.filter((value) => value !== null)
    const { title, format, referenceName } = this.#options
    const scale = scaleOf(this.#options, reference === null ? known : [...known, reference])
    const { line, area } = paths(values, scale.y)
    this.#line.setAttribute('d', line)
    this.#area.setAttribute('d', area)
    setText(this.#range, `${scale.low} to ${scale.high}`)
    const across = reference === null ? '' : `M0 ${scale.y(reference).toFixed(2)}H${WIDTH}`
    this.#reference.setAttribute('d', across)
    const now = values.at(-1) ?? null
    setText(this.#value, now === null ? '–' : format(now))
    const isOver = reference !== null && now !== null && now > reference
    this.element.classList.toggle('over', isOver)
    if (referenceName) {
      const promised = reference === null ? `no ${referenceName}` : `${referenceName} ${format(reference)}`
      setText(this.#note, isOver ? `over its ${promised}` : promised)
    }
    this.#drawing.setAttribute('aria-label', this.#words(title, known, now, format))
    if (!isStill() && values.length > 1) this.#move()
  }

  #words(title: string, known: readonly number[], now: number | null, format: (n: number) => string): string {
    if (known.length === 0) return `${title}: nothing measured yet`
    const range = `between ${format(Math.min(...known))} and ${format(Math.max(...known))}`
    const note = this.#note.textContent
    return `${title}, last two minutes: now ${now === null ? 'none' : format(now)}, ${range}${note ? `, ${note}` : ''}`
  }

  // Moves the line in from the right by one step until the next sample.
  #move(): void {
    const step = { transform: 'translateX(1px)' }
    this.#moving.animate([step, { transform: 'none' }], { duration: STEP_MS, easing: 'linear' })
  }
}
