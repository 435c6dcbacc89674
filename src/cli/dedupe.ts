// `urlsieve dedupe`: the first occurrence of every URL, original bytes, in input order.
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Command } from 'commander'
import type { AnySieve } from '../any-sieve.ts'
import { resolveProfile } from '../canonical/profiles.ts'
import type { ExactSieve } from '../exact/index.ts'
import { Sieve, type SieveOptions, type StoreOptions } from '../index.ts'
import { extensionOf, formatOfName } from '../records/format.ts'
import { type DedupeFlags, describeDedupe } from './dedupe-options.ts'
import type { Outputs } from './dedupe-outputs.ts'
import { type DedupeRequest, type DedupeTarget, runDedupe } from './dedupe-run.ts'
import { SpillingTarget, type SpillRequest } from './dedupe-spill.ts'
import { type FeedRequest, FeedTarget, LineTarget } from './dedupe-target.ts'
import { CommandError, EXIT } from './exit.ts'
import { checkOutput, isPlainFile, totalBytes } from './input.ts'
import { inputFlag, LINES, type RecordInput, recordInput } from './input-options.ts'
import { likelyBytes } from './input-size.ts'
import { limitsOf, strippedProfile } from './limit-options.ts'
import { type Placing, placedOutput } from './placing.ts'
import { connectionOf } from './redis-options.ts'
import { sieveOptions } from './sieve-options.ts'
import { type Threads, threadsOf } from './thread-count.ts'

export function dedupeCommand(program: Command): void {
  describeDedupe(program, dedupe)
}

async function dedupe(files: string[], flags: DedupeFlags, command: Command): Promise<void> {
  const startedAt = performance.now()
  const paths = files.length > 0 ? files : ['-']
  let request: DedupeRequest = {
    paths,
    totalBytes: totalBytes(paths),
    keep: flags.repeated ? 'seen' : 'new',
    ...(flags.output && { output: flags.output }),
    placing: placingOf(paths, flags),
    stats: flags.stats ?? false,
    quiet: flags.quiet ?? false,
    startedAt,
  }
  checkOutput(paths, flags.output)
  if (flags.strip) command.setOptionValueWithSource('profile', strippedProfile(flags.profile, flags), 'cli')
  const limits = await lineLimits(paths, flags)
  if (limits) request = { ...request, limits }
  const input = recordInput(flags)
  if (flags.count) return counted(input, request, flags, command)
  if (input || otherOutput(flags)) return ofRecords(input, request, flags, command)
  if (flags.redis !== undefined) return onRedis(flags.redis, request, flags, command)
  if ((flags.filter as string) === 'compact') {
    throw new CommandError(EXIT.usage, '--filter compact needs --redis: where to remember')
  }
  if (flags.maxMemory !== undefined) return withinMemory(flags.maxMemory, request, flags, command)
  const isExact = (flags.filter as string) === 'exact'
  const target = isExact ? exactTarget(flags, command) : sieveTarget(flags, command, request)
  await runDedupe(await target, request)
}

// Options that exclude each other.
function refuseWith(given: string, flags: DedupeFlags, others: readonly (keyof DedupeFlags)[]): void {
  for (const other of others) {
    if (flags[other] === undefined) continue
    const flag = other.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    throw new CommandError(EXIT.usage, `${given} with --${flag}: expected one of them`)
  }
}

// Rows with a URL in them, or lines for several outputs. Loaded only for this.
async function ofRecords(
  given: RecordInput | null,
  request: DedupeRequest,
  flags: DedupeFlags,
  command: Command,
): Promise<void> {
  const output = otherOutput(flags)
  refuseWith(given ? inputFlag(flags) : `--${output}`, flags, ['redis', 'maxMemory', 'keys'])
  if (output && request.limits)
    throw new CommandError(EXIT.usage, `--${output} with limits by shape: expected one of them`)
  const { RecordTarget } = await import('./dedupe-records.ts')
  const isExact = (flags.filter as string) === 'exact'
  const sieve = await (isExact ? openExact(flags, command) : openSieve(flags, command))
  const input = given ?? LINES
  const { outlivesRun } = request.placing
  const { keep, paths } = request
  const outputs = output ? await openOutputs(flags, { paths, input, sieve }) : null
  const isPrinted = flags.output !== undefined || !outputs?.has(keep)
  const target = await RecordTarget.open(sieve, {
    input,
    keep: isPrinted ? keep : 'none',
    outlivesRun,
    outputs,
  })
  await runDedupe(target, request)
}

// How the outputs of a run begin, and how the records in them end.
function placingOf(paths: readonly string[], flags: DedupeFlags): Placing {
  const { append, overwrite, state, redis } = flags
  if (append && overwrite)
    throw new CommandError(EXIT.usage, '--append with --overwrite: expected one of them')
  const input = recordInput(flags)
  // Rows of other formats may have quotes of their own.
  const isCsv = (path: string) => (input!.format ?? formatOfName(path)) === 'csv'
  const end = { byte: flags.null ? 0 : 10, isQuoted: input !== null && paths.every(isCsv) }
  return { append, overwrite, outlivesRun: (state ?? redis) !== undefined, end }
}

