// The lab's report, if the server has one: in a frame, with a link to the page itself.
import { api } from '../api.ts'
import { fill, h } from '../dom.ts'
import { heading, notice, type View } from '../view.ts'

export const reportView: View = async ({ root, signal }) => {
  fill(root, heading('The lab’s report'), h('p', { class: 'hint' }, 'Loading …'))
  const isThere = await api.hasReport()
  if (signal.aborted) return
  if (!isThere) {
    fill(
      root,
      heading('The lab’s report'),
      notice(
        'There is no report yet.',
        h(
          'p',
          {},
          'Create one with ',
          h('code', {}, 'urlsieve lab'),
          ', and start the server with ',
          h('code', {}, '--report urlsieve-lab'),
          '.',
        ),
      ),
    )
    return
  }
  fill(
    root,
    heading('The lab’s report', 'The papers’ experiments, repeated, and a comparison at equal memory.'),
    h('p', {}, h('a', { href: 'report/' }, 'Open it in a page of its own')),
    h('iframe', { class: 'report', src: 'report/', title: 'The lab’s report' }),
  )
}
