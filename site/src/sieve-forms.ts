// The forms of a sieve's view: add URLs and see which were new, query a folder, forget a URL.
import { api, type SieveInfo, type Verdicts } from './api.ts'
import { type Child, fill, h } from './dom.ts'
import { count, plural } from './format.ts'
import { ErrorLine, labelled, plainInput, verdictMark } from './view.ts'

/** URLs listed with their verdict; the others are counted. */
const MOST_LISTED = 200

/** What became of the URLs that were added, in their order. */
function addedList(urls: readonly string[], { verdicts, new: fresh, seen }: Verdicts): Child {
  const left = urls.length - MOST_LISTED
  const item = (url: string, i: number) =>
    h('li', {}, verdictMark(verdicts[i]!), h('code', { class: 'url' }, url))
  return [
    h('p', {}, `${plural(urls.length, 'URL')}: ${count(fresh)} new, ${count(seen)} seen.`),
    h('ol', { class: 'added' }, ...urls.slice(0, MOST_LISTED).map(item)),
    left > 0 && h('p', { class: 'hint' }, `${plural(left, 'more URL')} not listed.`),
  ]
}

/** A form with one field and one button; screen readers announce the answer. */
function question(
  label: string,
  field: HTMLInputElement | HTMLTextAreaElement,
  act: string,
  hint: string,
  ask: (text: string) => Promise<Child>,
): HTMLElement {
  const errorLine = new ErrorLine()
  const button = h('button', { type: 'submit' }, act)
  const answer = h('div', { class: 'answer', 'aria-live': 'polite' })
  const form = h(
    'form',
    { class: 'question' },
    labelled(label, field, hint),
    button,
    answer,
    errorLine.element,
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    fill(answer)
    void errorLine.during(button, async () => fill(answer, await ask(field.value)))
  })
  return form
}

/** The forms that the sieve's filter supports. */
export function questionsFor({ name, can }: SieveInfo, refresh: () => Promise<void>): HTMLElement[] {
  const urls = h('textarea', {
    id: 'urls',
    rows: 4,
    required: true,
    spellcheck: 'false',
    autocapitalize: 'off',
  })
  const forms = [
    question('Add URLs', urls, 'Add', 'One per line.', async (text) => {
      const lines = text
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean)
      const verdicts = await api.add(name, lines)
      await refresh()
      return addedList(lines, verdicts)
    }),
  ]
  if (can.under) {
    const folder = plainInput('folder', { required: true })
    const hint = 'A host or folder, such as example.com/blog/.'
    const ask = async (text: string) =>
      (await api.under(name, text)).seen ? 'Yes, unless it is a false positive.' : 'No. This is certain.'
    forms.push(question('Was anything seen under a folder?', folder, 'Check', hint, ask))
  }
  if (can.forget) {
    const url = plainInput('forget', { required: true })
    const forget = async (text: string) => {
      const { count: forgotten } = await api.forget(name, [text])
      await refresh()
      return forgotten === 1 ? 'Forgotten.' : 'It was not remembered.'
    }
    forms.push(question('Forget a URL', url, 'Forget', 'Afterwards it is new again.', forget))
  }
  return forms
}
