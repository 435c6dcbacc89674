// Asks for the server's password. It is kept by this tab only, and gone when the tab is.
import { setPassword } from '../api.ts'
import { fill, h } from '../dom.ts'
import { Complaint, heading, labelled, type View } from '../view.ts'

export const passwordView: View = ({ root, live, signal }) => {
  const complaint = new Complaint()
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
        complaint.clear()
        isGiven = true
        setPassword(input.value)
        input.value = ''
        live.open()
      },
    },
    labelled('Password', input, 'What the server was started with. This tab keeps it until it is closed.'),
    h('button', { class: 'primary', type: 'submit' }, 'Go on'),
    complaint.element,
  )
  live.listen(() => {
    if (isGiven && live.state === 'password') complaint.show(new Error('This is not the password.'))
  }, signal)
  fill(
    root,
    heading('This server has a password'),
    form,
    h('p', {}, 'The ', h('a', { href: '#/playground' }, 'playground'), ' runs without it.'),
  )
}
