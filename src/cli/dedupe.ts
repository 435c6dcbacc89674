// `urlsieve dedupe`: the first occurrence of every URL, original bytes, in input order.
import { existsSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { type DeletingSieve, type Durability, Sieve, type Stats } from '../index.ts'
import { Capacity, rateStats } from './capacity.ts'
import { Delivery, type Forget } from './delivery.ts'
import { CommandError, EXIT } from './exit.ts'
import { checkOutput, readInput, totalBytes } from './input.ts'
import { Output, tellStats, warnOfNoUrls } from './output.ts'
import { Progress } from './progress.ts'
import { redisRetry } from './redis-retry.ts'
import { type SieveFlags, sieveOptions, withSieveOptions } from './sieve-options.ts'

interface Flags extends SieveFlags {
  repeated?: boolean
  keys?: boolean
  output?: string
  stats?: boolean
  state?: string
  durability?: Durability
  keepKeys?: boolean
  redis?: string
  redisName: string
  redisRetry?: number
  quiet?: boolean
}

export function dedupeCommand(program: Command): void {
  withSieveOptions(program.command('dedupe'), {}, ['exact', 'compact'])
    .summary('print the first occurrence of every URL')
    .description(
      'Prints the first occurrence of every URL: original bytes, input order. Reads stdin when no file or - is given; ' +
        'gzip, zstd, bzip2 and xz are unpacked. Lines that are not URLs are compared as they stand and counted. ' +
        'With --state, lines that were written to a pipe count as delivered, also those its reader left unread.',
    )
    .argument('[files...]', 'files of one URL a line')
    .option('--repeated', 'print the repeats instead')
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
  urlsieve dedupe links.txt.gz --filter blocked --urls 10M --fpr 1e-6 --stats -o unique.txt`,
    )
    .action(dedupe)
}

async function dedupe(files: string[], flags: Flags, command: Command): Promise<void> {
  const started = performance.now()
  const paths = files.length > 0 ? files : ['-']
  const total = totalBytes(paths)
  checkOutput(paths, flags.output)
  if (flags.redis !== undefined) return onRedis(flags.redis, paths, total, flags, command)
  if ((flags.filter as string) === 'compact') {
    throw new CommandError(EXIT.usage, '--filter compact needs --redis: where to remember')
  }
  if ((flags.filter as string) === 'exact') return exact(paths, total, flags, command)
  const sieve = await openSieve(flags, command)
  const known = sieve.stats()
  const output = new Output(flags.output)
  const progress = new Progress(total, flags.quiet)
  const capacity = new Capacity(sieve)
  const delivery = new Delivery(output)
  const feed = sieve.feed({ keep: flags.repeated ? 'seen' : 'new', as: flags.keys ? 'key' : 'line' })
  let before = 0
  let bytes = 0
  try {
    for (const path of paths) {
      let consumed = 0
      await readInput(path, {
        room: (size) => feed.room(size),
        push(size, position) {
          bytes += size
          consumed = position
          delivery.write(feed.push(size))
          capacity.watch()
          progress.tick(() => {
            const { urls } = sinceThen(sieve.stats(), known)
            return { lines: feed.lines, fresh: urls, bytes: before + position }
          })
        },
      })
      delivery.write(feed.end())
      capacity.watch()
      before += consumed
    }
  } finally {
    progress.done()
    if (flags.state !== undefined && !flags.repeated) await delivery.takeBack(forgetOf(sieve, flags))
    output.close()
    await sieve.close()
    const stats = sinceThen(sieve.stats(), known)
    const { urls, seen, invalid, sizeBytes } = stats
    warnOfNoUrls(feed.lines, invalid)
    capacity.summarise()
    if (flags.stats) {
      const seconds = (performance.now() - started) / 1000
      const urlsPerSecond = Math.round(feed.lines / seconds)
      const counts = { lines: feed.lines, new: urls, seen, invalid, bytes, seconds, urlsPerSecond, sizeBytes }
      tellStats({ ...counts, ...rateStats(stats) })
    }
  }
}

// A key is not always its own key again.
function forgetOf(sieve: Sieve, flags: Flags): Forget | undefined {
  if (flags.keys || !('delete' in sieve)) return undefined
  return (url) => (sieve as DeletingSieve).delete(url)
}

/** What a run that answers later is asked, whatever remembers. */
const linesRequest = (paths: string[], totalBytes: number | null, flags: Flags) => ({
  paths,
  totalBytes,
  keep: flags.repeated ? ('seen' as const) : ('new' as const),
  ...(flags.output && { output: flags.output }),
  stats: flags.stats ?? false,
  quiet: flags.quiet ?? false,
})

// No error at all, on the disk: LevelDB, loaded only for this.
async function exact(paths: string[], total: number | null, flags: Flags, command: Command): Promise<void> {
  if (flags.state === undefined)
    throw new CommandError(EXIT.usage, '--filter exact needs --state: where to remember')
  if (flags.keys) throw new CommandError(EXIT.usage, '--filter exact prints lines, not --keys')
  const { dedupeExact } = await import('./dedupe-exact.ts')
  await dedupeExact({
    ...linesRequest(paths, total, flags),
    folder: flags.state,
    ...(command.getOptionValueSource('profile') !== 'default' && { profile: flags.profile }),
    ...(flags.durability && { durability: flags.durability }),
    ...(flags.urls && { expectedUrls: flags.urls }),
  })
}

// On Redis, loaded only for this. What is there already keeps its own parameters unless told otherwise.
async function onRedis(
  url: string,
  paths: string[],
  total: number | null,
  flags: Flags,
  command: Command,
): Promise<void> {
  const filter = flags.filter as string
  const isSaid = (name: string) => command.getOptionValueSource(name) !== 'default'
  if (filter !== 'fingerprint' && filter !== 'compact') {
    throw new CommandError(EXIT.usage, `--redis with --filter ${filter}: expected fingerprint or compact`)
  }
  if (isSaid('hash')) throw new CommandError(EXIT.usage, '--redis hashes by siphash: leave --hash out')
  for (const option of ['state', 'keys', 'keepKeys', 'durability', 'memory', 'bits', 'hashes'] as const) {
    if (flags[option] === undefined) continue
    throw new CommandError(EXIT.usage, `--redis with --${option.replace('K', '-k')}: expected one of them`)
  }
  if (flags.window?.urls !== undefined) {
    throw new CommandError(EXIT.usage, '--redis forgets by age: expected --window with a time such as 30d')
  }
  const { dedupeRedis } = await import('./dedupe-redis.ts')
  await dedupeRedis({
    ...linesRequest(paths, total, flags),
    url,
    name: flags.redisName,
    ...(flags.redisRetry !== undefined && { retryMs: flags.redisRetry }),
    shape: {
      ...(isSaid('filter') && { mode: filter }),
      ...(isSaid('profile') && { profile: flags.profile }),
      ...(flags.urls && { expectedUrls: flags.urls }),
      ...(flags.fpr && { falsePositiveRate: flags.fpr }),
      ...(flags.window?.ms && { windowMs: flags.window.ms }),
      ...(flags.generations && { generations: flags.generations }),
    },
  })
}

// In memory, or in its folder; what is there already keeps its own filter, profile and hash unless told otherwise.
async function openSieve(flags: Flags, command: Command): Promise<Sieve> {
  const options = sieveOptions(flags)
  if (flags.state === undefined) {
    if (flags.keepKeys || flags.durability) {
      throw new CommandError(EXIT.usage, '--keep-keys and --durability need --state: where to remember')
    }
    return Sieve.create(options)
  }
  const isThere = existsSync(flags.state)
  const said = (name: 'filter' | 'profile' | 'hash') =>
    !isThere || command.getOptionValueSource(name) !== 'default'
  const { filter, profile, hash, ...sizes } = options
  return Sieve.open(flags.state, {
    ...sizes,
    ...(said('filter') && filter && { filter }),
    ...(said('profile') && profile && { profile }),
    ...(said('hash') && hash && { hash }),
    ...(flags.durability && { durability: flags.durability }),
    ...(flags.keepKeys && { keepKeys: true }),
  })
}

/** Counts since a sieve was opened. */
function sinceThen(now: Stats, then: Stats): Stats {
  return {
    ...now,
    urls: now.urls - then.urls,
    seen: now.seen - then.seen,
    invalid: now.invalid - then.invalid,
  }
}
