// The page: the view for each address, the navigation, and the state of the connection.
import { fill, h, setText, visible } from './dom.ts'
import { showFaults } from './faults.ts'
import { type LinkState, Live } from './live.ts'
import { type Frame, heading, messageOf, notice, type View } from './view.ts'
import { createView } from './views/create.ts'
import { dashboardView } from './views/dashboard.ts'
import { passwordView } from './views/password.ts'
import { reportView } from './views/report.ts'
import { sieveView } from './views/sieve.ts'
import { tryView } from './views/try.ts'

interface Route {
  readonly title: string
  readonly view: View
}

// The playground includes the library and its kernel, so it is loaded on demand.
const playgroundView: View = async (frame) => {
  const { playground } = await import('./views/playground.ts')
  if (!frame.signal.aborted) await playground(frame)
}

const missingView: View = ({ root }) => {
  fill(
    root,
    heading('Nothing here'),
    notice('There is no page at this address.', h('a', { href: '#/' }, 'All sieves')),
  )
}

const routes: Readonly<Record<string, Route>> = {
  '': { title: 'Sieves', view: dashboardView },
  new: { title: 'New sieve', view: createView },
  sieves: { title: 'Sieve', view: sieveView },
  try: { title: 'Try a URL', view: tryView },
  playground: { title: 'Playground', view: playgroundView },
  report: { title: 'Report', view: reportView },
}

const STATES: Readonly<Record<LinkState, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Connection lost',
  password: 'Password needed',
}

/** The navigation entry of views without one of their own. */
const PARENT: Readonly<Record<string, string>> = { new: '', sieves: '' }

const live = new Live()
const main = document.getElementById('main')!
let running = new AbortController()

function parseAddress(): { word: string; name: string; query: URLSearchParams } {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  const [word = '', name = ''] = path.split(/\/(.*)/s)
  return { word, name: decoded(name), query: new URLSearchParams(query) }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function markCurrent(word: string): void {
  const current = `#/${PARENT[word] ?? word}`
  for (const link of document.querySelectorAll('nav a')) {
    if (link.getAttribute('href') === current) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
}

async function show(isFirst = false): Promise<void> {
  const { word, name, query } = parseAddress()
  running.abort()
  running = new AbortController()
  const { signal } = running
  const isLocal = word === 'playground'
  const { title, view } = routes[word] ?? { title: 'Nothing here', view: missingView }
  document.title = `${visible(name || title)} · urlsieve`
  markCurrent(word)
  const root = h('div', { class: `view view-${word || 'sieves'}` })
  main.replaceChildren(root)
  const frame: Frame = { root, live, name, query, signal }
  try {
    await (live.state === 'password' && !isLocal ? passwordView : view)(frame)
  } catch (error) {
    if (signal.aborted) return
    fill(root, heading(title), notice('This page could not be loaded.', h('p', {}, messageOf(error))))
  }
  if (!isFirst && !signal.aborted) {
    window.scrollTo(0, 0)
    main.querySelector('h1')?.focus({ preventScroll: true })
  }
}

function showState(): void {
  const element = document.getElementById('link-state')!
  element.dataset.state = live.state
  setText(element, STATES[live.state])
}

showFaults(document.getElementById('faults')!, live)

let before: LinkState = live.state
live.listen(() => {
  showState()
  const isLocked = live.state === 'password' || before === 'password'
  const isChanged = live.state !== before
  before = live.state
  if (isLocked && isChanged) void show()
}, new AbortController().signal)

// Not by its address, which would be read as that of a view.
document.querySelector('.skip')!.addEventListener('click', (event) => {
  event.preventDefault()
  main.focus()
})
window.addEventListener('hashchange', () => void show())
live.open()
void show(true)
