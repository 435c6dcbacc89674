// A site on loopback, the same for the same seed and size, with the traps crawlers meet: fragments, session ids, a
// calendar, relative dots, mixed case, redirects, repeated content, other types, folders closed by robots.txt.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { draws } from '../../src/lab/random.ts'

export interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly location?: string
  /** As written in the page. */
  readonly links: readonly string[]
}

const YEARS = [2021, 2021]
const EVERY = { session: 41, redirect: 37, print: 50, near: 10, dead: 90, file: 70, closed: 80 }

export class Site {
  readonly pages: number
  readonly #seed: number
  readonly #linksOf = new Map<number, readonly string[]>()

  constructor(pages: number, seed = 1) {
    this.pages = pages
    this.#seed = seed
  }

  /** What the server answers for a path with its query; `origin` is how it is reached. */
  answer(target: string, origin: string): Answer {
    const { pathname, searchParams } = new URL(target, origin)
    const [, folder = '', ...rest] = pathname.toLowerCase().split('/')
    const number = Number(rest.at(-1)?.replace('.html', ''))
    const isPage = Number.isInteger(number) && number >= 0 && number < this.pages
    if (pathname === '/') return this.#html('Home', this.#links(0, origin), 'home')
    if (folder === 'robots.txt') return plain('text/plain', 'User-agent: *\nDisallow: /closed/\n')
    if (folder === 'calendar') return this.#month(Number(rest[0]), Number(rest[1]))
    if (folder === 'file') return plain('application/pdf', '%PDF-1.4')
    if (!isPage) return { ...this.#html('Not found', ['/'], 'Not found'), status: 404 }
    if (folder === 'r') return moved(`/rr/${number}`)
    if (folder === 'rr') return moved(`/p/${number}.html#end`)
    const links = this.#links(number, origin)
    if (folder === 'print') return this.#html('For the printer', links, this.#text(number))
    if (folder === 'near') return this.#html('Nearly', links, `${this.#text(number)} nearly`)
    if (folder === 'closed') return this.#html('Closed', ['/closed/1', '/closed/2'], 'closed')
    if (folder !== 'p' && folder !== 'q') return { ...this.#html('Not found', [], ''), status: 404 }
    const title = searchParams.has('sid') ? `Page ${number} of a session` : `Page ${number}`
    return this.#html(title, links, this.#text(number))
  }

  #links(number: number, origin: string): readonly string[] {
    let links = this.#linksOf.get(number)
    if (!links) {
      const next = draws(this.#seed, `links ${number}`)
      const below = (end: number) => next() % end
      const children = Array.from({ length: 4 }, (_, i) => 4 * number + i + 1).filter((p) => p < this.pages)
      const others = Array.from({ length: 8 }, () => below(this.pages))
      links = [
        ...[...children, ...others].map((to) => spelling(to, below(9), origin)),
        ...traps(number),
        '/',
        'mailto:someone@example.com',
        'http://elsewhere.invalid/',
      ]
      this.#linksOf.set(number, links)
    }
    return links
  }

  #text(number: number): string {
    const next = draws(this.#seed, `text ${number}`)
    return Array.from({ length: 300 }, () => `w${(next() % 4000).toString(36)}`).join(' ')
  }

  #html(title: string, links: readonly string[], text: string): Answer {
    const anchors = links
      .map((link) => `<li><a href="${link.replaceAll('&', '&amp;')}">go</a></li>`)
      .join('\n')
    const body = `<!doctype html><html><head><title>${title}</title></head><body><p>${text}</p><ul>${anchors}</ul></body></html>`
    return { status: 200, type: 'text/html; charset=utf-8', body, links }
  }

  // A calendar goes on for ever; this one has one year.
  #month(year: number, month: number): Answer {
    const [first, last] = YEARS as [number, number]
    if (!(year >= first && year <= last && month >= 1 && month <= 12)) {
      return { ...this.#html('Not found', [], ''), status: 404 }
    }
    const near = [-1, 1].map((step) => new Date(Date.UTC(year, month - 1 + step, 1)))
    const links = near
      .filter((date) => date.getUTCFullYear() >= first && date.getUTCFullYear() <= last)
      .map((date) => `/calendar/${date.getUTCFullYear()}/${date.getUTCMonth() + 1}`)
    const views = [`?view=week&month=${month}`, `?month=${month}&view=week`, '#today']
    return this.#html(`${year}-${month}`, [...links, ...views], `calendar ${year} ${month}`)
  }
}

// One page, nine spellings.
function spelling(page: number, way: number, origin: string): string {
  const path = `/p/${page}.html`
  const ways = [
    path,
    `${path}#part-${page % 7}`,
    `/a/b/../../p/./${page}.html`,
    `${origin.replace('http', 'HTTP')}${path}`,
    `./../p/${page}.html`,
    `  ${path}  `,
    `${path}?`,
    `/q/../p/${page}.html#x`,
    `${origin}${path}`,
  ]
  return ways[way]!
}

const traps = (number: number): string[] => [
  ...(number % EVERY.session === 0 ? [`/p/${number}.html?sid=one`, `/p/${number}.html?sid=two#x`] : []),
  ...(number % EVERY.redirect === 0 ? [`/r/${number}`] : []),
  ...(number % EVERY.print === 0 ? [`/print/${number}`, `/P/${number}.html`] : []),
  ...(number % EVERY.near === 0 ? [`/near/${number}`] : []),
  ...(number % EVERY.dead === 0 ? [`/gone/${number}`] : []),
  ...(number % EVERY.file === 0 ? [`/file/${number}.pdf`] : []),
  ...(number % EVERY.closed === 0 ? [`/closed/${number}`] : []),
  ...(number === 0 ? ['/calendar/2021/6'] : []),
  ...(number % 29 === 0 ? [`/p/${number}.html?b=2&a=1`, `/p/${number}.html?a=1&b=2`] : []),
]

const plain = (type: string, body: string): Answer => ({ status: 200, type, body, links: [] })
const moved = (location: string): Answer => ({
  status: 302,
  type: 'text/plain',
  body: '',
  location,
  links: [],
})

/** What a crawl fetches, on paper: from `/`, links of HTML pages, same host, one fetch for each key; and its depth. */
export function crawlOnPaper(
  site: Site,
  origin: string,
  keyOf: (url: string) => string,
  options: { robots?: boolean } = {},
): Map<string, number> {
  const depths = new Map<string, number>()
  const queue: { url: string; depth: number }[] = []
  const offer = (url: URL, depth: number) => {
    if (url.protocol !== 'http:' || url.origin !== origin) return
    if (options.robots && url.pathname.startsWith('/closed/')) return
    const key = keyOf(url.href)
    if (depths.has(key)) return
    depths.set(key, depth)
    queue.push({ url: url.href, depth })
  }
  offer(new URL('/', origin), 0)
  for (let next = queue.shift(); next; next = queue.shift()) {
    const { url, depth } = next
    let at = new URL(url)
    let answer = site.answer(at.pathname + at.search, origin)
    while (answer.location !== undefined) {
      at = new URL(answer.location, at)
      answer = site.answer(at.pathname + at.search, origin)
    }
    if (answer.status === 200) for (const link of answer.links) offer(new URL(link, at), depth + 1)
  }
  return depths
}

export interface Served {
  readonly site: Site
  readonly origin: string
  /** What was asked for, in order, without robots.txt. */
  readonly hits: string[]
  /** Who asked. */
  readonly agents: Set<string>
  /** Called for each hit. */
  onHit: (count: number) => void
  /** Called for each robots.txt, before it is given. */
  onRobots: () => Promise<void>
  close(): Promise<void>
}

/** Serves a site on a free port of 127.0.0.1. */
export async function serve(site: Site): Promise<Served> {
  const hits: string[] = []
  const agents = new Set<string>()
  let origin = ''
  const server: Server = createServer(async (request, response) => {
    const target = request.url ?? '/'
    // By another name it leads to its own, as example.org to www.example.org.
    const isOwnName = request.headers.host?.startsWith('127.')
    const answer = isOwnName ? site.answer(target, origin) : moved(origin + target)
    if (target === '/robots.txt') {
      await served.onRobots()
    } else {
      hits.push(target)
      agents.add(request.headers['user-agent'] ?? '')
      served.onHit(hits.length)
    }
    response.writeHead(answer.status, {
      'content-type': answer.type,
      ...(answer.location !== undefined && { location: answer.location }),
    })
    response.end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const served: Served = {
    site,
    origin,
    hits,
    agents,
    onHit: () => {},
    onRobots: async () => {},
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return served
}
