// The report in a real browser: quiet, accessible in light and dark, and no wider than a phone.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { experiments } from '../../src/lab/registry.ts'
import { report } from '../../src/lab/report.ts'
import { run } from '../../src/lab/run.ts'
import { launch, noBrowser } from '../support/chromium.ts'
import { broken, digits, numbers } from './samples.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string }[]
}

describe.skipIf(noBrowser)(`the report in Chromium${noBrowser && ` (skipped: ${noBrowser})`}`, () => {
  let folder = ''
  let address = ''
  let browser: BrowserContext
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'urlsieve-report-'))
    const real = experiments.filter(({ name }) => ['sharma', 'url-cache'].includes(name))
    const done = await run({ experiments: [digits, numbers, broken, ...real], quick: true })
    writeFileSync(join(folder, 'report.html'), report(done))
    address = pathToFileURL(join(folder, 'report.html')).href
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true })
  })

  async function open(scheme: 'light' | 'dark', width: number): Promise<{ page: Page; said: string[] }> {
    const page = await browser.newPage()
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(error.message))
    page.on('request', (request) => {
      if (!/^(file|data):/.test(request.url())) said.push(`asked for ${request.url()}`)
    })
    await page.emulateMedia({ colorScheme: scheme })
    await page.setViewportSize({ width, height: 800 })
    await page.goto(address)
    return { page, said }
  }

  test.each([
    ['light', 1200],
    ['dark', 1200],
    ['light', 375],
    ['dark', 375],
  ] as const)('%s at %i px: no message, no request, nothing serious from axe', async (scheme, width) => {
    const { page, said } = await open(scheme, width)
    await page.evaluate(axe)
    const violations = (await page.evaluate('axe.run().then((found) => found.violations)')) as Violation[]
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    expect(serious.map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`)).toEqual([])
    expect(said).toEqual([])
    await page.close()
  })

  test.each([320, 375, 768])('nothing to scroll sideways at %i px', async (width) => {
    const { page } = await open('light', width)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    await page.close()
  })

  test('dark mode is dark, and so are its charts; paper is white', async () => {
    const { page } = await open('dark', 1200)
    const colours = () =>
      page.evaluate(`[document.body, document.querySelector('figure svg [stroke^="var(--series-1"]')].map(
        (element, i) => getComputedStyle(element)[i ? 'stroke' : 'backgroundColor'])`)
    expect(await colours()).toEqual(['rgb(17, 20, 23)', 'rgb(86, 180, 233)'])
    await page.emulateMedia({ colorScheme: 'light' })
    expect(await colours()).toEqual(['rgb(253, 252, 250)', 'rgb(0, 114, 178)'])
    await page.emulateMedia({ colorScheme: 'dark', media: 'print' })
    expect(await colours()).toEqual(['rgb(255, 255, 255)', 'rgb(0, 114, 178)'])
    await page.close()
  })

  test('the phone shows the narrow drawing, the desk the wide one', async () => {
    for (const [width, shown, hidden] of [
      [375, '.narrow', '.wide'],
      [1200, '.wide', '.narrow'],
    ] as const) {
      const { page } = await open('light', width)
      expect(await page.locator(`figure ${shown}`).first().isVisible()).toBe(true)
      expect(await page.locator(`figure ${hidden}`).first().isVisible()).toBe(false)
      await page.close()
    }
  })
})
