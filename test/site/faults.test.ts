// What is wrong with the server is in plain sight on every view, and gone from the page when it is over; a sieve that was
// dropped or made again is not shown on as if it were there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser } from '../support/chromium.ts'
import { overflow, Stage, seriousFaults } from './stage.ts'

const WAIT_MS = 20_000
const until = (what: () => Promise<unknown>, expected: unknown) =>
  expect.poll(what, { timeout: WAIT_MS }).toEqual(expected)

describe.skipIf(noBrowser)(`faults on the page${noBrowser && ` (skipped: ${noBrowser})`}`, () => {
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
    expect(await seriousFaults(page)).toEqual([])
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
})
