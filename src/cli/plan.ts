// `urlsieve plan`: every filter side by side for a number of URLs, by rate or by memory.
import type { Command } from 'commander'
import type { Capabilities } from '../filters/filter.ts'
import { allKinds } from '../filters/registry.ts'
import { formatBytes, parseCount, parseRate, parseSize } from '../quantities.ts'
import { limitBitsPerUrl } from '../sizing/classic.ts'
import { Output } from './output.ts'
import { table } from './table.ts'

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
  if (json) {
    output.print(`${JSON.stringify({ expectedUrls: urls, ...request, plans }, null, 2)}\n`)
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
  output.print(
    memory === undefined
      ? `\nThe information limit at a rate of ${fpr} is ${limitBitsPerUrl(fpr).toFixed(1)} bits per URL.\n`
      : `\n! needs more than the ${formatBytes(memory)} given.\n`,
  )
}

// Taking URLs is the rule: only filters that take none are marked.
function whatItCan({ add, ...rest }: Capabilities & { readonly add: boolean }): string {
  const able = Object.entries(rest).flatMap(([what, is]) => (is ? [what] : []))
  return [...(add ? [] : ['no add']), ...able].join(', ') || '-'
}
