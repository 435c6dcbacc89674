// The page in use: every feature clicked in a real browser against the real server, also with the keyboard alone,
// without the server, and with a password.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { structures } from '../../site/src/playground/structures.ts'
import { launch, noBrowser } from '../support/chromium.ts'
import { axeFaults, button, fact, Stage, texts, until } from './stage.ts'

const EXAMPLE = 'https://www.example.com/a/b.html'

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

describe.skipIf(noBrowser)(`the page in use${noBrowser && ` (skipped: ${noBrowser})`}`, () => {
  const stage = new Stage()
  beforeAll(async () => {
    await stage.open({ data: true })
  })
  afterAll(() => stage.close())

  async function visit(hash: string) {
    const visited = await stage.visit(hash)
    await visited.page.emulateMedia({ reducedMotion: 'reduce' })
    return visited
  }

  test('without a sieve: says so, and leads to a new one', async () => {
    const { page, said } = await visit('')
    await page.getByText('No sieve yet.').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.getByRole('link', { name: 'Create a sieve' }).click()
    await heading(page, 'New sieve').waitFor()
    expect(said).toEqual([])
    await page.close()
  })

  test('the policy allows no inline script or style, and nothing from elsewhere', async () => {
    const policy = (await fetch(stage.address)).headers.get('content-security-policy')!
    expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'")
    expect(policy).toContain("style-src 'self'")
    expect(policy).not.toContain('unsafe-inline')
  })

  test.each([
    ['fixed', 'classic', async (page: Page) => page.getByLabel('Expected URLs').fill('5000')],
    [
      'by memory',
      'blocked',
      async (page: Page) => {
        await page.getByLabel('Sized by').selectOption('memory')
        await page.getByLabel('Memory in MiB').fill('0.1')
      },
    ],
    ['growing', 'scalable', async (page: Page) => page.getByLabel('Promised rate').selectOption('0.001')],
    ['folders/ä', 'prefix-layers', async (page: Page) => page.getByLabel('Expected URLs').fill('5000')],
    [
      'window',
      'window',
      async (page: Page) => page.getByLabel('Remembers', { exact: true }).selectOption('days'),
    ],
    ['plain', 'fingerprint', async (page: Page) => page.getByLabel('Profile').selectOption('aggressive')],
  ])('makes the sieve %s with the filter %s', async (name, filter, size) => {
    const { page, said } = await visit('#/new')
    await page.getByLabel('Name').fill(name)
    await page.getByLabel(filter, { exact: false }).first().check()
    await size(page)
    await button(page, 'Create').click()
    await heading(page, name).waitFor()
    await until(() => fact(page, 'Filter').textContent(), filter)
    expect(said).toEqual([])
    await page.close()
  })

  test('a name that is taken: the server’s own words', async () => {
    const { page } = await visit('#/new')
    await page.getByLabel('Name').fill('plain')
    await page.getByLabel('classic').check()
    await button(page, 'Create').click()
    await page.getByRole('alert').filter({ hasText: /plain/ }).waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.close()
  })

  test('inspects a sieve: adds, asks for a folder, forgets, saves', async () => {
    const { page, said } = await visit(`#/sieves/${encodeURIComponent('folders/ä')}`)
    await page
      .getByLabel('Add URLs')
      .fill(`${EXAMPLE}\nhttp://www.example.com/a/b.html\n\nhttps://example.org/`)
    await button(page, 'Add').click()
    await page.getByText('3 URLs: 2 new, 1 seen.').waitFor()
    expect(await texts(page, '.added li')).toEqual([
      `new${EXAMPLE}`,
      'seenhttp://www.example.com/a/b.html',
      'newhttps://example.org/',
    ])
    await until(() => fact(page, 'URLs remembered').textContent(), '2')
    await page.getByLabel('Was anything seen under a folder?').fill('www.example.com/a/')
    await button(page, 'Check').click()
    await page.getByText('Yes, unless it is a false positive.').waitFor()
    await page.getByLabel('Was anything seen under a folder?').fill('www.example.com/elsewhere/')
    await button(page, 'Check').click()
    await page.getByText('No. This is certain.').waitFor()
    await button(page, 'Save now').click()
    await page.getByText('Saved to disk.').waitFor()
    expect(await texts(page, '.layer-fill tbody th')).toContain('whole keys')

    await page.goto(`${stage.address}#/sieves/plain`)
    await page.getByLabel('Add URLs').fill(EXAMPLE)
    await button(page, 'Add').click()
    await page.getByText('1 URL: 1 new, 0 seen.').waitFor()
    await page.reload()
    const shape = page.getByRole('row', { name: 'www.example.com' })
    await shape.waitFor()
    expect(await shape.locator('td').allTextContents()).toEqual(['/a/b.html', '1', '100 %', EXAMPLE])
    await page.getByLabel('Forget a URL').fill(EXAMPLE)
    await button(page, 'Forget').click()
    await page.getByText('Forgotten.').waitFor()
    await button(page, 'Forget').click()
    await page.getByText('It was not remembered.').waitFor()
    expect(said).toEqual([])
    await page.close()
  })

  test('all sieves live: charts move, tiles and table count', async () => {
    const { page, said } = await visit('')
    const strip = page.getByRole('article', { name: 'plain' })
    await strip.waitFor()
    stage.use({ plain: 40 })
    const line = () => strip.locator('.line').first().getAttribute('d')
    await until(async () => ((await line()) ?? '').split('L').length > 3, true)
    const before = await line()
    await until(async () => (await line()) !== before, true)
    await until(
      async () => Number((await fact(page, 'Adds per second').textContent())!.replace(',', '')) > 100,
      true,
    )
    const chart = strip.getByRole('img', { name: /^Adds per second, last two minutes: now / })
    expect(await chart.getAttribute('aria-label')).toMatch(/between [\d,.k ]+ and [\d,.k ]+/)
    expect((await texts(page, 'table.sieves tbody th')).sort()).toEqual(
      ['by memory', 'fixed', 'folders/ä', 'growing', 'plain', 'window'].sort(),
    )
    await page.getByLabel('Find by name').fill('old')
    await until(() => texts(page, '.strip h3'), ['folders/ä'])
    expect(await page.getByRole('status').first().textContent()).toBe('Live')
    expect(said).toEqual([])
    await page.close()
  })

  test('tries a URL: each rule’s effect, the verdict, the layer that decided; then adds it', async () => {
    const { page, said } = await visit('#/try')
    await button(page, 'Use an example').click()
    await page.locator('.steps li').first().waitFor()
    await page.getByLabel('Sieve').selectOption('folders/ä')
    await page.getByLabel('URL').fill('HTTP://WWW.Example.com:80/a/new/page.html#top')
    await button(page, 'Explain').click()
    const verdict = page.locator('.verdict-line')
    await until(() => verdict.locator('.verdict').textContent(), 'new')
    expect(await page.locator('.key-line-block').textContent()).toBe(
      'https://www.example.com/a/new/page.html',
    )
    expect(await texts(page, '.steps h3')).toEqual(['whatwg', 'no-fragment', 'https', 'escapes'])
    expect(await texts(page, '.steps li:nth-child(1) del')).toEqual(['HTTP', 'WWW.E', ':80'])
    expect(await texts(page, '.steps li:nth-child(2) del')).toEqual(['#top'])
    expect(await texts(page, '.steps li:nth-child(3) ins')).toEqual(['s'])
    const decided = page.locator('.layers .decided .layer-name')
    expect(await decided.textContent()).toBe('folders of depth 3decided')
    await button(page, 'Add it').click()
    await page.getByText('it was new, and is seen from now on.').waitFor()
    await button(page, 'Explain').click()
    await until(() => verdict.locator('.verdict').textContent(), 'seen')
    expect(await decided.textContent()).toBe('whole keysdecided')
    expect(page.url()).toContain('sieve=folders')

    await page.getByLabel('Sieve').selectOption({ label: 'none: only the key' })
    await page.getByLabel('Profile').selectOption('aggressive')
    await page.getByLabel('URL').fill('https://www.example.com/index.html?utm_source=x')
    await button(page, 'Explain').click()
    await until(() => page.locator('.key-line-block').textContent(), 'https://example.com')
    await page.getByLabel('URL').fill('no url')
    await button(page, 'Explain').click()
    await page.getByText('This is not a URL: its bytes are used as the key.').waitFor()
    expect(said).toEqual([])
    await page.close()
  })

  test('deletes a sieve only when asked twice', async () => {
    const { page, said } = await visit('#/sieves/fixed')
    await button(page, 'Delete').click()
    const dialog = page.getByRole('dialog', { name: 'Delete fixed?' })
    await dialog.waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect((await fetch(`${stage.address}v1/sieves/fixed`)).status).toBe(200)
    await button(page, 'Delete').click()
    await button(page, 'Delete it').click()
    await heading(page, 'Sieves').waitFor()
    expect((await fetch(`${stage.address}v1/sieves/fixed`)).status).toBe(404)
    expect(said).toEqual([])
    await page.goto(`${stage.address}#/sieves/fixed`)
    await page.getByText('There is no sieve with this name.').waitFor()
    await page.close()
  })

  test('says when there is no report, and no such view', async () => {
    const { page } = await visit('#/report')
    await page.getByText('There is no report yet.').waitFor()
    await page.goto(`${stage.address}#/nowhere`)
    await heading(page, 'Nothing here').waitFor()
    await page.close()
  })

  test('the playground: every structure fills, errs where it can, and the kernel runs here', async () => {
    const { page, said } = await visit('#/playground')
    for (const { name } of structures) {
      await page.getByLabel('Filter').selectOption(name)
      await until(() => fact(page, 'URLs added').textContent(), '0')
      await button(page, 'Add 10').click()
      await button(page, 'Add 100').click()
      await button(page, 'Add 1,000').click()
      await until(() => fact(page, 'URLs added').textContent(), '1,110')
      await button(page, 'Find a false positive').click()
      if (name === 'fingerprint') await button(page, 'Stop').click()
      await page
        .getByText(name === 'fingerprint' ? 'Stopped.' : /^Found after [\d,]+ (try|tries)\.$/)
        .waitFor()
      const url = page.getByLabel('A URL of yours')
      await url.fill(`https://www.example.com/${name}/mine.html`)
      await button(page, 'Add').click()
      await page.locator('.verdict-line p', { hasText: 'Added:' }).waitFor()
      await button(page, 'Ask').click()
      await page.locator('.verdict-line p', { hasText: 'it had been added before' }).waitFor()
      expect(await page.locator('.stage .verdict-line .verdict').textContent()).toBe('seen')
      if (name === 'fingerprint') {
        expect(await page.getByRole('img', { name: 'slots: 1,111 of 2,048 slots in use' }).count()).toBe(1)
      }
    }
    expect(said).toEqual([])
    await page.close()
  })

  test('the playground says what cannot be, and starts anew with another shape', async () => {
    const { page, said } = await visit('#/playground')
    await page.getByLabel('k, hashes').fill('99')
    await page.keyboard.press('Tab')
    await page.getByRole('alert').filter({ hasText: 'k, hashes' }).waitFor()
    await page.getByLabel('k, hashes').fill('2')
    await page.getByLabel('m, bits').fill('640')
    await page.keyboard.press('Tab')
    await page.getByText('0 of 640 · 0 %').waitFor()
    await button(page, 'Add 10').click()
    await until(() => page.getByRole('img', { name: /^bits: (1\d|20) of 640 bits in use$/ }).count(), 1)
    await button(page, 'Empty it').click()
    await page.getByText('0 of 640 · 0 %').waitFor()
    expect(said).toEqual([])
    await page.close()
  })

  test('by the keyboard alone: skips to the content, walks the views, chooses a filter', async () => {
    const { page, said } = await visit('')
    await heading(page, 'Sieves').waitFor()
    const focused = () =>
      page.evaluate('(document.activeElement.textContent || document.activeElement.id).trim()')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    await page.keyboard.press('Shift+Tab')
    expect(await focused()).toBe('Report')
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
    expect(outline).toBe('solid')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await heading(page, 'Try a URL').waitFor()
    await until(focused, 'Try a URL')
    await page.goto(`${stage.address}#/new`)
    await page.getByLabel('Name').focus()
    await page.keyboard.type('typed')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    expect(await page.getByLabel('classic').isChecked()).toBe(true)
    await page.getByLabel('Name').focus()
    await page.keyboard.press('Enter')
    await heading(page, 'typed').waitFor()
    expect(said).toEqual([])
    await page.close()
  })

  test('the server goes and comes back, and then has a password', async () => {
    const { page } = await visit('')
    const state = page.locator('#link-state')
    await until(() => state.textContent(), 'Live')
    await stage.hangUp()
    await until(() => state.textContent(), 'Connection lost')
    await page.getByText('The values shown are the last ones received.').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await stage.serve()
    await until(() => state.textContent(), 'Live')
    await stage.hangUp()
    await stage.serve('pässword')
    await heading(page, 'This server has a password').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.getByLabel('Password').fill('wrong')
    await button(page, 'Continue').click()
    await page.getByText('Wrong password.').waitFor()
    await page.getByLabel('Password').fill('pässword')
    await button(page, 'Continue').click()
    await heading(page, 'Sieves').waitFor()
    await until(() => state.textContent(), 'Live')
    await page.close()

    // Whoever comes anew is asked by the browser, which then sends the password by itself.
    const other = await launch({ httpCredentials: { username: '', password: 'pässword' } })
    const fresh = await other.newPage()
    await fresh.goto(stage.address)
    await until(() => fresh.locator('#link-state').textContent(), 'Live')
    await other.close()
  })
})
