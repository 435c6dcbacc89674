// `urlsieve crawl --content skip`: a page is skipped only when a reader would see the text of another one on it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { urlsieve } from '../e2e/command.ts'
import { pagesIn } from './crawled.ts'

const words = (name: string) => Array.from({ length: 60 }, (_, i) => `${name}${i * i}`).join(' ')
const go = (...paths: string[]) => paths.map((path) => `<a href=${path}></a>`).join('')

/** No page has a <body> tag; each but the last leads to pages that nothing else leads to. */
const pages: Record<string, string> = {
  '/': `<title>Start</title><p>${words('home')}${go('/text/1', '/text/2', '/image/1', '/image/2', '/script/1', '/script/2', '/copy/1')}`,
  '/text/1': `<title>One</title><p>${words('one')}${go('/below/text/1')}`,
  '/text/2': `<title>Two</title><p>${words('two')}${go('/below/text/2')}`,
  '/image/1': `<img src=1.jpg>${go('/below/image/1')}`,
  '/image/2': `<img src=2.jpg>${go('/below/image/2')}`,
  '/script/1': `<script>${words('app')}</script><style>${words('css')}</style>${go('/below/script/1')}`,
  '/script/2': `<script>${words('app')}</script><style>${words('css')}</style>${go('/below/script/2')}`,
  '/copy/1': `<title>A copy</title><div><p>${words('one')}</div>${go('/below/copy/1')}`,
}
const below = ['text/1', 'text/2', 'image/1', 'image/2', 'script/1', 'script/2'].map(
  (path) => `/below/${path}`,
)

const hits: string[] = []
const server = createServer(({ url = '/' }, response) => {
  hits.push(url)
  const body = pages[url] ?? (url.startsWith('/below/') ? `<p>${words(url.replaceAll('/', ''))}` : undefined)
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html' }).end(body)
})
let origin = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

it('keeps pages without <body>, of images, and of scripts; lists what it skips with the page it repeats', async () => {
  const crawl = (...args: string[]) => urlsieve(['crawl', `${origin}/`, '--rate', '0', '--content', ...args])
  // One at a time: which of two pages comes first is settled.
  const ended = await crawl('skip', '--concurrency', '1')
  expect(ended.code).toBe(0)
  const listed = pagesIn(ended.stdout).pages
  expect(hits.filter((hit) => hit.startsWith('/below/')).sort()).toEqual(below.sort())
  expect(listed.filter((page) => page.same ?? page.near)).toEqual([
    {
      ...{ url: `${origin}/copy/1`, depth: 1, status: 200, title: 'A copy', links: 1 },
      ...{ same: `${origin}/text/1`, skipped: true },
    },
  ])
  expect(ended.stderr).toContain(
    '1 of the same text · 1 of those skipped · 4 with too little text to compare',
  )
  const report = await crawl('--stats')
  expect(JSON.parse(report.stderr)).toMatchObject({ pages: 15, same: 1, near: 0, skipped: 0, short: 4 })
  expect(pagesIn(report.stdout).pages.filter((page) => page.skipped)).toEqual([])
})
