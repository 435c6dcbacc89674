// A small chart of one or two values over time, the newest at the right, with a time axis and the values under the pointer
// or, by the arrow keys, at a chosen time. SVG coloured by the style sheet, with a text alternative for screen readers.
import { HEIGHT, nearest, paths, type Scale, type ScaleKind, scaleOf } from './chart-scale.ts'
import { h, isStill, s, setText } from './dom.ts'
import { clock } from './format.ts'
import { TimeAxis } from './time-axis.ts'
import { type Drawn, SPANS } from './timeline.ts'

const WIDTH = 119
const STEP_MS = 1000

export interface ChartOptions {
  readonly title: string
  /** The values drawn, by their names in the course. */
  readonly values: readonly string[]
  /** What each is called, when there are several. */
  readonly names?: readonly string[]
  readonly format: (value: number) => string
  readonly scale: ScaleKind
  /** The highest value there can be. */
  readonly most?: number
  /** What the horizontal reference line means. */
  readonly referenceName?: string
  /** Labels that fit on its time axis; default 3. */
  readonly times?: number
  /** Whether it is reached by the keyboard. Not where there are many. */
  readonly isFocusable?: boolean
}

/** The time that the pointer is at, shared by charts that stand together. */
export class Cursor {
  at: number | null = null
  readonly #listeners: (() => void)[] = []

  listen(listener: () => void): void {
    this.#listeners.push(listener)
  }

  move(at: number | null): void {
    this.at = at
    for (const listener of this.#listeners) listener()
  }
}

/** One line of a chart, its area, and its value as text. */
class Line {
  readonly path: SVGPathElement
  readonly area = s('path', { class: 'area' })
  readonly dot = s('path', { class: 'dot' })
  readonly value = h('output', { class: 'value', 'aria-live': 'off' }, '–')
  readonly legend: HTMLElement

  constructor(name: string | undefined, i: number) {
    this.path = s('path', { class: `line line-${i}` })
    this.dot.classList.add(`dot-${i}`)
    this.legend =
      name === undefined
        ? this.value
        : h('span', { class: `series series-${i}` }, h('span', { class: 'name' }, name), ' ', this.value)
  }
}

export class Chart {
  readonly element: HTMLElement
  readonly #options: ChartOptions
  readonly #cursor: Cursor
  readonly #lines: readonly Line[]
  readonly #note = h('span', { class: 'note' })
  readonly #spoken = h('span', { class: 'unseen', 'aria-live': 'polite' })
  readonly #axis: TimeAxis
  readonly #marks = [h('span', { class: 'mark' }), h('span', { class: 'mark' })]
  readonly #grid = s('path', { class: 'edge' })
  readonly #reference = s('path', { class: 'reference' })
  readonly #pointer = s('path', { class: 'pointer' })
  readonly #moving: SVGGElement
  readonly #drawing: SVGSVGElement
  readonly #plot: HTMLElement
  #drawn: Drawn | null = null
  #scale: Scale | null = null
  #referenceAt: number | null = null

