// The form for the server's password, which is stored for this tab only.
import { setPassword } from '../api.ts'
import { fill, h } from '../dom.ts'
import { ErrorLine, heading, labelled, type View } from '../view.ts'

export const passwordView: View = ({ root, live, signal }) => {
  const errorLine = new ErrorLine()
  let isGiven = false
  const input = h('input', {
    type: 'password',
    id: 'password',
    required: true,
    autocomplete: 'current-password',
  })
  const form = h(
    'form',
    {
      class: 'narrow',
      onsubmit: (event) => {
        event.preventDefault()
        errorLine.clear()
        isGiven = true
        setPassword(input.value)
        input.value = ''
        live.open()
      },
    },
    labelled(
      'Password',
      input,
      'The password the server was started with. It is stored until this tab is closed.',
    ),
    h('button', { class: 'primary', type: 'submit' }, 'Continue'),
    errorLine.element,
  )
  live.listen(() => {
    if (isGiven && live.state === 'password') errorLine.show(new Error('Wrong password.'))
  }, signal)
  fill(
    root,
    heading('This server has a password'),
    form,
    h('p', {}, 'The ', h('a', { href: '#/playground' }, 'playground'), ' runs without it.'),
  )
}
