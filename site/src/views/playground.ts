// The playground: a real filter in this page. Choose its shape, add URLs, watch the bits, find where it errs.
import { filters } from '../../../src/index.ts'
import { fact, fill, h, isStill, setText } from '../dom.ts'
import { count, oneIn, plural, rate, share } from '../format.ts'
import { answerList, foundSection } from '../playground/findings.ts'
import { Grid } from '../playground/grid.ts'
import { Growth } from '../playground/growth.ts'
import type { Panel } from '../playground/panels.ts'
import { type Answer, passes } from '../playground/probes.ts'
import { defaults, type Settings, type Structure, settingsOf, structures } from '../playground/structures.ts'
import { type Asked, MOST_TRIES, MOST_URLS, Trial } from '../playground/trial.ts'
import { ErrorLine, heading, labelled, plainInput, type View, verdictMark } from '../view.ts'

const EXAMPLE = 'https://www.example.com/news/2026/harbour-reopens.html'
/** One array may be so many pixels high; several share the screen. */
const TALL = 300
const LOW = 132
const STEPS = 20
const STEP_MS = 60
/** The rate is measured once in so many steps. */
const MEASURE_EVERY = 4

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

class Playground {
  readonly #root: HTMLElement
  readonly #signal: AbortSignal
  readonly #errorLine = new ErrorLine()
  readonly #structure = h(
    'select',
    { id: 'structure' },
    ...structures.map(({ name }) => h('option', { value: name }, name)),
  )
  readonly #fields = h('div', { class: 'row shape' })
  readonly #does = h('p', { class: 'does' })
  readonly #watch = h('p', { class: 'hint' })
  readonly #url = plainInput('url', { required: true, value: EXAMPLE })
  readonly #verdict = h('div', { class: 'verdict-line', 'aria-live': 'polite' })
  readonly #answers = h('div')
  readonly #facts = h('dl', { class: 'tiles' })
  readonly #bits = h('div', { class: 'bit-panels' })
  readonly #find = h('button', { type: 'button', class: 'primary' }, 'Find a false positive')
  readonly #stop = h('button', { type: 'button', hidden: true }, 'Stop')
  readonly #tries = h('span', { class: 'tries' })
  readonly #searchState = h('p', { class: 'answer', 'aria-live': 'polite' })
  readonly #found = h('div', { class: 'found' })
  readonly #growth = new Growth()
  readonly #adders: HTMLButtonElement[] = []
  #grids = new Map<number, Grid>()
  #panels: readonly Panel[] = []
  #trial!: Trial
  #searching: AbortController | null = null
  /** Adds that were clicked one after the other are done so. */
  #adding: Promise<void> = Promise.resolve()

  constructor(root: HTMLElement, signal: AbortSignal) {
    this.#root = root
    this.#signal = signal
    for (const n of [10, 100, 1000]) {
      const button = h('button', { type: 'button' }, `Add ${count(n)}`)
      button.addEventListener('click', () => {
        this.#adding = this.#adding.then(() => this.#addMany(n))
      })
      this.#adders.push(button)
    }
  }

  async start(): Promise<void> {
    this.#draw()
    this.#structure.addEventListener('change', () => void this.#choose())
    this.#fields.addEventListener('change', () => void this.#begin())
    this.#find.addEventListener('click', () => void this.#search())
    this.#stop.addEventListener('click', () => this.#searching?.abort())
    const redraw = () => {
      for (const grid of this.#grids.values()) grid.draw()
      this.#growth.draw()
    }
    const resized = new ResizeObserver(redraw)
    resized.observe(this.#root)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', redraw)
    this.#signal.addEventListener('abort', () => {
      resized.disconnect()
      scheme.removeEventListener('change', redraw)
      this.#searching?.abort()
    })
    await this.#choose()
  }

  #draw(): void {
    const ask = h('button', { type: 'button' }, 'Ask')
    const form = h(
      'form',
      {
        class: 'by-hand',
        onsubmit: (event) => {
          event.preventDefault()
          this.#one((url) => this.#trial.add(url), 'Added')
        },
      },
      labelled('A URL of yours', this.#url),
      h('div', { class: 'row actions' }, h('button', { type: 'submit' }, 'Add'), ask),
    )
    ask.addEventListener('click', () => {
      if (this.#url.reportValidity()) this.#one((url) => this.#trial.ask(url), 'Asked')
    })
    const empty = h('button', { type: 'button' }, 'Empty it')
    empty.addEventListener('click', () => void this.#begin())
    fill(
      this.#root,
      heading(
        'Playground',
        'The same kernel as the server’s, running in this page. Nothing leaves the browser.',
      ),
      h(
        'div',
        { class: 'bench' },
        h(
          'div',
          { class: 'controls' },
          h(
            'section',
            {},
            h('h2', {}, 'Structure'),
            labelled('Filter', this.#structure),
            this.#does,
            this.#fields,
            this.#errorLine.element,
          ),
          h(
            'section',
            {},
            h('h2', {}, 'Add URLs'),
            form,
            h('p', { class: 'label', id: 'generated' }, 'Generated, none of them twice'),
            h(
              'div',
              { class: 'row actions', role: 'group', 'aria-labelledby': 'generated' },
              ...this.#adders,
              empty,
            ),
          ),
        ),
        h(
          'div',
          { class: 'stage' },
          this.#facts,
          h('section', {}, h('h2', {}, 'Its memory'), this.#watch, this.#bits, this.#verdict, this.#answers),
          h(
            'section',
            {},
            h('h2', {}, 'Where it errs'),
            h('div', { class: 'row actions' }, this.#find, this.#stop, this.#tries),
            this.#searchState,
            this.#found,
            this.#growth.element,
          ),
        ),
      ),
    )
  }

  get #chosen(): Structure {
    return structures.find(({ name }) => name === this.#structure.value)!
  }

  async #choose(): Promise<void> {
    const structure = this.#chosen
    const start = settingsOf(structure)
    const kind = filters[structure.name]
    setText(this.#does, `${kind.does[0]!.toUpperCase()}${kind.does.slice(1)} (${kind.source}).`)
    setText(this.#watch, structure.watch)
    fill(
      this.#fields,
      ...structure.fields.map(({ name, sign, label, least, most, step }) =>
        labelled(
          [h('i', {}, sign), `, ${label}`],
          h('input', {
            type: 'number',
            id: `shape-${name}`,
            name,
            min: least,
            max: most,
            step,
            value: start[name],
            required: true,
          }),
        ),
      ),
    )
    await this.#begin()
  }

  get #settings(): Settings {
    const settings: Record<string, number> = { ...defaults }
    for (const input of this.#fields.querySelectorAll('input')) settings[input.name] = input.valueAsNumber
    return settings as unknown as Settings
  }

  /** An empty filter of the chosen shape. */
  async #begin(): Promise<void> {
    this.#searching?.abort()
    this.#errorLine.clear()
    const wrong = [...this.#fields.querySelectorAll('input')].find((input) => !input.checkValidity())
    if (wrong) return this.#errorLine.show(`${wrong.labels![0]!.textContent}: ${wrong.validationMessage}`)
    try {
      this.#trial = await Trial.create(this.#chosen, this.#settings)
    } catch (error) {
      return this.#errorLine.show(error)
    }
    if (this.#signal.aborted) return
    this.#grids = new Map()
    this.#bits.replaceChildren()
    fill(this.#verdict)
    fill(this.#answers)
    fill(this.#found)
    setText(this.#searchState, '')
    this.#show()
  }

  #show(): void {
    this.#panels = this.#trial.panels()
    const isOne = this.#panels.length === 1 && this.#trial.structure.name !== 'scalable'
    const known = new Set(this.#panels.map(({ array }) => array))
    for (const [array, grid] of this.#grids) {
      if (known.has(array)) continue
      grid.element.remove()
      this.#grids.delete(array)
    }
    for (const panel of this.#panels) {
      let grid = this.#grids.get(panel.array)
      if (!grid) {
        grid = new Grid(panel)
        this.#grids.set(panel.array, grid)
        this.#bits.append(grid.element)
      }
      grid.show(panel, isOne ? TALL : LOW)
    }
    this.#tell()
  }

  #tell(): void {
    const { expectedRate, fill: fullness } = this.#trial.sieve.stats()
    const measured = this.#trial.urls === 0 ? null : this.#trial.measured.at(-1)
    fill(
      this.#facts,
      fact('URLs added', count(this.#trial.urls)),
      fact('Fill', share(fullness)),
      fact('Expected rate', rate(expectedRate)),
      fact(
        'Measured',
        measured ? rate(measured.wrong / measured.asked) : '–',
        measured ? h('small', {}, `${count(measured.wrong)} of ${count(measured.asked)}`) : null,
      ),
      fact('Lost on the way', count(this.#trial.lost)),
    )
    const { name } = this.#trial.structure
    this.#growth.show({
      measured: this.#trial.measured,
      madeFor: name === 'fingerprint' || name === 'scalable' ? null : this.#trial.sieve.plan.expectedUrls,
      formula: (urls) => this.#trial.formula(urls),
      note: this.#trial.structure.formula ?? '',
    })
  }

  #ring(answers: readonly Answer[]): void {
    for (const [array, grid] of this.#grids) {
      grid.ring(answers.filter((answer) => answer.array === array).flatMap(({ cells }) => cells))
    }
  }

  #one(act: (url: string) => Asked, did: string): void {
    const { url, key, verdict, wasAdded, placement } = act(this.#url.value)
    if (did === 'Added') {
      this.#trial.measure()
      this.#show()
    }
    const truth = wasAdded
      ? 'it had been added before'
      : verdict === 'seen'
        ? 'although it had never been added: a false positive'
        : 'it had never been added'
    fill(
      this.#verdict,
      verdictMark(verdict),
      h(
        'p',
        {},
        `${did}: ${truth}. Key `,
        h('code', { class: 'url' }, key),
        key === url ? ', as it stands.' : '.',
      ),
    )
    fill(this.#answers, answerList(placement))
    this.#ring(placement.answers)
  }

  async #addMany(n: number): Promise<void> {
    this.#ring([])
    const trial = this.#trial
    const steps = isStill() ? 1 : Math.min(n, STEPS)
    for (let step = 0; step < steps; step++) {
      trial.addGenerated(Math.floor((n * (step + 1)) / steps) - Math.floor((n * step) / steps))
      if (this.#signal.aborted || trial !== this.#trial) break
      if (step % MEASURE_EVERY === MEASURE_EVERY - 1 || step === steps - 1) trial.measure()
      this.#show()
      if (step < steps - 1) await pause(STEP_MS)
    }
    if (trial.urls >= MOST_URLS)
      this.#errorLine.show(
        `${count(MOST_URLS)} URLs are the most a browser shall keep here: empty it, or take another`,
      )
  }

  async #search(): Promise<void> {
    this.#searching?.abort()
    const searching = new AbortController()
    this.#searching = searching
    this.#find.disabled = true
    await this.#adding
    const trial = this.#trial
    this.#stop.hidden = false
    fill(this.#found)
    setText(this.#searchState, '')
    const found = await trial.find(searching.signal, (tries) => {
      setText(this.#tries, `${count(tries)} tried`)
    })
    this.#find.disabled = false
    this.#stop.hidden = true
    setText(this.#tries, '')
    if (this.#signal.aborted || trial !== this.#trial) return
    if (found) {
      setText(this.#searchState, `Found after ${plural(found.tries, 'try', 'tries')}.`)
      const nameOf = (array: number) => this.#panels.find((panel) => panel.array === array)?.name ?? 'bit'
      fill(
        this.#found,
        foundSection(found, (array) => (this.#panels.length > 1 ? `${nameOf(array)}, ` : '')),
      )
      this.#ring(found.placement.answers.filter(passes))
      return
    }
    const { expectedRate } = trial.sieve.stats()
    const chance =
      expectedRate === null
        ? 'its rate depends on the URLs'
        : expectedRate > 0
          ? `expected is ${oneIn(expectedRate)}`
          : 'there is nothing in it to be mistaken for'
    setText(
      this.#searchState,
      searching.signal.aborted ? 'Stopped.' : `None in ${count(MOST_TRIES)}: ${chance}.`,
    )
  }
}

export const playground: View = ({ root, signal }) => new Playground(root, signal).start()
