// A site on loopback whose pages are few and whose URLs are many: sessions, tracking parameters, a calendar without end, sort
// orders, versions of every page, mixed case, redirects and paths that grow. The same for the same seed.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomFrom } from '../support/random.mjs'

const DAY_MS = 86_400_000
const WORDS = 'alpha beta gamma delta omega sigma theta kappa'.split(' ')

export interface TrapSite {
  readonly origin: string
  /** Requests so far. */
  requests(): number
  close(): Promise<void>
}

/** Serves `pages` pages: /p/0 to /p/(pages - 1), each linked from another one without any parameter. */
export async function serveTraps(pages: number, seed = 1): Promise<TrapSite> {
  let requests = 0
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://x')
    if (pathname === '/robots.txt') {
      response.writeHead(404).end()
      return
    }
    requests++
    const [, kind = '', number = '0'] = pathname.toLowerCase().split('/')
    if (kind === 'r') {
      response.writeHead(302, { location: `/p/${number}` }).end()
      return
    }
    const html = (links: readonly string[], text: string) =>
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          `<title>${text}</title><p>${text.repeat(30)}</p>${links.map((link) => `<a href="${link}">x</a>`).join('')}`,
        )
    if (kind === 'calendar')
      return html(daysAround(searchParams.get('date')), `calendar ${searchParams.get('date')}`)
    if (kind === 'list')
      return html(sortedLists(), `list ${searchParams.get('sort')} ${searchParams.get('dir')}`)
    if (kind === 'deep') return html([`${pathname}/more/deep`], `deep ${pathname.length}`)
    const page = kind === '' ? 0 : Number(number)
    if (!Number.isInteger(page) || page >= pages) {
      response.writeHead(404).end()
      return
    }
    // A version of a page has its own text.
    return html(linksOf(page, pages, seed), `page ${page} ${searchParams.get('rev') ?? ''}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function linksOf(page: number, pages: number, seed: number): string[] {
  const next = randomFrom(seed * 1_000_003 + page)
  const other = () => Math.floor(next() * pages)
  const hex = () =>
    Math.floor(next() * 2 ** 48)
      .toString(16)
      .padStart(12, '0')
  const children = [3 * page + 1, 3 * page + 2, 3 * page + 3].filter((child) => child < pages)
  return [
    ...children.map((child) => `/p/${child}`),
    `/p/${other()}?PHPSESSID=a1${hex()}`,
    `/p/${other()}?utm_source=${WORDS[page % 8]}&utm_campaign=${page}`,
    ...[1, 2, 3].map((rev) => `/p/${page}?rev=${rev}`),
    `/calendar?date=${2000 + (page % 20)}-01-01`,
    `/list?sort=${WORDS[page % 8]}&dir=asc`,
    ...(page % 41 === 0 ? [`/P/${other()}`, `/r/${other()}`, '/deep/a'] : []),
  ]
}

function daysAround(date: string | null): string[] {
  const day = Date.parse(date ?? '2000-01-01')
  const text = (time: number) => new Date(time).toISOString().slice(0, 10)
  return Number.isNaN(day) ? [] : [-1, 1, 30].map((days) => `/calendar?date=${text(day + days * DAY_MS)}`)
}

function sortedLists(): string[] {
  return WORDS.flatMap((word) => [`/list?sort=${word}&dir=asc`, `/list?dir=desc&sort=${word}`])
}
