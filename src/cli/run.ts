// `urlsieve run`: the program of url-caching, a file of ADD and CHECK commands answered line by line.
import { statSync, writeSync } from 'node:fs'
import type { Command } from 'commander'
import { filterKind } from '../filters/registry.ts'
import { Commands, Sieve, type SieveOptions } from '../index.ts'
import { formatCount, formatCounted, parseCount } from '../quantities.ts'
import { AddCounter } from '../run/add-counter.ts'
import { type AnySieveOptions, chosenAtRunTime } from '../sieve-options.ts'
import { urlCachingBits } from '../sizing/classic.ts'
import { Capacity, rateStats } from './capacity.ts'
import { Comparison } from './comparison.ts'
import { whenReady } from './descriptor.ts'
import { CommandError, EXIT } from './exit.ts'
import { readInput, totalBytes } from './input.ts'
import { Output, writeStats } from './output.ts'
import { Progress } from './progress.ts'
import { type SieveFlags, sieveOptions, withSieveOptions } from './sieve-options.ts'

interface Flags extends SieveFlags {
  size?: number
  output?: string
  compare?: boolean
  json?: boolean
  stats?: boolean
  quiet?: boolean
}

/** The paper's k, with its three functions. */
const PAPER_HASHES = 3
/** The least that a classic filter takes. */
const LEAST_BITS = 8

export function runCommand(program: Command): void {
  const defaults = { filter: 'classic', profile: 'raw', hash: ['poly31', 'djb2', 'xor17'] } as const
  withSieveOptions(program.command('run'), { defaults: { ...defaults, hash: [...defaults.hash] } })
    .summary('answer a file of ADD and CHECK commands')
    .description(
      'Runs the commands of a file, one per line, in order: `ADD url` and `CHECK url`, in any case. Prints one line for ' +
        'each: `added url`, `possibly-present url`, `not-present url`, or `error line N: …` for a line it cannot read, ' +
        'which does not stop it. Blank lines are passed over. A first pass counts the ADDs, n, and makes the filter ' +
        'k·n / ln 2 bits large, with k = 3. Other filters than classic are hashed with siphash unless --hash is given.',
    )
    .argument('<commands>', 'the file, packed or not; - for stdin, with --urls or --size')
    .option('--size <bits>', 'bits of the filter, instead of k·n / ln 2', parseCount('--size'))
    .option('-o, --output <file>', 'write the answers here instead of stdout')
    .option(
      '--compare',
      'also by a hash set: memory, time and every false positive, to stderr (stdout with -o)',
    )
    .option('--json', 'the comparison as one JSON object')
    .option('--stats', 'one JSON object to stderr at the end')
    .option('--quiet', 'no progress')
    .addHelpText(
      'after',
      `
Exit code 6: some lines could not be read; all others were done.

Examples:
  urlsieve run commands.txt -o answers.txt
  urlsieve run commands.txt -o answers.txt --compare
  urlsieve run commands.txt --filter blocked --fpr 1e-6 --profile web`,
    )
    .action(run)
}

async function run(path: string, flags: Flags, command: Command): Promise<void> {
  const started = performance.now()
  if (command.getOptionValueSource('hash') === 'default' && flags.filter !== 'classic')
    flags.hash = ['siphash']
  checkFlags(flags)
  const total = totalBytes([path])
  if (flags.output !== undefined) refuseSameFile(path, flags.output)
  const adds = await countedAdds(path, total, flags)
  const sieve = await Sieve.create(sized(flags, adds))
  const comparison = flags.compare
    ? new Comparison(sieve, await Sieve.create({ filter: 'hash-set', profile: flags.profile }))
    : undefined
  const commands = comparison?.commands ?? new Commands(sieve)
  const output = new Output(flags.output)
  const progress = new Progress(total, flags.quiet)
  const capacity = new Capacity(sieve)
  let buffer: Uint8Array = new Uint8Array(0)
  try {
    await readInput(path, {
      look: null,
      reserve(bytes) {
        buffer = commands.reserve(bytes)
        return buffer
      },
      push(bytes, consumed) {
        output.write(comparison ? comparison.push(buffer, bytes) : commands.push(bytes))
        capacity.watch()
        progress.tick(() => ({ lines: commands.lines, fresh: sieve.stats().urls, bytes: consumed }))
      },
    })
    output.write(comparison ? comparison.end() : commands.end())
  } finally {
    progress.done()
    output.close()
  }
  capacity.watch()
  capacity.summarise()
  if (comparison) report(comparison, flags)
  const { lines, checks, present, errors } = commands
  if (flags.stats) {
    const stats = sieve.stats()
    const { sizeBytes } = stats
    const seconds = (performance.now() - started) / 1000
    const commandsPerSecond = Math.round((commands.adds + checks) / seconds)
    const counts = { lines, adds: commands.adds, checks, present, errors }
    writeStats({ ...counts, seconds, commandsPerSecond, sizeBytes, ...rateStats(stats) })
  }
  if (errors > 0) {
    throw new CommandError(
      EXIT.lines,
      `${formatCount(errors)} of ${formatCounted(lines, 'line')} could not be read: see 'error line'`,
    )
  }
}