/** The first option that names an output besides what is printed. */
const otherOutput = (flags: DedupeFlags) =>
  (
    [
      ['new', flags.new],
      ['repeated-to', flags.repeatedTo],
      ['invalid-to', flags.invalidTo],
      ['by-host', flags.byHost],
    ] as const
  ).find(([, path]) => path !== undefined)?.[0]

// Counts are of this run, by 64-bit hashes in memory. Loaded only for this.
async function counted(
  input: RecordInput | null,
  request: DedupeRequest,
  flags: DedupeFlags,
  command: Command,
): Promise<void> {
  refuseWith('--count', flags, COUNT_EXCLUDES)
  if (request.limits) throw new CommandError(EXIT.usage, '--count with limits by shape: expected one of them')
  for (const option of ['filter', 'hash'] as const) {
    if (command.getOptionValueSource(option) === 'default') continue
    throw new CommandError(EXIT.usage, `--count with --${option}: expected one of them`)
  }
  const { CountTarget } = await import('./dedupe-count.ts')
  const target = await CountTarget.open({
    input: input ?? LINES,
    isRepeated: flags.repeated ?? false,
    profile: resolveProfile(flags.profile),
    temp: flags.temp ?? tmpdir(),
  })
  await runDedupe(target, request)
}

const COUNT_EXCLUDES = [
  'state',
  'redis',
  'maxMemory',
  'keys',
  'keepKeys',
  'durability',
  'fpr',
  'memory',
  'bits',
  'hashes',
  'threads',
  'new',
  'repeatedTo',
  'invalidTo',
  'byHost',
] as const

// The sieve is closed when an output cannot be opened.
async function openOutputs(
  flags: DedupeFlags,
  request: { paths: readonly string[]; input: RecordInput; sieve: AnySieve },
): Promise<Outputs> {
  const { paths, input, sieve } = request
  try {
    for (const path of [flags.new, flags.repeatedTo, flags.invalidTo]) {
      if (path !== undefined) checkOutput(paths, path)
    }
    const { Outputs } = await import('./dedupe-outputs.ts')
    const extension = extensionOf(input.format ?? formatOfName(paths[0]!))
    return new Outputs(flags, sieve.profile, { extension, placing: placingOf(paths, flags) })
  } catch (error) {
    await sieve.close()
    throw error
  }
}

// Loaded only when a limit is given.
async function lineLimits(paths: readonly string[], flags: DedupeFlags) {
  const options = limitsOf(flags)
  if (options === null) {
    if (flags.dropped === undefined) return null
    throw new CommandError(EXIT.usage, '--dropped needs a limit: --keep-per-shape, --max-share, …')
  }
  if (flags.repeated)
    throw new CommandError(EXIT.usage, '--repeated with limits by shape: expected one of them')
  if (flags.dropped !== undefined) checkOutput(paths, flags.dropped)
  const { LineLimits } = await import('./line-limits.ts')
  const dropped =
    flags.dropped === undefined ? undefined : placedOutput(flags.dropped, placingOf(paths, flags))
  return new LineLimits(options, resolveProfile(flags.profile), dropped)
}

// No error at all, on the disk: LevelDB, loaded only for this.
async function openExact(flags: DedupeFlags, command: Command): Promise<ExactSieve> {
  if (flags.state === undefined)
    throw new CommandError(EXIT.usage, '--filter exact needs --state: where to remember')
  if (flags.keys) throw new CommandError(EXIT.usage, '--filter exact prints lines, not --keys')
  const { ExactSieve } = await import('../exact/index.ts')
  return ExactSieve.open(flags.state, {
    ...(command.getOptionValueSource('profile') !== 'default' && { profile: flags.profile }),
    ...(flags.durability && { durability: flags.durability }),
    ...(flags.urls && { expectedUrls: flags.urls }),
  })
}

async function exactTarget(flags: DedupeFlags, command: Command): Promise<DedupeTarget> {
  const sieve = await openExact(flags, command)
  return new LineTarget(sieve, flags.repeated ? 'seen' : 'new', async () => {
    const { invalid, sizeBytes } = sieve.stats()
    await sieve.close()
    return { invalid, sizeBytes }
  })
}

