// The span of time that charts show: two minutes as they are received, or an hour or a day as the server has recorded them.
// The server's samples also fill the two minutes after a reload.
import { api, type PastSpan, type Recorded } from './api.ts'
import { h } from './dom.ts'
import type { Course } from './history.ts'

export type Span = 'minutes' | PastSpan

interface SpanInfo {
  readonly label: string
  /** In a chart's text alternative. */
  readonly name: string
  readonly ms: number
  /** Two samples further apart than this are not joined by a line. */
  readonly gapMs: number
}

export const SPANS: Readonly<Record<Span, SpanInfo>> = {
  minutes: { label: '2 min', name: 'last two minutes', ms: 119_000, gapMs: 25_000 },
  hour: { label: '1 hour', name: 'last hour', ms: 3_600_000, gapMs: 25_000 },
  day: { label: '1 day', name: 'last day', ms: 86_400_000, gapMs: 600_000 },
}

const STORED = 'urlsieve-span'

/** The choice of a span, stored for this tab. */
export class SpanChoice {
  span: Span
  readonly element: HTMLElement

  constructor(onChange: () => void) {
    const stored = sessionStorage.getItem(STORED)
    this.span = stored !== null && stored in SPANS ? (stored as Span) : 'minutes'
    const choice = (span: Span) => {
      const id = `span-${span}`
      const input = h('input', {
        type: 'radio',
        name: 'span',
        id,
        value: span,
        checked: span === this.span,
        onchange: () => {
          this.span = span
          sessionStorage.setItem(STORED, span)
          onChange()
        },
      })
      return h('label', { for: id }, input, SPANS[span].label)
    }
    this.element = h(
      'fieldset',
      { class: 'spans' },
      h('legend', { class: 'unseen' }, 'Time span'),
      ...(Object.keys(SPANS) as Span[]).map(choice),
    )
  }
}

const EMPTY: Course = { times: [], values: {} }

/** What is drawn: the samples, and the time at the right edge. */
export interface Drawn {
  readonly span: Span
  readonly course: Course
  readonly to: number
}

/** The course of one sieve, or of the server, over each span. */
export class Timeline {
  readonly #sieve: string | null
  readonly #derive: (values: Recorded['values']) => Course['values']
  readonly #recorded = new Map<PastSpan, { readonly course: Course; readonly until: number }>()
  #joined: { readonly live: Course; readonly course: Course; readonly to: number } | null = null

  /** `derive` makes the values of the charts from those that the server records. */
  constructor(sieve: string | null, derive: (values: Recorded['values']) => Course['values']) {
    this.#sieve = sieve
    this.#derive = derive
  }

  /** Loads what the server has recorded, unless that has been done during the current step. */
  async load(span: Span): Promise<void> {
    const past = span === 'minutes' ? 'hour' : span
    const before = this.#recorded.get(past)
    // The two minutes need it once: later samples are received.
    if (before && (span === 'minutes' || Date.now() < before.until)) return
    const { times, values, stepSeconds } = await api.history(past, this.#sieve)
    const course = { times: times.map((time) => time * 1000), values: this.#derive(values) }
    this.#recorded.set(past, { course, until: Date.now() + stepSeconds * 1000 })
    this.#joined = null
  }

  /** What to draw for a span, given the samples that were received. */
  draw(span: Span, live: Course): Drawn {
    const newest = live.times.at(-1) ?? Date.now()
    if (span !== 'minutes') {
      const course = this.#recorded.get(span)?.course ?? EMPTY
      return { span, course, to: course.times.at(-1) ?? newest }
    }
    if (this.#joined?.live !== live || this.#joined.to !== newest) {
      this.#joined = { live, course: this.#join(live, newest - SPANS.minutes.ms), to: newest }
    }
    return { span, course: this.#joined.course, to: newest }
  }

  // The recorded samples before the first one received, then those received.
  #join(live: Course, from: number): Course {
    const recorded = this.#recorded.get('hour')?.course ?? EMPTY
    const until = live.times[0] ?? Number.POSITIVE_INFINITY
    const wanted = recorded.times.flatMap((time, i) => (time >= from && time < until ? [i] : []))
    // The first one received has no rates: they follow from two.
    const received = wanted.length > 0 && live.times.length > 1 ? 1 : 0
    const join = <T>(before: readonly T[] | undefined, after: readonly T[]): T[] => [
      ...wanted.map((i) => before![i]!),
      ...after.slice(received),
    ]
    const names = Object.keys(live.values)
    return {
      times: join(recorded.times, live.times),
      values: Object.fromEntries(
        names.map((name) => [name, join(recorded.values[name], live.values[name]!)]),
      ),
    }
  }
}
