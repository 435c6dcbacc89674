// The form for a new sieve: filters and profiles come from the server, and the fields for the size depend on the filter.
import { api, type FilterInfo } from '../api.ts'
import { fill, h } from '../dom.ts'
import { hrefOf } from '../sieve-charts.ts'
import { ErrorLine, heading, labelled, plainInput, type View } from '../view.ts'

const RATES = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7]
const DAY_MS = 86_400_000

type Sizing = 'none' | 'grows' | 'fixed' | 'window'

/** The fields a filter needs for its size. */
function sizingOf({ name, can }: FilterInfo): Sizing {
  if (name === 'window') return 'window'
  if (name === 'scalable') return 'grows'
  return can.grow ? 'none' : 'fixed'
}

const abilities = ({ can }: FilterInfo): string =>
  [can.grow && 'grows', can.delete && 'forgets', can.under && 'answers for folders']
    .filter(Boolean)
    .join(', ')

const number = (id: string, value: number | '', least = 1) =>
  h('input', { type: 'number', id, min: least, step: 1, value, inputmode: 'numeric' })

class SizeFields {
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
  readonly #megabytes = h('input', { type: 'number', id: 'megabytes', min: 0.001, step: 'any', value: 4 })
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
    const fields: Record<Sizing, readonly HTMLElement[]> = {
      none: [h('p', { class: 'hint' }, 'It grows as needed: there is no size to choose.')],
      grows: [labelled('Initial number of URLs', this.#urls), rate],
      fixed: [
        labelled('Expected URLs', this.#urls, 'With more URLs the rate is higher than promised.'),
        labelled('Sized by', this.#by),
        byRate ? rate : labelled('Memory in MB', this.#megabytes),
      ],
      window: [
        labelled('Remembers', this.#windowBy),
        this.#windowBy.value === 'urls'
          ? labelled('URLs', this.#windowUrls)
          : labelled('Days', this.#windowDays),
        labelled('Generations', this.#generations, 'The oldest is forgotten when a new one begins.'),
      ],
    }
    const had = document.activeElement as HTMLElement | null
    fill(this.element, ...fields[this.#sizing])
    if (had && this.element.contains(had)) had.focus()
  }

  /** The options for the server. */
  get spec(): object {
    const expectedUrls = this.#urls.valueAsNumber
    const falsePositiveRate = Number(this.#rate.value)
    if (this.#sizing === 'none') return {}
    if (this.#sizing === 'grows') return { expectedUrls, falsePositiveRate }
    if (this.#sizing === 'fixed') {
      if (this.#by.value === 'rate') return { expectedUrls, falsePositiveRate }
      return { expectedUrls, sizeBytes: Math.round(this.#megabytes.valueAsNumber * 1e6) }
    }
    const size =
      this.#windowBy.value === 'urls'
        ? { windowUrls: this.#windowUrls.valueAsNumber }
        : { windowMs: this.#windowDays.valueAsNumber * DAY_MS }
    return { window: { ...size, generations: this.#generations.valueAsNumber } }
  }
}

function filterChoice(filter: FilterInfo, isFirst: boolean): HTMLElement {
  const id = `filter-${filter.name}`
  const can = abilities(filter)
  return h(
    'label',
    { class: 'choice', for: id },
    h('input', { type: 'radio', name: 'filter', id, value: filter.name, checked: isFirst }),
    h(
      'span',
      {},
      h('b', {}, filter.name),
      can && h('span', { class: 'tag' }, can),
      h('span', { class: 'does' }, filter.does),
      h('span', { class: 'hint' }, `Errs ${filter.errs}. ${filter.source}.`),
    ),
  )
}

export const createView: View = async ({ root, signal }) => {
  const errorLine = new ErrorLine()
  const [filters, profiles] = await Promise.all([api.filters(), api.profiles()])
  if (signal.aborted) return
  const name = plainInput('name', { required: true, maxlength: 200 })
  const profile = h(
    'select',
    { id: 'profile' },
    ...profiles.map((one) => h('option', { value: one.name, selected: one.name === 'web' }, one.name)),
  )
  const about = h('p', { class: 'hint', 'aria-live': 'polite' })
  const size = new SizeFields()
  const button = h('button', { class: 'primary', type: 'submit' }, 'Create')
  const choices = h(
    'fieldset',
    { class: 'choices' },
    h('legend', {}, 'Filter'),
    ...filters.map((filter, i) => filterChoice(filter, i === 0)),
  )
  const form = h(
    'form',
    { class: 'create' },
    h('div', {}, labelled('Name', name), choices),
    h(
      'div',
      { class: 'aside' },
      h('fieldset', {}, h('legend', {}, 'Size'), size.element),
      h('fieldset', {}, h('legend', {}, 'Keys'), labelled('Profile', profile), about),
      h('div', { class: 'row actions' }, button, h('a', { class: 'button', href: '#/' }, 'Back')),
      errorLine.element,
    ),
  )
  const chosen = () => filters.find((one) => one.name === new FormData(form).get('filter'))!
  const describeProfile = () => {
    const { does, rules } = profiles.find((one) => one.name === profile.value)!
    const lossy = rules.filter((rule) => rule.lossy).map((rule) => rule.name)
    const loss = lossy.length > 0 ? ` Rules that may merge two pages: ${lossy.join(', ')}.` : ''
    fill(about, `${does[0]!.toUpperCase()}${does.slice(1)}.${loss}`)
  }
  choices.addEventListener('change', () => size.show(chosen()))
  profile.addEventListener('change', describeProfile)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void errorLine.during(button, async () => {
      await api.create(name.value, { filter: chosen().name, profile: profile.value, ...size.spec })
      location.hash = hrefOf(name.value) ?? '#/'
    })
  })
  fill(root, heading('New sieve', 'A profile that makes keys, and a filter that remembers them.'), form)
  size.show(chosen())
  describeProfile()
}