  constructor(options: ChartOptions, cursor = new Cursor()) {
    const { title, values, names = [], isFocusable = false } = options
    this.#options = options
    this.#cursor = cursor
    this.#lines = values.map((_, i) => new Line(names[i], i))
    this.#axis = new TimeAxis(options.times ?? 3)
    // Several areas would hide each other.
    const areas = values.length === 1 ? this.#lines.map(({ area }) => area) : []
    this.#moving = s('g', {}, ...areas, ...this.#lines.map(({ path }) => path))
    this.#drawing = s(
      'svg',
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img' },
      this.#grid,
      s('path', { class: 'foot', d: `M0 ${HEIGHT}H${WIDTH}` }),
      this.#moving,
      this.#reference,
      this.#pointer,
      ...this.#lines.map(({ dot }) => dot),
    )
    this.#drawing.setAttribute('aria-label', `${title}: nothing measured yet`)
    const focus = { tabindex: '0', role: 'group', 'aria-label': `${title}: arrow keys show values` }
    this.#plot = h('div', { class: 'plot', ...(isFocusable && focus) }, this.#drawing, ...this.#marks)
    this.element = h(
      'figure',
      { class: 'chart' },
      h(
        'figcaption',
        {},
        h('span', { class: 'label' }, title, this.#note),
        h('span', { class: 'legend' }, ...this.#lines.map(({ legend }) => legend)),
      ),
      this.#plot,
      this.#axis.element,
      this.#spoken,
    )
    this.#plot.addEventListener('pointermove', (event) => this.#follow(event))
    this.#plot.addEventListener('pointerleave', () => cursor.move(null))
    this.#plot.addEventListener('blur', () => cursor.move(null))
    if (isFocusable) this.#plot.addEventListener('keydown', (event) => this.#step(event))
    cursor.listen(() => this.#point())
  }

  /** Draws the samples, and a horizontal line at `reference`. */
  show(drawn: Drawn, reference: number | null = null): void {
    const before = this.#drawn
    const isSame = before?.course === drawn.course && before.to === drawn.to && before.span === drawn.span
    if (isSame && reference === this.#referenceAt) return
    this.#drawn = drawn
    this.#referenceAt = reference
    const { times } = drawn.course
    const { scale, most } = this.#options
    const { from, to, gap } = this.#window
    const all = this.#values
    const known = all.flatMap((values) => values.filter((value) => value !== null))
    this.#scale = scaleOf(scale, reference === null ? known : [...known, reference], most)
    const xs = times.map((time) => (WIDTH * (time - from)) / (to - from))
    for (const [i, { path, area }] of this.#lines.entries()) {
      const drawnPaths = paths(xs, all[i]!, this.#scale.y, gap)
      path.setAttribute('d', drawnPaths.line)
      area.setAttribute('d', drawnPaths.area)
    }
    this.#drawScale(this.#scale, reference)
    this.#axis.show(from, to)
    this.#point()
    this.#drawing.setAttribute('aria-label', this.#words(known))
    const isNext = before?.span === 'minutes' && drawn.span === 'minutes'
    if (isNext && !isStill() && times.length > 1) this.#move()
  }

  get #window(): { from: number; to: number; gap: number } {
    const { span, to } = this.#drawn!
    const { ms, gapMs } = SPANS[span]
    return { from: to - ms, to, gap: (WIDTH * gapMs) / ms }
  }

  get #values(): readonly (readonly (number | null)[])[] {
    return this.#options.values.map((name) => this.#drawn?.course.values[name] ?? [])
  }

  #drawScale({ marks, y }: Scale, reference: number | null): void {
    const { format, referenceName } = this.#options
    this.#grid.setAttribute('d', marks.map((mark) => `M0 ${y(mark).toFixed(2)}H${WIDTH}`).join(''))
    for (const [i, label] of this.#marks.entries()) {
      setText(label, format(marks[i]!))
      label.style.top = `${((100 * y(marks[i]!)) / HEIGHT).toFixed(1)}%`
    }
    const across = reference === null ? '' : `M0 ${y(reference).toFixed(2)}H${WIDTH}`
    this.#reference.setAttribute('d', across)
    if (!referenceName) return
    const now = this.#values[0]!.at(-1) ?? null
    const isOver = reference !== null && now !== null && now > reference
    this.element.classList.toggle('over', isOver)
    const promised = reference === null ? `no ${referenceName}` : `${referenceName} ${format(reference)}`
    setText(this.#note, isOver ? `over its ${promised}` : promised)
  }

  #words(known: readonly number[]): string {
    const { title, format, names } = this.#options
    if (known.length === 0) return `${title}: nothing measured yet`
    const text = (i: number) => {
      const now = this.#values[i]!.at(-1) ?? null
      return `${names ? `${names[i]} ` : ''}${now === null ? 'none' : format(now)}`
    }
    const now = this.#lines.map((_, i) => text(i)).join(', ')
    const range = `between ${format(Math.min(...known))} and ${format(Math.max(...known))}`
    const note = this.#note.textContent
    return `${title}, ${SPANS[this.#drawn!.span].name}: now ${now}, ${range}${note ? `, ${note}` : ''}`
  }

  /** The sample that the cursor is at; -1 for none. */
  get #pointed(): number {
    const { at } = this.#cursor
    if (at === null || this.#drawn === null) return -1
    const { times } = this.#drawn.course
    const i = nearest(times, at)
    return i >= 0 && times[i]! >= this.#window.from ? i : -1
  }

  // The values and the time of the sample under the pointer; without one, the newest values.
  #point(): void {
    const { format } = this.#options
    const i = this.#pointed
    const all = this.#values
    for (const [n, { value, dot }] of this.#lines.entries()) {
      const shown = all[n]!.at(i) ?? null
      setText(value, shown === null ? '–' : format(shown))
      const y = i >= 0 && shown !== null ? this.#scale?.y(shown) : undefined
      dot.setAttribute('d', y === undefined ? '' : `M${this.#x(i).toFixed(2)} ${y.toFixed(2)}h.01`)
    }
    this.element.classList.toggle('is-pointed', i >= 0)
    this.#pointer.setAttribute('d', i < 0 ? '' : `M${this.#x(i).toFixed(2)} 0V${HEIGHT}`)
    this.#axis.point(i < 0 ? null : { at: this.#x(i) / WIDTH, text: this.#timeOf(i) })
  }

  #x(i: number): number {
    const { from, to } = this.#window
    return (WIDTH * (this.#drawn!.course.times[i]! - from)) / (to - from)
  }

  #timeOf(i: number): string {
    return clock(this.#drawn!.course.times[i]!, this.#drawn!.span !== 'day')
  }

  #follow(event: PointerEvent): void {
    if (!this.#drawn) return
    const { left, width } = this.#plot.getBoundingClientRect()
    const { from, to } = this.#window
    this.#cursor.move(from + ((to - from) * (event.clientX - left)) / width)
  }

  #step(event: KeyboardEvent): void {
    const times = this.#drawn?.course.times ?? []
    const i = this.#pointed
    const last = times.length - 1
    const current = i < 0 ? last : i
    const next = { ArrowLeft: i < 0 ? last : current - 1, ArrowRight: current + 1, Home: 0, End: last }[
      event.key
    ]
    if (event.key === 'Escape') this.#cursor.move(null)
    if (next === undefined || last < 0) return
    event.preventDefault()
    const to = Math.min(last, Math.max(0, next))
    this.#cursor.move(times[to]!)
    setText(
      this.#spoken,
      `${this.#timeOf(to)}: ${this.#lines.map(({ legend }) => legend.textContent).join(', ')}`,
    )
  }

  // Moves the line in from the right by one step until the next sample.
  #move(): void {
    const step = { transform: 'translateX(1px)' }
    this.#moving.animate([step, { transform: 'none' }], { duration: STEP_MS, easing: 'linear' })
  }
}
