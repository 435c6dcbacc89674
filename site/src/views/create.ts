// The form for a new sieve: filters and profiles come from the server, the fields for the size depend on the filter, and the
// server previews memory and rate.
import { api, type FilterInfo } from '../api.ts'
import { fill, h } from '../dom.ts'
import { hrefOf } from '../sieve-charts.ts'
import { Preview, SizeFields } from '../size-fields.ts'
import { ErrorLine, heading, labelled, plainInput, type View } from '../view.ts'

const abilities = ({ can }: FilterInfo): string =>
  [can.grow && 'grows', can.delete && 'forgets', can.under && 'answers for folders']
    .filter(Boolean)
    .join(', ')

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
  const preview = new Preview(() => ({ filter: chosen().name, ...size.previewed }))
  const button = h('button', { class: 'primary', type: 'submit' }, 'Create')
  const group = (title: string, members: readonly FilterInfo[], hint?: string) =>
    members.length > 0 &&
    h(
      'fieldset',
      { class: 'choices' },
      h('legend', {}, title),
      hint !== undefined && h('p', { class: 'hint' }, hint),
      ...members.map((filter) => filterChoice(filter, filter === filters[0])),
    )
  const choices = h(
    'div',
    { class: 'filters' },
    group(
      'Filter',
      filters.filter(({ isResearch }) => !isResearch),
    ),
    group(
      'Research',
      filters.filter(({ isResearch }) => isResearch),
      'The papers’ filters as published, for comparison with those above.',
    ),
  )
  const form = h(
    'form',
    { class: 'create' },
    h('div', {}, h('div', { class: 'lead' }, labelled('Name', name)), choices),
    h(
      'div',
      { class: 'aside' },
      h('fieldset', {}, h('legend', {}, 'Size'), size.element, preview.element),
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
  form.addEventListener('input', () => preview.refresh())
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
  preview.refresh()
  describeProfile()
}
