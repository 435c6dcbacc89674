// Programs of Debian that tests need: root installs them once; elsewhere the tests are skipped, and say why.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const INSTALL_MS = 300_000

/** Why something is not there; empty when it is, or could be installed. */
export function missing(what: string, isThere: () => boolean, packages: readonly string[]): string {
  if (isThere()) return ''
  let why = ''
  if (process.getuid?.() !== 0) why = 'only root could install it'
  else if (!existsSync('/usr/bin/apt-get')) why = 'there is no apt-get to install it with'
  else {
    try {
      execFileSync('apt-get', ['install', '-y', ...packages], { stdio: 'ignore', timeout: INSTALL_MS })
    } catch (error) {
      why = `apt-get could not install it: ${error instanceof Error ? error.message : error}`
    }
  }
  if (isThere()) return ''
  const reason = `no ${what}: ${why || `apt-get installed none with ${packages.join(' ')}`}`
  process.stderr.write(`tests skipped: ${reason}\n`)
  return reason
}

export const PYTHON = '/usr/bin/python3'

/** Why there is no Scrapy. */
export const noScrapy: string = missing(
  'Scrapy',
  () => spawnSync(PYTHON, ['-c', 'import scrapy, redis']).status === 0,
  ['python3-scrapy', 'python3-redis'],
)
