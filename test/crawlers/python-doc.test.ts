// Pages that were not made for a test: Debian's python3-doc, served on loopback. Crawlee and Scrapy fetch the same pages with
// a sieve as by themselves, each once. The tutorial only, unless URLSIEVE_FULL is set.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CheerioCrawler, Configuration, LogLevel, log, type RequestProvider } from '@crawlee/cheerio'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { SieveQueue } from '../../src/crawlers/crawlee.ts'
import { root } from '../e2e/command.ts'
import { whyMissing } from '../support/debian.ts'
import { noScrapy, PYTHON } from './python.ts'
import { startSieveServer } from './sieve-server.ts'

if (process.env.URLSIEVE_FULL) vi.setConfig({ testTimeout: 1_200_000 })

const FOLDER = '/usr/share/doc/python3-doc/html'
const noPages = whyMissing('python3-doc')
const part = process.env.URLSIEVE_FULL ? '' : '/tutorial'
const run = promisify(execFile)

const TYPES: Record<string, string> = { '.html': 'text/html', '.css': 'text/css', '.png': 'image/png' }

describe.skipIf(noPages !== '')(`python3-doc${part} ${noPages}`, () => {
  let server: Server
  let origin = ''
  const hits: string[] = []
  beforeAll(async () => {
    log.setLevel(LogLevel.OFF)
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost')
      const file = join(FOLDER, normalize(pathname.endsWith('/') ? `${pathname}index.html` : pathname))
      hits.push(request.url ?? '')
      if (!existsSync(file) || extname(file) === '') response.writeHead(404).end()
      else {
        response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain' })
        response.end(readFileSync(file))
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}${part}`
  })
  afterAll(() => {
    server?.closeAllConnections()
    server?.close()
  })

  async function withCrawlee(requestQueue?: RequestProvider): Promise<string[]> {
    hits.length = 0
    const crawler = new CheerioCrawler(
      {
        ...(requestQueue && { requestQueue }),
        maxConcurrency: 4,
        maxRequestRetries: 0,
        requestHandler: async ({ enqueueLinks }) => {
          await enqueueLinks({ globs: [`${origin}/**`] })
        },
      },
      new Configuration({ persistStorage: false }),
    )
    await crawler.run([`${origin}/`])
    return [...hits].sort()
  }

  it('Crawlee', async () => {
    const own = await withCrawlee()
    const queue = await SieveQueue.open()
    const ours = await withCrawlee(queue)
    await queue.close()
    expect(ours).toEqual(own)
    expect(own.length).toBeGreaterThan(15)
    expect(new Set(own).size).toBe(own.length)
  })

  it.skipIf(noScrapy !== '')(`Scrapy ${noScrapy}`, async () => {
    const served = await startSieveServer()
    const spider = fileURLToPath(new URL('./spider.py', import.meta.url))
    const env = { ...process.env, PYTHONPATH: join(root, 'integrations/scrapy') }
    const crawl = async (...args: string[]) => {
      hits.length = 0
      await run(PYTHON, ['-B', spider, origin, ...args], { env, maxBuffer: 2 ** 26 })
      return [...hits].sort()
    }
    try {
      const own = await crawl('own')
      const ours = await crawl('sieve', `URLSIEVE_URL=redis://127.0.0.1:${served.port}`)
      expect(ours).toEqual(own)
      expect(new Set(own).size).toBe(own.length)
    } finally {
      await served.kill()
    }
  })
})
