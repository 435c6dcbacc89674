// A confirmation dialog for what cannot be undone; it works with the keyboard, including Escape.
import { type Child, h, uniqueId } from './dom.ts'

/** Whether the user confirms. */
export function confirm(title: Child, detail: string, act: string): Promise<boolean> {
  const [titleId, detailId] = [uniqueId('title'), uniqueId('detail')]
  const dialog = h(
    'dialog',
    { 'aria-labelledby': titleId, 'aria-describedby': detailId },
    h(
      'form',
      { method: 'dialog' },
      h('h2', { id: titleId }, title),
      h('p', { id: detailId }, detail),
      h(
        'div',
        { class: 'row actions' },
        h('button', { value: 'no', class: 'primary', autofocus: true }, 'Keep it'),
        h('button', { value: 'yes', class: 'danger' }, act),
      ),
    ),
  )
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue === 'yes')
    })
  })
}
