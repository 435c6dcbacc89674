// A real browser for the tests: Debian's Chromium. Where it is missing, the tests that need it are skipped.
import { type BrowserContext, chromium } from 'playwright-core'
import { whyMissing } from './debian.ts'

const CHROMIUM = '/usr/bin/chromium'

/** Why there is no browser; empty when there is one. */
export const noBrowser: string = whyMissing('chromium')

/** A browser with a new profile of its own, which goes with it: an empty name lets Playwright make and remove it. */
export function launch(
  options: Parameters<typeof chromium.launchPersistentContext>[1] = {},
): Promise<BrowserContext> {
  return chromium.launchPersistentContext('', {
    executablePath: CHROMIUM,
    headless: true,
    args: [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
    ...options,
  })
}