function checkFlags(flags: Flags): void {
  if (flags.json && !flags.compare) {
    throw new CommandError(EXIT.usage, '--json without --compare: expected both, since it is the comparison')
  }
  if (flags.size === undefined) return
  const other = (['bits', 'fpr', 'memory'] as const).find((name) => flags[name] !== undefined)
  if (other) throw new CommandError(EXIT.usage, `both --size and --${other} are given: expected one of them`)
  if (filterKind(flags.filter).can.grow) {
    throw new CommandError(EXIT.usage, `--size with filter '${flags.filter}': it grows, and takes no size`)
  }
}

// Opening the answers would empty the commands.
function refuseSameFile(input: string, output: string): void {
  const of = (path: string) => statSync(path, { throwIfNoEntry: false })
  const from = input === '-' ? undefined : of(input)
  const to = of(output)
  if (from?.isFile() && from.ino === to?.ino && from.dev === to.dev) {
    throw new CommandError(EXIT.usage, `${output} is both commands and output: expected two files`)
  }
}

// The number of ADDs, where the filter's size depends on it.
async function countedAdds(path: string, total: number | null, flags: Flags): Promise<number | undefined> {
  const size = flags.size ?? flags.bits
  if (flags.urls !== undefined || filterKind(flags.filter).can.grow) return flags.urls
  if (size !== undefined && flags.filter === 'classic') return undefined
  if (total === null) {
    if (size !== undefined) return undefined
    const name = path === '-' ? 'stdin' : path
    throw new CommandError(
      EXIT.usage,
      `${name} can be read only once, not counted before: give --urls or --size`,
    )
  }
  const counter = await AddCounter.create()
  const progress = new Progress(total, flags.quiet)
  try {
    await readInput(path, {
      look: null,
      reserve: (bytes) => counter.reserve(bytes),
      push(bytes, consumed) {
        counter.push(bytes)
        progress.tick(() => ({ lines: counter.lines, fresh: 0, bytes: consumed }))
      },
    })
    counter.end()
  } finally {
    progress.done()
  }
  return Math.max(1, counter.adds)
}

// The paper's size for a classic filter without other sizes; otherwise as for every other command.
function sized(flags: Flags, adds: number | undefined): SieveOptions {
  const bits = flags.size ?? flags.bits
  const options: AnySieveOptions = { ...sieveOptions(flags), bits, expectedUrls: adds }
  if (flags.filter !== 'classic' || flags.fpr !== undefined || flags.memory !== undefined) {
    return chosenAtRunTime(options)
  }
  const hashes = flags.hashes ?? (flags.hash.length > 1 ? flags.hash.length : PAPER_HASHES)
  return chosenAtRunTime({
    ...options,
    hashes,
    bits: bits ?? Math.max(LEAST_BITS, urlCachingBits({ urls: adds!, hashes })),
  })
}

function report(comparison: Comparison, flags: Flags): void {
  const bytes = flags.json ? Buffer.from(`${JSON.stringify(comparison.result())}\n`) : comparison.text()
  if (flags.output === undefined) writeStderr(bytes)
  else new Output().write(bytes)
}

function writeStderr(bytes: Uint8Array): void {
  try {
    for (let at = 0; at < bytes.length; ) at += whenReady(() => writeSync(2, bytes, at))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}
