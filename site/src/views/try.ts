// Try a URL: its key, what each rule did to it, its verdict in a sieve and which layer decided; and add it.
import { api, type Explanation } from '../api.ts'
import { fill, h } from '../dom.ts'
import { keySection, layerSection } from '../explanation.ts'
import { Complaint, heading, labelled, plainInput, type View, verdictMark } from '../view.ts'

const EXAMPLE = 'HTTP://Example.com:80/a/../news/%7Eharbour.html?b=2&a=1#top'

const option = (value: string, text: string, selected: boolean) => h('option', { value, selected }, text)

export const tryView: View = async ({ root, query, signal }) => {
  const complaint = new Complaint()
  const url = plainInput('url', {
    required: true,
    inputmode: 'url',
    placeholder: 'https://…',
    value: query.get('url') ?? '',
  })
  const sieve = h('select', { id: 'sieve' })
  const profile = h('select', { id: 'profile' })
  const profileField = labelled('Profile', profile, 'How a URL becomes a key.')
  const button = h('button', { class: 'primary', type: 'submit' }, 'Explain')
  const example = h('button', { type: 'button' }, 'Take an example')
  const verdict = h('div', { class: 'verdict-line', 'aria-live': 'polite' })
  const result = h('div', { class: 'result' })
  const form = h(
    'form',
    { class: 'try' },
    labelled('URL', url),
    h('div', { class: 'row' }, labelled('Sieve', sieve, 'Whose verdict to ask for.'), profileField),
    h('div', { class: 'row actions' }, button, example),
    complaint.element,
  )
  fill(
    root,
    heading('Try a URL', 'Its key, what each rule did to it, and whether a sieve has seen it.'),
    form,
    verdict,
    result,
  )

  const say = (explanation: Explanation, name: string) => {
    const add = h('button', { type: 'button' }, 'Add it')
    add.addEventListener('click', () => complaint.during(add, () => addIt(name)))
    fill(
      verdict,
      verdictMark(explanation.verdict),
      h(
        'p',
        {},
        explanation.verdict === 'seen'
          ? ' An add would be answered “seen”: '
          : ' An add would be answered “new”: ',
        h('b', {}, name),
        explanation.verdict === 'seen'
          ? ' knows this key, or errs at its rate.'
          : ' has certainly not kept this key.',
      ),
      explanation.verdict === 'new' && add,
    )
    fill(result, layerSection(explanation), keySection(explanation))
  }

  const addIt = async (name: string) => {
    const { verdicts } = await api.add(name, [url.value])
    const explanation = await api.explain(name, url.value)
    if (signal.aborted) return
    fill(
      verdict,
      verdictMark(verdicts[0]!),
      h(
        'p',
        {},
        ` Added to `,
        h('b', {}, name),
        verdicts[0] === 'new' ? ': it was new. From now on it is seen.' : ': it was there.',
      ),
    )
    fill(result, layerSection(explanation), keySection(explanation))
  }

  const explain = async () => {
    const name = sieve.value
    const asked = new URLSearchParams({ url: url.value, ...(name && { sieve: name }) })
    history.replaceState(null, '', `#/try?${asked}`)
    if (name) {
      const explanation = await api.explain(name, url.value)
      if (!signal.aborted) say(explanation, name)
      return
    }
    const explanation = await api.key(url.value, profile.value)
    if (signal.aborted) return
    fill(verdict, h('p', {}, 'No sieve is chosen: this is the key only.'))
    fill(result, keySection(explanation))
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void complaint.during(button, explain)
  })
  example.addEventListener('click', () => {
    url.value = EXAMPLE
    void complaint.during(button, explain)
  })
  const chooseProfile = () => {
    profileField.hidden = sieve.value !== ''
  }
  sieve.addEventListener('change', () => {
    chooseProfile()
    if (url.value !== '') void complaint.during(button, explain)
  })

  const [sieves, profiles] = await Promise.all([api.sieves(), api.profiles()])
  if (signal.aborted) return
  const wanted = query.get('sieve') ?? sieves[0]?.name ?? ''
  sieve.append(
    ...sieves.map(({ name, stats }) => option(name, `${name} · ${stats.filter}`, name === wanted)),
    option('', 'none: only the key', wanted === ''),
  )
  profile.append(...profiles.map(({ name, does }) => option(name, `${name}: ${does}`, name === 'web')))
  chooseProfile()
  if (url.value !== '') await complaint.during(button, explain)
}
