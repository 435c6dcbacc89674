// What tests need beyond Node comes from Debian's packages, installed once before all tests where that is possible. A
// test whose program is still missing is skipped by name; `whyMissing` says why.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Each package with a file by which it is known. */
const packages: Readonly<Record<string, string>> = {
  chromium: '/usr/bin/chromium',
  'redis-server': '/usr/bin/redis-server',
  'redis-tools': '/usr/bin/redis-cli',
  'python3-redis': '/usr/lib/python3/dist-packages/redis/__init__.py',
  'python3-scrapy': '/usr/lib/python3/dist-packages/scrapy/__init__.py',
}

const INSTALL_MS = 300_000
/** Tells the workers, in their environment, what the set-up could not do. */
const REASON = 'URLSIEVE_TEST_NOT_INSTALLED'

const missing = () => Object.entries(packages).flatMap(([name, file]) => (existsSync(file) ? [] : [name]))

function aptGet(...args: string[]): boolean {
  // SYSTEMD_OFFLINE: a server that comes with a package is not started; the tests start their own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', SYSTEMD_OFFLINE: '1' }
  return spawnSync('apt-get', args, { stdio: 'ignore', timeout: INSTALL_MS, env }).status === 0
}

function install(): string {
  const wanted = missing()
  if (wanted.length === 0) return ''
  if (process.getuid?.() !== 0) return 'only root could install it'
  if (!existsSync('/usr/bin/apt-get')) return 'there is no apt-get to install it with'
  process.stdout.write(`installing for the tests: ${wanted.join(' ')}\n`)
  if (!aptGet('install', '-y', ...wanted)) {
    aptGet('update')
    // One at a time: what cannot be had must not keep away the others.
    for (const name of wanted) aptGet('install', '-y', name)
  }
  const still = missing()
  return still.length === 0 ? '' : `apt-get could not install ${still.join(', ')}`
}

/** Vitest calls it once, before all tests. */
export default function setup(): void {
  process.env[REASON] = install()
  for (const name of missing()) {
    process.stdout.write(`tests that need ${name} will be skipped: ${whyMissing(name)}\n`)
  }
}

/** Why a package is not there; empty when it is. */
export function whyMissing(...names: (keyof typeof packages & string)[]): string {
  const gone = names.filter((name) => !existsSync(packages[name] ?? ''))
  if (gone.length === 0) return ''
  return `${gone.join(', ')} missing: ${process.env[REASON] || 'not installed'}`
}
