// The page as users meet it: built, served by the real server, with sieves that are in use, in a real browser.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { build } from 'vite'
import { expect } from 'vitest'
import { report } from '../../src/lab/report.ts'
import { run } from '../../src/lab/run.ts'
import type { Faults } from '../../src/server/faults.ts'
import { ServerHistory } from '../../src/server/history.ts'
import { HTTP_LIMITS, openHttp } from '../../src/server/http/index.ts'
import { serverInfo } from '../../src/server/info.ts'
import { LocalRegistry } from '../../src/server/local-registry.ts'
import { RecentShapes } from '../../src/server/recent-shapes.ts'
import { digits } from '../lab/samples.ts'
import { launch } from '../support/chromium.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const configFile = fileURLToPath(new URL('../../site/vite.config.ts', import.meta.url))

const HOUR_MS = 3_600_000
const STEP_MS = 10_000

/** How often the sieves in use are given URLs. */
const TRAFFIC_MS = 100

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string }[]
}

/** What a page said that it should not have: errors, broken promises of its policy, requests to elsewhere. */
export interface Visit {
  readonly page: Page
  readonly said: string[]
}

const URLS = [
  (i: number) => `https://www.example.com/item/${i}`,
  (i: number) => `http://news.example.org/2026/${1 + (i % 12)}/story-${i}.html`,
  (i: number) => `https://code.example.net/owner-${i % 97}/project-${i}`,
]

/** So many links of which about `repeats` have come before. */
function links(from: number, count: number, repeats: number): string[] {
  return Array.from({ length: count }, (_, n) => {
    const isOld = (n * 7919) % 100 < repeats * 100
    const i = isOld ? (n * 31) % Math.max(1, from) : from + n
    return URLS[i % URLS.length]!(i)
  })
}

export class Stage {
  readonly #folder = mkdtempSync(join(tmpdir(), 'urlsieve-site-'))
  #registry!: LocalRegistry
  #http: Awaited<ReturnType<typeof openHttp>> | null = null
  readonly #info = serverInfo('test')
  #history!: ServerHistory
  #traffic: NodeJS.Timeout | undefined
  #given = 0
  browser!: BrowserContext
  port = 0

  /** What the server reports as wrong. */
  get faults(): Faults {
    return this.#registry.faults
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}/`
  }

  /** Builds the page, opens the server and the browser. */
  async open({ withReport = false, data = false } = {}): Promise<void> {
    const site = join(this.#folder, 'site')
    await build({ configFile, logLevel: 'silent', build: { outDir: site } })
    mkdirSync(join(this.#folder, 'report'))
    if (withReport) {
      const made = report(await run({ experiments: [digits], quick: true }))
      writeFileSync(join(this.#folder, 'report', 'report.html'), made)
    }
    const store = data ? { data: join(this.#folder, 'data') } : {}
    this.#registry = await LocalRegistry.open({
      ...store,
      memoryBytes: 2 ** 30,
      mostSieves: 100,
      shapes: new RecentShapes(),
    })
    this.#history = new ServerHistory(this.#registry, this.#info, Date.now() - HOUR_MS)
    await this.serve()
    this.browser = await launch()
  }

  /** Listens, on the same port as before when there was one. */
  async serve(password?: string): Promise<void> {
    this.#http = await openHttp(this.#registry, {
      host: '127.0.0.1',
      port: this.port,
      limits: HTTP_LIMITS,
      server: this.#info,
      history: this.#history,
      siteFolder: join(this.#folder, 'site'),
      reportFolder: join(this.#folder, 'report'),
      onDefect: (error) => process.stderr.write(`${error instanceof Error ? error.stack : error}\n`),
      ...(password !== undefined && { password }),
    })
    this.port = this.#http.port
  }

  /** Stops listening; the sieves stay. */
  async hangUp(): Promise<void> {
    await this.#http?.close()
    this.#http = null
  }

  /** Makes a sieve and gives it some URLs. */
  async fill(name: string, spec: object, count: number, repeats = 0.3): Promise<void> {
    await this.#ask('PUT', name, '', spec)
    await this.#ask('POST', name, '/add', { urls: links(0, count, repeats) })
  }

  /** Gives these sieves URLs again and again, with every tenth of them a new one. */
  use(names: Readonly<Record<string, number>>): void {
    this.#traffic = setInterval(() => {
      this.#given++
      for (const [name, count] of Object.entries(names)) {
        const many = Math.round(count * (0.7 + 0.3 * Math.sin(this.#given / 15 + name.length)))
        const repeats = 0.6 + 0.25 * Math.sin(this.#given / 40 + name.length)
        void this.#ask('POST', name, '/add', { urls: links(this.#given * 1000, many, repeats) }).catch(
          () => {},
        )
      }
    }, TRAFFIC_MS)
  }

  /** Makes the server record an hour of use of these sieves, up to now: every tenth add new, some commands slow or failed. */
  async record(names: Readonly<Record<string, number>>): Promise<void> {
    const now = Date.now()
    for (let step = 1; step <= HOUR_MS / STEP_MS; step++) {
      for (const [name, perSecond] of Object.entries(names)) {
        const adds = Math.round(10 * perSecond * (1 + 0.6 * Math.sin(step / 25 + name.length)))
        const { meters } = this.#registry.get(name)!
        meters.adds += adds
        meters.seen += Math.round(adds * 0.9)
        this.#info.answered.resp += adds / 10
        this.#info.latencies.resp.observe(step % 90 > 80 ? 0.004 : 0.0002, adds / 10)
        this.#info.latencies.resp.observe(step % 90 > 80 ? 0.08 : 0.0009, adds / 500)
      }
      if (step % 120 > 110) this.#info.errors.http += 20
      await this.#history.sample(now - HOUR_MS + step * STEP_MS)
    }
  }

  async #ask(method: string, name: string, verb: string, body: object): Promise<void> {
    const response = await fetch(`${this.address}v1/sieves/${encodeURIComponent(name)}${verb}`, {
      method,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
    if (!response.ok) throw new Error(`${method} ${name}${verb}: ${await response.text()}`)
  }

  /** A page at an address of ours, and what it says. */
  async visit(hash: string, scheme: 'light' | 'dark' = 'light', width = 1280): Promise<Visit> {
    const page = await this.browser.newPage()
    const said: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') said.push(message.text())
    })
    page.on('pageerror', (error) => said.push(error.message))
    page.on('request', (request) => {
      if (!request.url().startsWith(this.address)) said.push(`asked for ${request.url()}`)
    })
    await page.emulateMedia({ colorScheme: scheme })
    await page.setViewportSize({ width, height: width < 500 ? 800 : 900 })
    await page.goto(`${this.address}${hash}`)
    return { page, said }
  }

  async close(): Promise<void> {
    clearInterval(this.#traffic)
    await this.browser?.close()
    await this.hangUp()
    await this.#registry?.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** What axe finds. */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const violations = (await page.evaluate('axe.run().then((found) => found.violations)')) as Violation[]
  return violations.map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes[0]!.html}`)
}

/** How much of the page is past its right edge, in pixels. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - innerWidth')

const WAIT_MS = 20_000

/** Waits until something is so. */
export const until = (what: () => Promise<unknown>, expected: unknown) =>
  expect.poll(what, { timeout: WAIT_MS }).toEqual(expected)

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
export const texts = (page: Page, selector: string) => page.locator(selector).allTextContents()

/** Text of a fact or tile by its name. */
export const fact = (page: Page, name: string) =>
  page
    .locator('dl > div', { has: page.getByText(name, { exact: true }) })
    .first()
    .locator('dd')
