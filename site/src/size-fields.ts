// The fields for the size of a new sieve, which depend on its filter, and the preview of its memory and rate by the
// server's own plan.
import { ApiError, api, type FilterInfo, type SievePlan } from './api.ts'
import { fact, fill, h } from './dom.ts'
import { bytes, count, number as figure, oneIn, rate } from './format.ts'
import { labelled } from './view.ts'

const RATES = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7]
const DAY_MS = 86_400_000

type Sizing = 'none' | 'grows' | 'fixed' | 'window'

/** The fields a filter needs for its size. */
function sizingOf({ name, can }: FilterInfo): Sizing {
  if (name === 'window') return 'window'
  if (name === 'scalable') return 'grows'
  return can.grow ? 'none' : 'fixed'
}

const number = (id: string, value: number | '', least = 1) =>
  h('input', { type: 'number', id, min: least, step: 1, value, inputmode: 'numeric' })

export class SizeFields {
  readonly #urls = number('expected-urls', 1_000_000)
  readonly #by = h(
    'select',
    { id: 'size-by' },
    h('option', { value: 'rate' }, 'a promised rate'),
    h('option', { value: 'memory' }, 'available memory'),
  )
  readonly #rate = h(
    'select',
    { id: 'rate' },
    ...RATES.map((p) =>
      h('option', { value: p, selected: p === 1e-6 }, `1 in ${(1 / p).toLocaleString('en')}`),
    ),
  )
  readonly #mebibytes = h('input', { type: 'number', id: 'mebibytes', min: 0.001, step: 'any', value: 4 })
  readonly #windowBy = h(
    'select',
    { id: 'window-by' },
    h('option', { value: 'urls' }, 'a number of URLs'),
    h('option', { value: 'days' }, 'a number of days'),
  )
  readonly #windowUrls = number('window-urls', 1_000_000, 2)
  readonly #windowDays = h('input', { type: 'number', id: 'window-days', min: 0.001, step: 'any', value: 30 })
  readonly #generations = number('generations', 8, 2)
  readonly element = h('div', { class: 'sizing' })
  #sizing: Sizing = 'none'

  constructor() {
    for (const choice of [this.#by, this.#windowBy]) choice.addEventListener('change', () => this.#draw())
  }

  show(filter: FilterInfo): void {
    this.#sizing = sizingOf(filter)
    this.#draw()
  }

  #draw(): void {
    const byRate = this.#by.value === 'rate'
    const rate = labelled('Promised rate', this.#rate, 'The probability that a new URL is answered “seen”.')
    // Made when needed: an input is in one place only.
    const fields: Record<Sizing, () => readonly HTMLElement[]> = {
      none: () => [
        labelled('URLs, for the preview', this.#urls, 'It grows as needed: there is no size to choose.'),
      ],
      grows: () => [labelled('Initial number of URLs', this.#urls), rate],
      fixed: () => [
        labelled('Expected URLs', this.#urls, 'With more URLs the rate is higher than promised.'),
        labelled('Sized by', this.#by),
        byRate ? rate : labelled('Memory in MiB', this.#mebibytes),
      ],
      window: () => [
        labelled('Remembers', this.#windowBy),
        this.#windowBy.value === 'urls'
          ? labelled('URLs', this.#windowUrls)
          : labelled('Days', this.#windowDays),
        labelled('Generations', this.#generations, 'The oldest is forgotten when a new one begins.'),
      ],
    }
    const had = document.activeElement as HTMLElement | null
    fill(this.element, ...fields[this.#sizing]())
    if (had && this.element.contains(had)) had.focus()
  }

  /** The options for the preview: also the number of URLs that a filter that grows is expected to hold. */
  get previewed(): object {
    return this.#sizing === 'none' ? { expectedUrls: this.#urls.valueAsNumber } : this.spec
  }

  /** The options for the server. */
  get spec(): object {
    const expectedUrls = this.#urls.valueAsNumber
    const falsePositiveRate = Number(this.#rate.value)
    if (this.#sizing === 'none') return {}
    if (this.#sizing === 'grows') return { expectedUrls, falsePositiveRate }
    if (this.#sizing === 'fixed') {
      if (this.#by.value === 'rate') return { expectedUrls, falsePositiveRate }
      return { expectedUrls, sizeBytes: Math.round(this.#mebibytes.valueAsNumber * 2 ** 20) }
    }
    const size =
      this.#windowBy.value === 'urls'
        ? { windowUrls: this.#windowUrls.valueAsNumber }
        : { windowMs: this.#windowDays.valueAsNumber * DAY_MS }
    return { window: { ...size, generations: this.#generations.valueAsNumber } }
  }
}

/** Time after the last change until the server is asked. */
const PAUSE_MS = 150

/** Memory and rate of the sieve that the form describes, by the plan that the server would make it with. */
export class Preview {
  readonly element = h('div', { class: 'preview', 'aria-live': 'polite', hidden: true })
  readonly #spec: () => object
  #timer = 0
  /** Number of the last request: an answer that was overtaken is not shown. */
  #asked = 0

  constructor(spec: () => object) {
    this.#spec = spec
  }

  /** Asks the server, soon. */
  refresh(): void {
    clearTimeout(this.#timer)
    this.#timer = window.setTimeout(() => void this.#ask(), PAUSE_MS)
  }

  async #ask(): Promise<void> {
    const asked = ++this.#asked
    try {
      const answer = await api.plan(this.#spec())
      if (asked === this.#asked) this.#show(answer)
    } catch (error) {
      if (asked !== this.#asked) return
      // On Redis there is nothing to plan.
      this.element.hidden = !(error instanceof ApiError) || error.status === 409
      fill(this.element, h('p', { class: 'error-line' }, (error as Error).message))
    }
  }

  #show({ plan, memoryBytes, availableBytes }: SievePlan): void {
    const { expectedUrls, expectedRate, bitsPerUrl, hashes } = plan
    const isTooLarge = availableBytes !== undefined && memoryBytes > availableBytes
    const at = expectedUrls === null ? '' : ` at ${count(expectedUrls)} URLs`
    this.element.hidden = false
    fill(
      this.element,
      h('h2', {}, `Preview${at}`),
      h(
        'dl',
        { class: 'facts' },
        fact('Memory', isTooLarge ? h('strong', { class: 'over' }, bytes(memoryBytes)) : bytes(memoryBytes)),
        bitsPerUrl !== null && fact('Bits per URL', figure(bitsPerUrl)),
        expectedRate !== null &&
          fact('Expected rate', rate(expectedRate), h('small', {}, oneIn(expectedRate))),
        hashes !== null && fact('k, hashes', count(hashes)),
      ),
      availableBytes !== undefined &&
        h(
          'p',
          { class: isTooLarge ? 'error-line' : 'hint' },
          isTooLarge
            ? `The server has ${bytes(availableBytes)} left: it would refuse to create this sieve, or to let it grow to this size.`
            : `The server has ${bytes(availableBytes)} left.`,
        ),
    )
  }
}
