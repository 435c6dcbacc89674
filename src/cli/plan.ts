// `urlsieve plan`: one recommendation with its reason, then every filter side by side for a number of URLs, by rate or by
// memory, and what remembers elsewhere: on disk, in LevelDB, on a cluster.
import type { Command } from 'commander'
import { defaultLimit } from '../disk/machine-memory.ts'
import { type DiskPlan, diskPlan, usefulMemory } from '../disk/plan.ts'
import type { Capabilities } from '../filters/filter.ts'
import { keptPromise } from '../filters/promise.ts'
import { allKinds, researchFilters } from '../filters/registry.ts'
import { chooseHash } from '../hashes.ts'
import { formatBytes, formatCount, formatRate, parseCount, parseRate, parseSize } from '../quantities.ts'
import { bytesPerUrl as redisBytesPerUrl } from '../redis/memory.ts'
import { limitBitsPerUrl } from '../sizing/classic.ts'
import { Output } from './output.ts'
import { type FilterPlan, type PlanRequest, recommend } from './recommendation.ts'
import { table, wrap } from './table.ts'

/** Of a key of usual length. LevelDB shortens neighbours that begin alike: by how much depends on the URLs. */
const EXACT_BYTES_PER_URL = 60
const WIDTH = 100

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
      'Recommends a filter for a number of URLs, with the reason, and shows every filter side by side: bits per URL, memory, ' +
        'expected rate, and what it can do; also what remembers on disk and on a cluster.',
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
    const sizes = { expectedUrls: urls, ...(kind.can.grow && memory !== undefined ? {} : request) }
    const made = keptPromise(kind, kind.plan(sizes), chooseHash().names)
    const fits = memory === undefined || made.sizeBytes <= memory
    const can = { add: 'create' in kind, ...kind.can }
    return { ...made, fits, can, does: kind.does, errs: kind.errs }
  })
  const output = new Output()
  const disk = diskPlan(urls, memory ?? usefulMemory(urls, defaultLimit()))
  const elsewhere = {
    exact: { diskBytes: urls * EXACT_BYTES_PER_URL },
    cluster: {
      fingerprint: { sizeBytes: Math.round(urls * redisBytesPerUrl('fingerprint')) },
      compact: { sizeBytes: Math.round(urls * redisBytesPerUrl('compact')) },
    },
  }
  const wanted: PlanRequest = {
    urls,
    rate: fpr,
    memoryBytes: memory ?? defaultLimit(),
    isMemoryGiven: memory !== undefined,
  }
  const recommended = recommend(wanted, plans, disk)
  if (json) {
    const figures = { expectedUrls: urls, ...request, recommended, plans, disk, ...elsewhere }
    output.print(`${JSON.stringify(figures, null, 2)}\n`)
    return
  }
  const { name, reason, command } = recommended
  const target =
    memory === undefined ? `at a false-positive rate of ${formatRate(fpr)}` : `in ${formatBytes(memory)}`
  output.print(`${formatCount(urls)} distinct ${urls === 1 ? 'URL' : 'URLs'} ${target}: ${name}\n`)
  output.print(`${wrap(reason, WIDTH).join('\n')}\n\n  ${command}\n\n`)
  const isResearch = ({ filter }: FilterPlan) => researchFilters.includes(filter)
  output.print(tableOf(plans.filter((row) => !isResearch(row))))
  output.print(`\nBeyond one process's memory:\n\n${beyond(urls, disk, elsewhere)}`)
  output.print(`\nResearch, the papers' filters and baselines:\n\n${tableOf(plans.filter(isResearch))}`)
  for (const { filter, noPromise } of plans) {
    if (noPromise !== undefined)
      output.print(`\n${wrap(`${filter}: no rate, ${noPromise}.`, WIDTH).join('\n')}\n`)
  }
  output.print(
    memory === undefined
      ? `\nThe information limit at a rate of ${formatRate(fpr)} is ${limitBitsPerUrl(fpr).toFixed(1)} bits per URL.\n`
      : `\n! needs more than the ${formatBytes(memory)} given.\n`,
  )
}

function tableOf(plans: readonly FilterPlan[]): string {
  const rows = plans.map((row) => [
    row.filter,
    row.bitsPerUrl!.toFixed(1),
    formatBytes(row.sizeBytes) + (row.fits ? '' : ' !'),
    row.expectedRate === null ? '-' : formatRate(row.expectedRate),
    whatItCan(row.can),
    row.does,
  ])
  return table(['filter', 'bits/URL', 'memory', 'rate', 'can', 'what it is'], rows, WIDTH)
}

interface Elsewhere {
  readonly exact: { readonly diskBytes: number }
  readonly cluster: Readonly<Record<'fingerprint' | 'compact', { readonly sizeBytes: number }>>
}

function beyond(urls: number, disk: DiskPlan, { exact, cluster }: Elsewhere): string {
  const { memoryBytes, diskBytes, batches, readBytes } = disk
  const passes = batches - 1
  const reading =
    passes > 0
      ? `${formatCount(passes)} ${passes === 1 ? 'pass reads' : 'passes read'} ${formatBytes(readBytes)}`
      : 'no pass: it all fits into memory'
  const bits = (bytes: number) => ((8 * bytes) / urls).toFixed(1)
  const { fingerprint, compact } = cluster
  const rows = [
    [
      'disk',
      bits(diskBytes),
      formatBytes(diskBytes),
      `sorted 64-bit hashes on disk with ${formatBytes(memoryBytes)} of memory; ${reading} (dedupe --max-memory, urlsieve/disk)`,
    ],
    [
      'exact',
      bits(exact.diskBytes),
      `~${formatBytes(exact.diskBytes)}`,
      'the keys themselves in LevelDB on disk, at 60 bytes per URL: no errors (--filter exact --state, urlsieve/exact)',
    ],
    [
      'cluster',
      bits(fingerprint.sizeBytes),
      `~${formatBytes(fingerprint.sizeBytes)}`,
      '64-bit hashes on Redis or a cluster, shared by many processes (--redis, urlsieve/redis)',
    ],
    [
      'compact',
      bits(compact.sizeBytes),
      `~${formatBytes(compact.sizeBytes)}`,
      'the same in 32 bits per URL: a rate of 4.5e-8 (--redis --filter compact)',
    ],
  ]
  return table(['store', 'bits/URL', 'size', 'what it is'], rows, WIDTH)
}

// Taking URLs is the rule: only filters that take none are marked.
function whatItCan({ add, ...rest }: Capabilities & { readonly add: boolean }): string {
  const able = Object.entries(rest).flatMap(([what, is]) => (is ? [what] : []))
  return [...(add ? [] : ['no add']), ...able].join(', ') || '-'
}
