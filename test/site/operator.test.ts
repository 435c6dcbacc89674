// The page for an operator: what is wrong is in plain sight on every view, and gone when it is over; a sieve that was dropped
// is not shown on; an hour of charts after a reload; nine hundred sieves; what a new sieve would take.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser } from '../support/chromium.ts'
import { axeFaults, button, fact, overflow, Stage, texts, until } from './stage.ts'

const WAIT_MS = 20_000
describe.skipIf(noBrowser)(`the page of an operator${noBrowser && ` (skipped: ${noBrowser})`}`, () => {
  const stage = new Stage()
  beforeAll(async () => {
    await stage.open()
    await stage.fill('small', { filter: 'classic', expectedUrls: 100, falsePositiveRate: 0.01 }, 50, 0)
  })
  afterAll(() => stage.close())

  test('a filter past its capacity, a damaged sieve and a full disk are named on every view', async () => {
    const { page, said } = await stage.visit('')
    const faults = page.getByRole('region', { name: 'Faults' })
    await page.getByRole('heading', { name: 'small' }).waitFor()
    expect(await faults.isVisible()).toBe(false)

    await stage.fill('small', { filter: 'classic', expectedUrls: 100, falsePositiveRate: 0.01 }, 500, 0)
    await faults.getByText('Past its capacity').waitFor({ timeout: WAIT_MS })
    expect(await faults.textContent()).toMatch(/Something is wrong.*small.*100 URLs/)

    stage.faults.begin('set-aside', 'its snapshot <b>is</b> cut short', '<i>old</i>')
    stage.faults.begin('disk', 'cannot write small/log-1: no space left on the device', 'small')
    await faults.getByText('The server is not ready').waitFor({ timeout: WAIT_MS })
    expect(await faults.getByRole('listitem').count()).toBe(3)
    expect(await faults.textContent()).toContain('<i>old</i>')
    expect(await axeFaults(page)).toEqual([])
    for (const hash of ['#/new', '#/try', '#/sieves/small']) {
      await page.goto(`${stage.address}${hash}`)
      await faults.getByText('The disk refuses writes').waitFor({ timeout: WAIT_MS })
    }
    for (let i = 0; i < 20; i++) stage.faults.begin('past-capacity', 'full', `sieve-${i}`)
    await faults.getByText('And 18 more faults').waitFor({ timeout: WAIT_MS })
    if (process.env.URLSIEVE_SHOTS) {
      await page.goto(stage.address)
      await faults.getByText('And 18 more faults').waitFor({ timeout: WAIT_MS })
      await page.screenshot({ path: `${process.env.URLSIEVE_SHOTS}/faults.png` })
    }
    await page.setViewportSize({ width: 360, height: 800 })
    expect(await overflow(page)).toBeLessThanOrEqual(0)

    for (const { kind, sieve } of stage.faults.list()) stage.faults.end(kind, sieve)
    await until(() => faults.isVisible(), false)
    expect(said).toEqual([])
    await page.close()
  })

  test('a sieve that another client drops is not shown on', async () => {
    await stage.fill('gone', {}, 50)
    const { page } = await stage.visit('#/sieves/gone')
    await page.getByRole('button', { name: 'Delete' }).waitFor()
    await fetch(`${stage.address}v1/sieves/gone`, { method: 'DELETE' })
    await page.getByText('There is no sieve with this name.').waitFor({ timeout: WAIT_MS })
    await page.close()
  })

  test('memory and rate are previewed while the form is filled in; the papers’ filters come last', async () => {
    const { page, said } = await stage.visit('#/new')
    const preview = page.locator('.preview')
    await page.getByLabel('URLs, for the preview').fill('2000000')
    await preview.getByText('Preview at 2,000,000 URLs').waitFor()
    await page.getByLabel('URLs, for the preview').fill('1000000')
    await preview.getByText('Preview at 1,000,000 URLs').waitFor()
    const growing = await fact(page, 'Memory').textContent()
    await page.getByLabel('classic').check()
    await until(() => fact(page, 'k, hashes').textContent(), '20')
    expect(await fact(page, 'Memory').textContent()).not.toBe(growing)
    await page.getByLabel('Promised rate').selectOption('0.01')
    await until(() => fact(page, 'k, hashes').textContent(), '7')
    expect(await fact(page, 'Expected rate').textContent()).toMatch(/^0\.01.*1 in (99|100)/)
    await page.getByLabel('Expected URLs').fill('9000000000')
    await preview.getByText('it would refuse to create this sieve').waitFor()
    await page.getByLabel('Expected URLs').fill('')
    await preview.getByText('expectedUrls').waitFor()
    expect(await axeFaults(page)).toEqual([])
    const groups = page.getByRole('group', { name: 'Research' })
    expect(await groups.locator('b').allTextContents()).toEqual([
      'multilayer',
      'eigenvalue',
      'keyword-layers',
    ])
    // The refusal of a plan is an answer, not a defect of the page.
    expect(said.filter((text) => !text.includes('400'))).toEqual([])
    await page.close()
  })

  test('the hour that the server recorded survives a reload; values under the pointer and by the arrow keys', async () => {
    await stage.fill('plain', {}, 100)
    await stage.fill('growing', { filter: 'scalable', expectedUrls: 1000, falsePositiveRate: 0.01 }, 10)
    await stage.record({ plain: 50, growing: 5 })
    const { page, said } = await stage.visit('')
    const hour = page.getByLabel('1 hour')
    const first = page.locator('.server-charts .chart').first()
    const points = async () =>
      ((await first.locator('.line').first().getAttribute('d')) ?? '').split('L').length
    await hour.check()
    await until(async () => (await points()) > 300, true)
    await page.reload()
    await until(async () => (await points()) > 300, true)
    expect(await hour.isChecked()).toBe(true)
    const strip = page.getByRole('article', { name: 'plain' })
    await strip.getByRole('img', { name: /^Adds per second, last hour: now / }).waitFor()

    const plot = first.locator('.plot')
    const { width } = (await plot.boundingBox())!
    await plot.hover({ position: { x: width / 2, y: 20 } })
    const pointed = page.locator('.server-charts .pointed:visible')
    expect(await pointed.count()).toBe(6)
    expect(new Set(await pointed.allTextContents()).size).toBe(1)
    expect(await first.locator('.series-0 .value').textContent()).toMatch(/^[1-9]\d?(\.\d)?$/)
    await page.mouse.move(0, 0)
    await until(() => pointed.count(), 0)

    await plot.focus()
    const spoken = () => first.locator('[aria-live=polite]').textContent()
    const secondOf = (text: string | null) => {
      const [h, m, s] = text!.match(/\d\d/g)!.map(Number) as [number, number, number]
      return (h * 60 + m) * 60 + s
    }
    await page.keyboard.press('Home')
    const from = secondOf(await spoken())
    await page.keyboard.press('ArrowRight')
    expect((secondOf(await spoken()) - from + 86_400) % 86_400).toBe(10)
    expect(await spoken()).toMatch(/^\d\d:\d\d:\d\d: all [\d.]+, new [\d.]+$/)
    await page.keyboard.press('Escape')
    expect(await pointed.count()).toBe(0)
    expect(await axeFaults(page)).toEqual([])
    expect(said).toEqual([])
    await page.close()
  })

  test('a name that would turn the text around it is shown with its letters', async () => {
    const name = 'crawl-\u202egpj.evil\u2066'
    const seen = 'crawl-\\u202egpj.evil\\u2066'
    await stage.fill(name, {}, 10)
    const { page, said } = await stage.visit('')
    await page.getByRole('rowheader', { name: seen }).waitFor()
    stage.faults.begin('past-capacity', `${name} is full`, name)
    await page
      .getByRole('region', { name: 'Faults' })
      .getByText(`${seen} is full`)
      .waitFor({ timeout: WAIT_MS })
    const shown = async () => [await page.evaluate('document.body.innerText'), await page.title()].join('\n')
    for (const hash of [
      '',
      `#/sieves/${encodeURIComponent(name)}`,
      `#/try?sieve=${encodeURIComponent(name)}`,
    ]) {
      await page.goto(`${stage.address}${hash}`)
      await until(async () => (await shown()).includes(seen), true)
      expect(await shown()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
    }
    await page.goto(`${stage.address}#/sieves/${encodeURIComponent(name)}`)
    expect(await page.locator('h1 bdi').textContent()).toBe(seen)
    await button(page, 'Delete').click()
    await page.getByRole('heading', { name: `Delete ${seen}?` }).waitFor()
    await button(page, 'Delete it').click()
    await page.getByRole('heading', { name: 'Sieves', exact: true }).waitFor()
    stage.faults.end('past-capacity', name)
    expect(said).toEqual([])
    await page.close()
  })

  test('nine hundred sieves: found by name, in the order of any column, those with faults alone', async () => {
    const sieve = (i: number) => ({
      ...{
        name: `s${i}`,
        kind: 'sieve',
        filter: 'classic',
        profile: 'web',
        adds: i,
        fresh: i,
        seen: 0,
        asks: 0,
      },
      ...{ urls: (i * 7919) % 900, sizeBytes: 1000, fill: 0, expectedRate: 0, promisedRate: null },
      pastCapacity: false,
    })
    const snapshot = {
      ...{
        at: new Date().toISOString(),
        uptimeSeconds: 1,
        sizeBytes: 9e5,
        connections: { resp: 0, http: 1 },
      },
      load: {},
      faults: [{ kind: 'disk', sieve: 's77', message: 'full', since: new Date().toISOString() }],
      sieves: Array.from({ length: 900 }, (_, i) => sieve(i)),
    }
    const { page } = await stage.visit('#/try')
    const body = `data: ${JSON.stringify(snapshot)}\n\n`
    await page.route('**/v1/live', (route) => route.fulfill({ contentType: 'text/event-stream', body }))
    await page.goto(`${stage.address}#/`)
    await page.reload()
    const names = () => texts(page, 'table.sieves tbody th')
    await until(async () => (await names()).length, 100)
    expect((await names()).slice(0, 3)).toEqual(['s0', 's1', 's2'])
    // Charts of the 24 most active, in the order of the table.
    expect(await texts(page, '.strip h3')).toEqual(Array.from({ length: 24 }, (_, i) => `s${876 + i}`))
    const urls = async () => (await texts(page, 'table.sieves tbody td:nth-child(5)')).slice(0, 3)
    await button(page, 'URLs').click()
    expect(await urls()).toEqual(['899', '898', '897'])
    expect(await page.getByRole('columnheader', { name: 'URLs' }).getAttribute('aria-sort')).toBe(
      'descending',
    )
    await button(page, 'URLs').click()
    expect(await urls()).toEqual(['0', '1', '2'])
    await page.getByLabel('Sort by').selectOption('State')
    expect((await names())[0]).toBe('s77')
    await page.getByLabel('Find by name').fill('S89')
    await until(async () => (await names()).length, 11)
    expect(await texts(page, '.strip h3')).toEqual(await names())
    await page.getByLabel('Find by name').fill('')
    await button(page, 'Show all 900').click()
    await until(async () => (await names()).length, 900)
    await page.getByLabel('Only with faults').check()
    await until(names, ['s77'])
    expect(await texts(page, 'table.sieves td.over')).toEqual(['the disk refuses writes'])
    await page.close()
  })
})
