// The page that `crawl --report` writes: everything that a site chose is escaped, and a browser shows it without a message,
// a request or a serious finding of axe, light and dark.
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { crawlPage } from '../../src/crawlers/crawl-page.ts'
import { noCounts } from '../../src/crawlers/crawl-report.ts'
import { PageTally } from '../../src/crawlers/page-tally.ts'
import { expectFailure, temporaryFolder, urlsieve } from '../e2e/command.ts'
import { launch, noBrowser } from '../support/chromium.ts'
import { serveTraps } from './trap-site.ts'

const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&lt;`

function hostilePage(): string {
  const tally = new PageTally()
  const url = (i: number) => `http://site.example/${HOSTILE}/${i}?q=${HOSTILE}`
  tally.add({ url: url(1), depth: 1, status: 200, links: 0, type: HOSTILE, near: HOSTILE, distance: 2 })
  for (let i = 0; i < 300; i++)
    tally.add({ url: url(i), depth: i % 5, status: 200, links: 3, title: HOSTILE, same: url(0) })
  tally.add({ url: url(2), depth: 2, status: null, links: 0, error: HOSTILE })
  tally.add({ url: url(3), depth: 2, status: 404, links: 0, canonical: HOSTILE })
  for (let i = 0; i < 500; i++)
    tally.add({ url: `http://site.example/p/${i}`, depth: 3, status: 200, links: 0, type: `t/${i}` })
  const limitedShapes = [{ shape: HOSTILE, limit: 'keepPerTrap', reason: HOSTILE, dropped: 12 } as const]
  const learned = { saved: 3, checked: 1, wrong: 0, requeued: 0, rules: [HOSTILE] }
  const queue = { offered: 9, repeats: 2, inProgress: 0, pending: 4, handled: 5 }
  const counts = { ...noCounts(), ...queue, pages: 803, elsewhere: 7, dropped: 12, limitedShapes, learned }
  return crawlPage({ urls: [HOSTILE], seconds: 1.5, tally, counts })
}

describe('the page of a crawl', () => {
  const page = hostilePage()

  it('escapes everything, and has no link, script or request', () => {
    expect(/<script|<img|<a |<iframe|url\(|onerror='/i.exec(page)).toBeNull()
    expect(page.includes('&lt;script&gt;alert(1)&lt;/script&gt;')).toBe(true)
  })

  it.each([
    ['the first 200 repeats, and counts the rest', '101 further pages are not listed'],
    ['how a page repeats another', 'differs in 2 of 64 bits'],
    ['errors by their status', 'HTTP 404'],
    ['what is left', '4 pages are still to be fetched'],
    ['200 types, and the others together', 'others</th><td class="n">301<'],
  ])('lists %s', (_, text) => {
    expect(page.includes(text)).toBe(true)
  })

  it.skipIf(noBrowser)(
    `in Chromium${noBrowser && ` (skipped: ${noBrowser})`}`,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'urlsieve-crawl-page-'))
      const path = join(folder, 'crawl.html')
      writeFileSync(path, page)
      const browser = await launch()
      try {
        const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
        const view = await browser.newPage()
        const heard: string[] = []
        view.on('console', (message) => heard.push(message.text()))
        view.on('pageerror', (error) => heard.push(error.message))
        view.on('dialog', (dialog) => heard.push(dialog.message()))
        view.on('request', (request) => {
          if (!/^(file|data):/.test(request.url())) heard.push(request.url())
        })
        for (const [colorScheme, width] of [
          ['light', 1200],
          ['dark', 375],
        ] as const) {
          await view.emulateMedia({ colorScheme })
          await view.setViewportSize({ width, height: 800 })
          await view.goto(pathToFileURL(path).href)
          expect(await view.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
          await view.evaluate(axe)
          const serious = await view.evaluate(
            `axe.run().then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
          )
          expect(serious).toEqual([])
        }
        expect(heard).toEqual([])
      } finally {
        await browser.close()
        rmSync(folder, { recursive: true })
      }
    },
    60_000,
  )
})

it('crawl --report does not follow a link that somebody has put in its place', async () => {
  const folder = temporaryFolder()
  const [path, other] = [join(folder, 'report.html'), join(folder, 'other')]
  writeFileSync(other, 'mine')
  symlinkSync(other, path)
  const ended = await urlsieve(['crawl', 'http://127.0.0.1:9/', '--quiet', '--report', path])
  expectFailure(ended, 4, /^urlsieve: cannot write .+report\.html: is a symbolic link, expected a file$/m)
  expect(readFileSync(other, 'utf8')).toBe('mine')
})

it('crawl --report writes it', async () => {
  const site = await serveTraps(80)
  const path = join(temporaryFolder(), 'report.html')
  try {
    const args = ['--rate', '0', '--profile', 'aggressive', '--keep-per-trap', '50', '--content', '--quiet']
    const ended = await urlsieve(['crawl', `${site.origin}/`, ...args, '--report', path])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const page = readFileSync(path, 'utf8')
    expect(page).toContain('/calendar?date={date}')
    expect(page).toMatch(/keepPerTrap<\/td><td>calendar: /)
    expect(page).toContain('the same text')
  } finally {
    await site.close()
  }
}, 60_000)
