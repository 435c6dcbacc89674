// `urlsieve plan`: every filter side by side for a number of URLs, by rate or by memory.
import type { Command } from 'commander'
import { type DiskPlan, diskPlan } from '../disk/plan.ts'
import type { Capabilities } from '../filters/filter.ts'
import { allKinds } from '../filters/registry.ts'
import { formatBytes, formatCount, parseCount, parseRate, parseSize } from '../quantities.ts'
import { limitBitsPerUrl } from '../sizing/classic.ts'
import { Output } from './output.ts'
import { table } from './table.ts'

/** Memory of the plan for disk, where none is given. */
const DISK_MEMORY = 1024 ** 3

interface Flags {
  urls: number
  fpr: number
  memory?: number
  json?: boolean
}

export function planCommand(program: Command): void {
  program
    .command('plan')
    .summary('what each filter would need')
    .description(
      'Every filter side by side: bits per URL, memory, hashes, expected rate, and what it can do.',
    )
    .requiredOption('--urls <n>', 'expected distinct URLs', parseCount('--urls'))
    .option('--fpr <rate>', 'promised false-positive rate', parseRate('--fpr'), 1e-6)
    .option('--memory <size>', 'plan for this much memory instead of a rate', parseSize('--memory'))
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  urlsieve plan --urls 1e9 --fpr 1e-3
  urlsieve plan --urls 10M --memory 64M --json`,
    )
    .action(plan)
}

function plan({ urls, fpr, memory, json }: Flags): void {
  const request = memory === undefined ? { falsePositiveRate: fpr } : { sizeBytes: memory }
  const plans = allKinds.map((kind) => {
    // What grows takes what it needs: the memory given is only compared with it.
    const made = kind.plan({ expectedUrls: urls, ...(kind.can.grow && memory !== undefined ? {} : request) })
    const fits = memory === undefined || made.sizeBytes <= memory
    const can = { add: 'create' in kind, ...kind.can }
    return { ...made, fits, can, does: kind.does, errs: kind.errs }
  })
  const output = new Output()
  const disk = diskPlan(urls, memory ?? DISK_MEMORY)
  if (json) {
    output.print(`${JSON.stringify({ expectedUrls: urls, ...request, plans, disk }, null, 2)}\n`)
    return
  }
  const rows = plans.map((row) => [
    row.filter,
    row.bitsPerUrl!.toFixed(1),
    formatBytes(row.sizeBytes) + (row.fits ? '' : ' !'),
    row.hashes ?? '-',
    row.expectedRate!.toExponential(1),
    whatItCan(row.can),
    row.does,
  ])
  output.print(table(['filter', 'bits/URL', 'memory', 'k', 'expected rate', 'can', 'what it is'], rows))
  output.print(`\n${describeDisk(disk)}`)
  output.print(
    memory === undefined
      ? `\nThe information limit at a rate of ${fpr} is ${limitBitsPerUrl(fpr).toFixed(1)} bits per URL.\n`
      : `\n! needs more than the ${formatBytes(memory)} given.\n`,
  )
}

// Where filters end: the same hashes on disk.
function describeDisk({ memoryBytes, bytesPerUrl, diskBytes, batches, readBytes }: DiskPlan): string {
  const passes =
    batches > 1
      ? `${formatCount(batches - 1)} passes read ${formatBytes(readBytes)}`
      : 'no pass: they fit into memory'
  return `On disk (dedupe --max-memory, urlsieve/disk), with ${formatBytes(memoryBytes)} of memory: ${bytesPerUrl.toFixed(1)} bytes per URL, ${formatBytes(diskBytes)}; ${passes}.\n`
}

// Taking URLs is the rule: only filters that take none are marked.
function whatItCan({ add, ...rest }: Capabilities & { readonly add: boolean }): string {
  const able = Object.entries(rest).flatMap(([what, is]) => (is ? [what] : []))
  return [...(add ? [] : ['no add']), ...able].join(', ') || '-'
}
