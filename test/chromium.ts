// A real browser for the tests: Debian's Chromium. Where it is missing, root installs it once; elsewhere the tests
// that need it are skipped, and say why.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type BrowserContext, chromium } from 'playwright-core'

export const CHROMIUM = '/usr/bin/chromium'

const INSTALL_MS = 300_000

function install(): string {
  if (existsSync(CHROMIUM)) return ''
  if (process.getuid?.() !== 0) return `no ${CHROMIUM}, and only root could install it`
  if (!existsSync('/usr/bin/apt-get')) return `no ${CHROMIUM}, and no apt-get to install it with`
  try {
    execFileSync('apt-get', ['install', '-y', 'chromium'], { stdio: 'ignore', timeout: INSTALL_MS })
  } catch (error) {
    return `no ${CHROMIUM}, and apt-get could not install it: ${error instanceof Error ? error.message : error}`
  }
  return existsSync(CHROMIUM) ? '' : `apt-get installed no ${CHROMIUM}`
}

/** Why there is no browser; empty when there is one. */
export const noBrowser: string = install()
if (noBrowser) process.stderr.write(`browser tests skipped: ${noBrowser}\n`)

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
