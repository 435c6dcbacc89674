// Debian's packages that tests need, installed once before all tests where possible. A test whose package is missing
// is skipped by name; `whyMissing` returns the reason.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Each package with one of its files. */
const packages: Readonly<Record<string, string>> = {
  chromium: '/usr/bin/chromium',
  fish: '/usr/bin/fish',
  gawk: '/usr/bin/gawk',
  'prometheus-redis-exporter': '/usr/bin/prometheus-redis-exporter',
  'redis-server': '/usr/bin/redis-server',
  'redis-tools': '/usr/bin/redis-cli',
  'python3-doc': '/usr/share/doc/python3-doc/html/index.html',
  'python3-redis': '/usr/lib/python3/dist-packages/redis/__init__.py',
  'python3-scrapy': '/usr/lib/python3/dist-packages/scrapy/__init__.py',
  zsh: '/usr/bin/zsh',
}

const INSTALL_MS = 300_000
/** The environment variable that passes the reason for a failed installation to the workers. */
const REASON = 'URLSIEVE_TEST_NOT_INSTALLED'

const missing = () => Object.entries(packages).flatMap(([name, file]) => (existsSync(file) ? [] : [name]))

function aptGet(...args: string[]): boolean {
  // SYSTEMD_OFFLINE: the servers in these packages are not started; the tests start their own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', SYSTEMD_OFFLINE: '1' }
  return spawnSync('apt-get', args, { stdio: 'ignore', timeout: INSTALL_MS, env }).status === 0
}

function install(): string {
  const wanted = missing()
  if (wanted.length === 0) return ''
  if (process.getuid?.() !== 0) return 'only root could install it'
  if (!existsSync('/usr/bin/apt-get')) return 'apt-get is missing'
  process.stdout.write(`installing for the tests: ${wanted.join(' ')}\n`)
  if (!aptGet('install', '-y', ...wanted)) {
    aptGet('update')
    // One at a time: an unavailable package must not prevent the others.
    for (const name of wanted) aptGet('install', '-y', name)
  }
  const still = missing()
  return still.length === 0 ? '' : `apt-get could not install ${still.join(', ')}`
}

/** Called once by vitest, before all tests. */
export default function setup(): void {
  process.env[REASON] = install()
  for (const name of missing()) {
    process.stdout.write(`tests that need ${name} will be skipped: ${whyMissing(name)}\n`)
  }
}

/** The reason why packages are missing; empty when they are installed. */
export function whyMissing(...names: (keyof typeof packages & string)[]): string {
  const gone = names.filter((name) => !existsSync(packages[name] ?? ''))
  if (gone.length === 0) return ''
  return `${gone.join(', ')} missing: ${process.env[REASON] || 'not installed'}`
}
