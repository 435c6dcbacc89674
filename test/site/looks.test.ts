// Every view, light on a desk and dark on a phone: no message, nothing from axe, nothing to scroll sideways. With
// URLSIEVE_SHOTS=folder both in both, every structure of the playground, and the pictures are kept there to be looked at.
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { structures } from '../../site/src/playground/structures.ts'
import { noBrowser } from '../support/chromium.ts'
import { axeFaults, overflow, Stage } from './stage.ts'

const shots = process.env.URLSIEVE_SHOTS

interface Scene {
  readonly name: string
  readonly hash: string
  /** Brings the view to life and waits for it. */
  act(page: Page): Promise<unknown>
}

async function keep(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(500)
  await page.screenshot({ path: join(shots!, `${name.replaceAll(' ', '-')}.png`), fullPage: true })
}

const playground = (structure: string): Scene => ({
  name: `playground-${structure}`,
  hash: '#/playground',
  async act(page) {
    await page.getByLabel('Filter').selectOption(structure)
    await page.getByRole('button', { name: 'Add 100', exact: true }).click()
    await page.locator('.growth circle').first().waitFor()
    await page.getByRole('button', { name: 'Add 1,000' }).click()
    await page.locator('.growth circle').nth(1).waitFor()
    if (structure === 'fingerprint') return page.getByRole('button', { name: 'Ask' }).click()
    await page.getByRole('button', { name: 'Find a false positive' }).click()
    await page.getByText('Found after').waitFor()
  },
})

const scenes: readonly Scene[] = [
  {
    name: 'sieves',
    hash: '#/',
    act: async (page) => {
      await page.locator('.strip').nth(4).waitFor()
      await page.waitForTimeout(shots ? 30_000 : 1500)
    },
  },
  { name: 'new', hash: '#/new', act: (page) => page.getByLabel('classic').check() },
  {
    name: 'sieve',
    hash: '#/sieves/archive',
    act: (page) => page.getByRole('heading', { name: 'Layers' }).waitFor(),
  },
  {
    name: 'try',
    hash: '#/try?sieve=archive&url=HTTP://WWW.example.com:80/a/../item/./3%23x?b=2#top',
    act: (page) => page.locator('.steps li').first().waitFor(),
  },
  {
    name: 'report',
    hash: '#/report',
    act: (page) => page.frameLocator('iframe').getByRole('heading').first().waitFor(),
  },
  ...(shots ? structures.map(({ name }) => name) : ['classic', 'multilayer']).map(playground),
]

describe.skipIf(noBrowser)(`how the page looks${noBrowser && ` (skipped: ${noBrowser})`}`, () => {
  const stage = new Stage()
  beforeAll(async () => {
    await stage.open({ withReport: true })
    await stage.fill('crawl', {}, 20_000)
    await stage.fill(
      'archive',
      { filter: 'multilayer', expectedUrls: 20_000, falsePositiveRate: 0.001 },
      15_000,
    )
    await stage.fill(
      'news folders',
      { filter: 'prefix-layers', expectedUrls: 200_000, falsePositiveRate: 1e-6 },
      5000,
    )
    await stage.fill('images', { filter: 'blocked', expectedUrls: 5000, falsePositiveRate: 0.0001 }, 6000)
    await stage.fill('recrawl', { filter: 'window', window: { windowUrls: 50_000, generations: 4 } }, 3000)
    stage.use({ crawl: 300, 'news folders': 60, recrawl: 20 })
  })
  afterAll(() => stage.close())

  test.each(scenes.map((scene) => [scene.name, scene] as const))('%s', async (name, { hash, act }) => {
    const { page, said } = await stage.visit(hash)
    if (!shots) await page.emulateMedia({ reducedMotion: 'reduce' })
    await act(page)
    for (const [scheme, width] of [
      ['light', 1280],
      ['dark', 360],
      ...(shots
        ? ([
            ['dark', 1280],
            ['light', 360],
          ] as const)
        : []),
    ] as const) {
      const at = `${name} ${scheme} ${width}`
      await page.emulateMedia({ colorScheme: scheme })
      await page.setViewportSize({ width, height: 800 })
      if (shots) await keep(page, at)
      expect(await overflow(page), at).toBeLessThanOrEqual(0)
      expect(await axeFaults(page), at).toEqual([])
    }
    expect(said).toEqual([])
    await page.close()
  })
})
