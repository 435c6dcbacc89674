// `urlsieve inspect`: what a stored sieve is and holds.
import type { Command } from 'commander'
import type { Stats } from '../index.ts'
import { formatBytes, formatCount } from '../quantities.ts'
import { Output } from './output.ts'
import { isDiskSieve, openDiskSieve, openStored } from './stored.ts'
import { table } from './table.ts'
import { windowOf, windowRows } from './window-rows.ts'

export function inspectCommand(program: Command): void {
  program
    .command('inspect')
    .summary('what a stored sieve is and holds')
    .description(
      'Shows filter, profile, hash, counts, memory and rates of a .sieve file or of a store’s folder.',
    )
    .argument('<path>', 'a .sieve file or the folder of a store')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExample:\n  urlsieve inspect seen')
    .action(inspect)
}

async function inspect(path: string, flags: { json?: boolean }): Promise<void> {
  if (isDiskSieve(path)) return inspectDisk(path, flags)
  const sieve = await openStored(path)
  const stats = sieve.stats()
  const window = windowOf(sieve)
  const output = new Output()
  if (flags.json) {
    const figures = { path, plan: sieve.plan, ...(window && { window }), ...stats }
    output.print(`${JSON.stringify(figures, null, 2)}\n`)
    return
  }
  const rows: [string, string][] = [
    ['filter', stats.filter],
    ...(window ? windowRows(window) : []),
    [
      'profile',
      `${stats.profile} (${sieve.profile.rules.map((rule) => rule.name).join(', ') || 'no rules'})`,
    ],
    ['hash', stats.hash],
    ['URLs', `${stats.urlsEstimated ? 'about ' : ''}${formatCount(stats.urls)}`],
    ['repeats answered', formatCount(stats.seen)],
    ['not URLs', formatCount(stats.invalid)],
    ['memory', formatBytes(stats.sizeBytes)],
    ['bits per URL', stats.bitsPerUrl?.toFixed(1) ?? '-'],
    ['fill', `${(stats.fill * 100).toFixed(1)} %`],
    ['rate now', rate(stats.expectedRate)],
    ['rate promised', promiseOf(stats)],
  ]
  output.print(rows.map(([name, value]) => `${name.padEnd(17)}${value}\n`).join(''))
  if (stats.layers) {
    const layers = stats.layers.map(({ name, fill, distinct }) => [
      name,
      `${(fill * 100).toFixed(1)} %`,
      formatCount(distinct),
    ])
    output.print(`\n${table(['layer', 'fill', 'entries'], layers)}`)
  }
}

const rate = (value: number | null) => (value === null ? '-' : value.toPrecision(2))

function promiseOf({ promisedRate, noPromise, pastCapacity }: Stats): string {
  if (noPromise !== undefined) return `none: ${noPromise}`
  return `${rate(promisedRate)}${pastCapacity ? ' (past its capacity)' : ''}`
}

async function inspectDisk(path: string, flags: { json?: boolean }): Promise<void> {
  const sieve = await openDiskSieve(path)
  const { answers, ...stats } = sieve.stats()
  await sieve.close()
  const output = new Output()
  if (flags.json) {
    output.print(`${JSON.stringify({ path, ...stats }, null, 2)}\n`)
    return
  }
  const { runs, runBytes, logBytes } = stats.store
  const rows: [string, string][] = [
    ['filter', 'disk'],
    ['profile', stats.profile],
    ['URLs', formatCount(stats.urls)],
    ['repeats answered', formatCount(stats.seen)],
    ['not URLs', formatCount(stats.invalid)],
    ['runs', `${runs}, ${formatBytes(runBytes)}`],
    ['log', formatBytes(logBytes)],
    ['rate now', rate(stats.expectedRate)],
  ]
  output.print(rows.map(([name, value]) => `${name.padEnd(17)}${value}\n`).join(''))
}
