// `urlsieve dedupe`: the first occurrence of every URL, original bytes, in input order.
import { existsSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { resolveProfile } from '../canonical/profiles.ts'
import type { ExactSieve } from '../exact/index.ts'
import { type Durability, Sieve, type SieveOptions, type StoreOptions } from '../index.ts'
import { parseCount, parseSize } from '../quantities.ts'
import { type FormatName, formatNames } from '../records/format.ts'
import { type DedupeRequest, type DedupeTarget, runDedupe } from './dedupe-run.ts'
import { SpillingTarget } from './dedupe-spill.ts'
import { type FeedRequest, FeedTarget, LineTarget } from './dedupe-target.ts'
import { CommandError, EXIT } from './exit.ts'
import { checkOutput, isPlainFile, likelyBytes, totalBytes } from './input.ts'
import { type LimitFlags, limitsOf, strippedProfile, withLimitOptions } from './limit-options.ts'
import { redisRetry } from './redis-retry.ts'
import { type SieveFlags, sieveOptions, withSieveOptions } from './sieve-options.ts'
import { type Threads, threadsOf } from './thread-count.ts'

interface Flags extends SieveFlags, LimitFlags {
  repeated?: boolean
  format?: FormatName
  field?: string
  extract?: boolean
  keys?: boolean
  output?: string
  stats?: boolean
  state?: string
  durability?: Durability
  keepKeys?: boolean
  redis?: string
  redisName: string
  redisRetry?: number
  maxMemory?: number
  temp?: string
  threads?: number
  quiet?: boolean
}

export function dedupeCommand(program: Command): void {
  const command = withSieveOptions(program.command('dedupe'), { moreFilters: ['exact', 'compact'] })
  withLimitOptions(command)
    .summary('print the first occurrence of every URL')
    .description(
      'Prints the first occurrence of every URL: original bytes, input order. Reads stdin when no file or - is given; ' +
        'gzip, zstd, bzip2 and xz are unpacked. Lines that are not URLs are compared as they stand and counted. ' +
        'With --state, lines that were written to a pipe count as delivered, also those its reader left unread.',
    )
    .argument('[files...]', 'files of one URL a line')
    .option('--repeated', 'print the repeats instead')
    .addOption(
      new Option(
        '--format <name>',
        'what the input holds, if not one URL per line; by default as the file is named',
      ).choices(formatNames),
    )
    .option(
      '--field <name>',
      'the column of CSV or TSV, by name or number, or the path in JSON lines: .request.url',
    )
    .option('--extract', 'every http:// or https:// address in a text')
    .option('--keys', 'print keys instead of the original lines')
    .option('-o, --output <file>', 'write here instead of stdout')
    .option('--state <folder>', 'remember across runs: print what is new against all earlier ones')
    .addOption(
      new Option('--durability <way>', 'with --state: when a URL is safe').choices([
        'always',
        'interval',
        'never',
      ]),
    )
    .option('--keep-keys', 'with --state: keep the keys too, to export, merge and forget by folder')
    .option(
      '--redis <url>',
      'remember on Redis or a cluster: redis://host:port; filters fingerprint and compact',
    )
    .option('--redis-name <name>', 'with --redis: which sieve there', 'urlsieve')
    .addOption(redisRetry())
    .option(
      '--max-memory <size>',
      'memory of the whole process; what does not fit goes to disk',
      parseSize('--max-memory'),
    )
    .option('--temp <folder>', 'with --max-memory: for temporary files; default: the system’s')
    .option('--dropped <file>', 'list what limits by shape drop here: limit, reason, URL')
    .option(
      '--threads <n>',
      'share the work among this many threads (default: the cores, at most 8, for files from 256 MB on that are certain to fit into memory)',
      parseCount('--threads'),
    )
    .option('--stats', 'one JSON object to stderr at the end')
    .option('--quiet', 'no progress')
    .addHelpText(
      'after',
      `
Examples:
  urlsieve dedupe links.txt > unique.txt
  zcat crawl-*.gz | urlsieve dedupe --profile raw | sort
  urlsieve dedupe today.txt --state seen > new-today.txt
  urlsieve dedupe today.txt --redis redis://127.0.0.1:6379 > new-for-everyone.txt
  zcat crawl-*.gz | urlsieve dedupe --max-memory 1G --temp /data > unique.txt
  urlsieve dedupe links.txt.gz --filter blocked --urls 10M --fpr 1e-6 --stats -o unique.txt
  urlsieve dedupe pages.csv --field url > unique.csv
  urlsieve dedupe links.txt --keep-per-shape 1000 --dropped dropped.tsv > sample.txt`,
    )
    .action(dedupe)
}

async function dedupe(files: string[], flags: Flags, command: Command): Promise<void> {
  const startedAt = performance.now()
  const paths = files.length > 0 ? files : ['-']
  let request: DedupeRequest = {
    paths,
    totalBytes: totalBytes(paths),
    keep: flags.repeated ? 'seen' : 'new',
    ...(flags.output && { output: flags.output }),
    stats: flags.stats ?? false,
    quiet: flags.quiet ?? false,
    startedAt,
  }
  checkOutput(paths, flags.output)
  if (flags.strip) command.setOptionValueWithSource('profile', strippedProfile(flags.profile, flags), 'cli')
  const limits = await lineLimits(paths, flags)
  if (limits) request = { ...request, limits }
  if (flags.format ?? flags.field ?? flags.extract) return ofRecords(request, flags, command)
  if (flags.redis !== undefined) return onRedis(flags.redis, request, flags, command)
  if ((flags.filter as string) === 'compact') {
    throw new CommandError(EXIT.usage, '--filter compact needs --redis: where to remember')
  }
  if (flags.maxMemory !== undefined) return withinMemory(flags.maxMemory, request, flags, command)
  if (flags.temp !== undefined) throw new CommandError(EXIT.usage, '--temp needs --max-memory')
  const isExact = (flags.filter as string) === 'exact'
  const target = isExact ? exactTarget(flags, command) : sieveTarget(flags, command, request)
  await runDedupe(await target, request)
}

// Rows with a URL in them, loaded only for this.
async function ofRecords(request: DedupeRequest, flags: Flags, command: Command): Promise<void> {
  const given = flags.extract ? '--extract' : flags.format ? '--format' : '--field'
  if (flags.extract && (flags.format ?? flags.field) !== undefined) {
    throw new CommandError(
      EXIT.usage,
      `--extract with --${flags.format ? 'format' : 'field'}: expected one of them`,
    )
  }
  for (const option of ['redis', 'maxMemory', 'keys'] as const) {
    if (flags[option] === undefined) continue
    throw new CommandError(EXIT.usage, `${given} with --${option.replace('M', '-m')}: expected one of them`)
  }
  const format = flags.extract ? 'text' : flags.format
  const { RecordTarget } = await import('./dedupe-records.ts')
  const isExact = (flags.filter as string) === 'exact'
  const sieve = await (isExact ? openExact(flags, command) : openSieve(flags, command))
  const target = await RecordTarget.open(sieve, {
    ...(format && { format }),
    ...(flags.field !== undefined && { field: flags.field }),
    keep: request.keep,
    outlivesRun: flags.state !== undefined,
  })
  await runDedupe(target, request)
}

// Loaded only when a limit is given.
async function lineLimits(paths: readonly string[], flags: Flags) {
  const options = limitsOf(flags)
  if (options === null) {
    if (flags.dropped === undefined) return null
    throw new CommandError(EXIT.usage, '--dropped needs a limit: --keep-per-shape, --max-share, …')
  }
  if (flags.repeated)
    throw new CommandError(EXIT.usage, '--repeated with limits by shape: expected one of them')
  if (flags.dropped !== undefined) checkOutput(paths, flags.dropped)
  const { LineLimits } = await import('./line-limits.ts')
  return new LineLimits(options, resolveProfile(flags.profile), flags.dropped)
}

// No error at all, on the disk: LevelDB, loaded only for this.
async function openExact(flags: Flags, command: Command): Promise<ExactSieve> {
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

async function exactTarget(flags: Flags, command: Command): Promise<DedupeTarget> {
  const sieve = await openExact(flags, command)
  return new LineTarget(sieve, flags.repeated ? 'seen' : 'new', {
    forget: (url) => sieve.delete(url),
    async end() {
      const { invalid, sizeBytes } = sieve.stats()
      await sieve.close()
      return { invalid, sizeBytes }
    },
  })
}

// Sorted runs on disk, loaded only for this.
async function withinMemory(
  maxMemory: number,
  request: DedupeRequest,
  flags: Flags,
  command: Command,
): Promise<void> {
  const isGiven = (name: string) => command.getOptionValueSource(name) !== 'default'
  if (flags.filter !== 'fingerprint') {
    throw new CommandError(EXIT.usage, `--max-memory with --filter ${flags.filter}: expected fingerprint`)
  }
  if (isGiven('hash')) throw new CommandError(EXIT.usage, '--max-memory hashes by siphash: leave --hash out')
  for (const option of ['keepKeys', 'fpr', 'memory', 'bits', 'hashes'] as const) {
    if (flags[option] === undefined) continue
    const flag = option.replace('K', '-k')
    throw new CommandError(EXIT.usage, `--max-memory with --${flag}: expected one of them`)
  }
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
async function onRedis(url: string, request: DedupeRequest, flags: Flags, command: Command): Promise<void> {
  const filter = flags.filter as string
  const isGiven = (name: string) => command.getOptionValueSource(name) !== 'default'
  if (filter !== 'fingerprint' && filter !== 'compact') {
    throw new CommandError(EXIT.usage, `--redis with --filter ${filter}: expected fingerprint or compact`)
  }
  if (isGiven('hash')) throw new CommandError(EXIT.usage, '--redis hashes by siphash: leave --hash out')
  for (const option of ['state', 'keys', 'keepKeys', 'durability', 'memory', 'bits', 'hashes'] as const) {
    if (flags[option] === undefined) continue
    throw new CommandError(EXIT.usage, `--redis with --${option.replace('K', '-k')}: expected one of them`)
  }
  if (flags.window?.windowUrls !== undefined) {
    throw new CommandError(EXIT.usage, '--redis forgets by age: expected --window with a time such as 30d')
  }
  const { dedupeRedis } = await import('./dedupe-redis.ts')
  await dedupeRedis({
    ...request,
    url,
    name: flags.redisName,
    ...(flags.redisRetry !== undefined && { retryMs: flags.redisRetry }),
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

async function sieveTarget(flags: Flags, command: Command, request: DedupeRequest): Promise<DedupeTarget> {
  const { paths } = request
  const given = threadsOf(flags.threads, likelyBytes(paths), () => paths.every(isPlainFile))
  // Limits judge the lines in the order in which they are written: one thread does that.
  const threads = request.limits ? null : given
  const feed = {
    keep: flags.repeated ? 'seen' : 'new',
    as: flags.keys ? 'key' : 'line',
    outlivesRun: flags.state !== undefined,
  } as const
  return targetFor(await openSieve(flags, command), feed, threads)
}

// In memory, or in its folder; what is there already keeps its own filter, profile and hash unless they are given.
async function openSieve(flags: Flags, command: Command): Promise<Sieve> {
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
async function targetFor(sieve: Sieve, feed: FeedRequest, threads: Threads | null): Promise<DedupeTarget> {
  if (threads === null) {
    const spills = !feed.outlivesRun && SpillingTarget.canSpill(sieve)
    return spills ? new SpillingTarget(sieve, feed) : new FeedTarget(sieve, feed)
  }
  const { ThreadTarget } = await import('./dedupe-threads.ts')
  return ThreadTarget.canShare(sieve) ? new ThreadTarget(sieve, feed, threads) : new FeedTarget(sieve, feed)
}
