// The options of `urlsieve dedupe`, with its help.
import { type Command, Option } from 'commander'
import type { Durability } from '../index.ts'
import { parseCount, parseSize } from '../quantities.ts'
import type { OutputFlags } from './dedupe-outputs.ts'
import { type InputFlags, withInputOptions } from './input-options.ts'
import { type LimitFlags, withLimitOptions } from './limit-options.ts'
import { type RedisFlags, withRedisOptions } from './redis-options.ts'
import { type SieveFlags, withSieveOptions } from './sieve-options.ts'

export interface DedupeFlags extends SieveFlags, LimitFlags, InputFlags, OutputFlags, RedisFlags {
  repeated?: boolean
  count?: boolean
  keys?: boolean
  output?: string
  append?: boolean
  overwrite?: boolean
  stats?: boolean
  state?: string
  durability?: Durability
  keepKeys?: boolean
  redis?: string
  redisName: string
  redisJob?: string
  maxMemory?: number
  temp?: string
  threads?: number
  quiet?: boolean
}

type Action = (files: string[], flags: DedupeFlags, command: Command) => Promise<void>

export function describeDedupe(program: Command, action: Action): void {
  const command = withSieveOptions(program.command('dedupe'), { moreFilters: ['exact', 'compact'] })
  withRedisOptions(command)
  withInputOptions(withLimitOptions(command))
    .summary('print the first occurrence of every URL')
    .description(
      'Prints the first occurrence of every URL: original bytes, input order. Reads stdin when no file or - is given; ' +
        'gzip, zstd, bzip2 and xz are unpacked. Lines that are not URLs are compared as they stand and counted. ' +
        'With --state a line is remembered when it was written: after Ctrl-C, a kill or a full disk the next run prints the rest. ' +
        'A pipe has taken what its reader left unread. Lines of earlier runs are repeats, for --repeated-to too; --count counts one run.',
    )
    .argument('[files...]', 'files of one URL per line')
    .option('--repeated', 'print the repeats instead; with --count, only URLs that came more than once')
    .option('--count', 'print every URL once, after how often it came, as uniq -c does: at the end')
    .option('--keys', 'print keys instead of the original lines')
    .option('-o, --output <file>', 'write here instead of stdout')
    .option('--append', 'go on after the last whole record of each output file')
    .option('--overwrite', 'with --state: replace output files that are not empty')
    .option('--new <file>', 'write new lines here, and not to stdout')
    .option('--repeated-to <file>', 'write the repeats here')
    .option('--invalid-to <file>', 'write lines that are not URLs here, and nowhere else')
    .option('--by-host <folder>', 'write new lines here, one file per host, and not to stdout')
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
    .option(
      '--redis-job <name>',
      'with --redis: a name for this job; what it could not deliver is new again when it runs again',
    )
    .option(
      '--max-memory <size>',
      'memory of the whole process; what does not fit goes to disk',
      parseSize('--max-memory'),
    )
    .option('--temp <folder>', 'for temporary files, where memory ends; default: the system’s')
    .option('--dropped <file>', 'list what limits by shape drop here: limit, reason, URL')
    .option(
      '--threads <n>',
      'share the work among this many threads (default: the cores, at most 8, for files from 128 MB on that are certain to fit into memory)',
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
  urlsieve dedupe links.txt --count | sort -rn | head
  urlsieve dedupe links.txt --by-host hosts --invalid-to not-urls.txt
  urlsieve dedupe links.txt --keep-per-shape 1000 --dropped dropped.tsv > sample.txt`,
    )
    .action(action)
}