// Sorted runs on disk, loaded only for this.
async function withinMemory(
  maxMemory: number,
  request: DedupeRequest,
  flags: DedupeFlags,
  command: Command,
): Promise<void> {
  const isGiven = (name: string) => command.getOptionValueSource(name) !== 'default'
  if (flags.filter !== 'fingerprint') {
    throw new CommandError(EXIT.usage, `--max-memory with --filter ${flags.filter}: expected fingerprint`)
  }
  if (isGiven('hash')) throw new CommandError(EXIT.usage, '--max-memory hashes by siphash: leave --hash out')
  refuseWith('--max-memory', flags, ['keepKeys', 'fpr', 'memory', 'bits', 'hashes'])
  if (flags.durability && flags.state === undefined) {
    throw new CommandError(EXIT.usage, '--durability needs --state: where to remember')
  }
  const isThere = flags.state !== undefined && existsSync(flags.state)
  const { DiskTarget } = await import('./dedupe-disk.ts')
  const target = await DiskTarget.open({
    keep: request.keep,
    as: flags.keys ? 'key' : 'line',
    ...((isGiven('profile') || !isThere) && { profile: flags.profile }),
    ...(flags.state !== undefined && { state: flags.state }),
    ...(flags.durability && { durability: flags.durability }),
    maxMemory,
    ...(flags.temp !== undefined && { temp: flags.temp }),
  })
  await runDedupe(target, request)
}

// On Redis, loaded only for this. What is there already keeps its own parameters unless they are given.
async function onRedis(
  url: string,
  request: DedupeRequest,
  flags: DedupeFlags,
  command: Command,
): Promise<void> {
  const filter = flags.filter as string
  const isGiven = (name: string) => command.getOptionValueSource(name) !== 'default'
  if (filter !== 'fingerprint' && filter !== 'compact') {
    throw new CommandError(EXIT.usage, `--redis with --filter ${filter}: expected fingerprint or compact`)
  }
  if (isGiven('hash')) throw new CommandError(EXIT.usage, '--redis hashes by siphash: leave --hash out')
  refuseWith('--redis', flags, ['state', 'keys', 'keepKeys', 'durability', 'memory', 'bits', 'hashes'])
  if (flags.window?.windowUrls !== undefined) {
    throw new CommandError(EXIT.usage, '--redis forgets by age: expected --window with a time such as 30d')
  }
  const { dedupeRedis } = await import('./dedupe-redis.ts')
  await dedupeRedis({
    ...request,
    url,
    name: flags.redisName,
    ...connectionOf(flags),
    ...(flags.redisJob !== undefined && { job: flags.redisJob }),
    shape: {
      ...(isGiven('filter') && { mode: filter }),
      ...(isGiven('profile') && { profile: flags.profile }),
      ...(flags.urls && { expectedUrls: flags.urls }),
      ...(flags.fpr && { falsePositiveRate: flags.fpr }),
      ...(flags.window?.windowMs && { windowMs: flags.window.windowMs }),
      ...(flags.generations && { generations: flags.generations }),
    },
  })
}

async function sieveTarget(
  flags: DedupeFlags,
  command: Command,
  request: DedupeRequest,
): Promise<DedupeTarget> {
  const { paths } = request
  const given = threadsOf(flags.threads, likelyBytes(paths), () => paths.every(isPlainFile))
  // Limits judge the lines in the order in which they are written: one thread does that.
  const threads = request.limits ? null : given
  const feed = {
    keep: flags.repeated ? 'seen' : 'new',
    as: flags.keys ? 'key' : 'line',
    outlivesRun: flags.state !== undefined,
    ...(flags.temp !== undefined && { temp: flags.temp }),
  } as const
  return targetFor(await openSieve(flags, command), feed, threads)
}

// In memory, or in its folder; what is there already keeps its own filter, profile and hash unless they are given.
async function openSieve(flags: DedupeFlags, command: Command): Promise<Sieve> {
  const options = sieveOptions(flags)
  if (flags.state === undefined) {
    if (flags.keepKeys || flags.durability) {
      throw new CommandError(EXIT.usage, '--keep-keys and --durability need --state: where to remember')
    }
    return Sieve.create(options)
  }
  const isThere = existsSync(flags.state)
  const isGiven = (name: 'filter' | 'profile' | 'hash') =>
    !isThere || command.getOptionValueSource(name) !== 'default'
  const { filter, profile, hash, ...sizes } = options
  return Sieve.open(flags.state, {
    ...sizes,
    ...(isGiven('filter') && filter && { filter }),
    ...(isGiven('profile') && profile && { profile }),
    ...(isGiven('hash') && hash && { hash }),
    ...(flags.durability && { durability: flags.durability }),
    ...(flags.keepKeys && { keepKeys: true }),
  } as SieveOptions & StoreOptions)
}

// Threads share the work where it is worth it and the sieve allows it. Loaded only for this.
async function targetFor(
  sieve: Sieve,
  feed: FeedRequest & SpillRequest,
  threads: Threads | null,
): Promise<DedupeTarget> {
  if (threads === null) {
    const spills = !feed.outlivesRun && SpillingTarget.canSpill(sieve)
    return spills ? new SpillingTarget(sieve, feed) : new FeedTarget(sieve, feed)
  }
  const { ThreadTarget } = await import('./dedupe-threads.ts')
  return ThreadTarget.canShare(sieve) ? new ThreadTarget(sieve, feed, threads) : new FeedTarget(sieve, feed)
}
