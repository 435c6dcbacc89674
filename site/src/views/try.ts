// Try a URL: its key, the effect of each rule, its verdict in a sieve and the deciding layer; and add it.
import { api, type Explanation } from '../api.ts'
import { fill, h, nameText } from '../dom.ts'
import { keySection, layerSection } from '../explanation.ts'
import { ErrorLine, heading, labelled, plainInput, type View, verdictMark } from '../view.ts'

const EXAMPLE = 'HTTP://Example.com:80/a/../news/%7Eharbour.html?b=2&a=1#top'

const option = (value: string, text: string, selected: boolean) => h('option', { value, selected }, text)

export const tryView: View = async ({ root, query, signal }) => {
  const errorLine = new ErrorLine()
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
  const example = h('button', { type: 'button' }, 'Use an example')
  const verdict = h('div', { class: 'verdict-line', 'aria-live': 'polite' })
  const result = h('div', { class: 'result' })
  const form = h(
    'form',
    { class: 'try' },
    labelled('URL', url),
    h('div', { class: 'row' }, labelled('Sieve', sieve, 'The sieve to query.'), profileField),
    h('div', { class: 'row actions' }, button, example),
    errorLine.element,
  )
  fill(
    root,
    heading('Try a URL', 'Its key, the effect of each rule, and whether a sieve has seen it.'),
    form,
    verdict,
    result,
  )

  const showVerdict = (explanation: Explanation, name: string) => {
    const add = h('button', { type: 'button' }, 'Add it')
    add.addEventListener('click', () => errorLine.during(add, () => addIt(name)))
    fill(
      verdict,
      verdictMark(explanation.verdict),
      h(
        'p',
        {},
        explanation.verdict === 'seen'
          ? ' An add would be answered “seen”: '
          : ' An add would be answered “new”: ',
        h('b', {}, nameText(name)),
        explanation.verdict === 'seen'
          ? ' has seen this key, unless it is a false positive.'
          : ' has certainly not seen this key.',
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
        h('b', {}, nameText(name)),
        verdicts[0] === 'new' ? ': it was new, and is seen from now on.' : ': it had been seen before.',
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
      if (!signal.aborted) showVerdict(explanation, name)
      return
    }
    const explanation = await api.key(url.value, profile.value)
    if (signal.aborted) return
    fill(verdict, h('p', {}, 'No sieve is selected: only the key is shown.'))
    fill(result, keySection(explanation))
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void errorLine.during(button, explain)
  })
  example.addEventListener('click', () => {
    url.value = EXAMPLE
    void errorLine.during(button, explain)
  })
  const chooseProfile = () => {
    profileField.hidden = sieve.value !== ''
  }
  sieve.addEventListener('change', () => {
    chooseProfile()
    if (url.value !== '') void errorLine.during(button, explain)
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
  if (url.value !== '') await errorLine.during(button, explain)
}
