// `urlsieve check`: has this URL been seen? Exit code 0 seen, 1 new.
import { type Command, Option } from 'commander'
import type { AnySieve } from '../any-sieve.ts'
import { keepLines } from '../lines/keep.ts'
import { type LineBatch, siftLines } from '../lines/sift.ts'
import { CommandError, EXIT } from './exit.ts'
import { readChunks } from './input.ts'
import { Output, warnOfNoUrls } from './output.ts'
import { isDiskSieve, openDiskSieve, openStored } from './stored.ts'

interface Flags {
  state: string
  in?: string[]
  only?: 'new' | 'seen'
  json?: boolean
}

export function checkCommand(program: Command): void {
  program
    .command('check')
    .summary('has a URL been seen?')
    .description(
      'Queries a stored sieve for URLs and marks nothing. Exit code 0 when all were seen, 1 when one is new. Without URLs it ' +
        'reads lines: of the files given by --in, or of stdin.',
    )
    .argument('[urls...]', 'URLs')
    .requiredOption('--state <path>', 'a .sieve file or the folder of a store')
    .option('--in <files...>', 'files of URLs, one per line, packed or not; - is stdin')
    .addOption(
      new Option('--only <verdict>', 'print the lines with this verdict, unchanged').choices(['new', 'seen']),
    )
    .option('--json', 'one JSON object per URL, with its key and the rules that made it')
    .addHelpText(
      'after',
      `
Examples:
  urlsieve check --state seen https://example.com/ && echo seen
  urlsieve check --state seen --in links.txt.gz --only new > to-fetch.txt`,
    )
    .action(check)
}

async function check(urls: string[], flags: Flags): Promise<void> {
  if (urls.length > 0 && flags.in) {
    throw new CommandError(EXIT.usage, `'${urls[0]}' with --in: expected URLs or files of them`)
  }
  const hasLines = urls.length === 0
  if (hasLines && flags.json) throw new CommandError(EXIT.usage, '--json is for URLs given as arguments')
  if (!hasLines && flags.only)
    throw new CommandError(EXIT.usage, '--only is for lines: give the URLs by --in')
  const sieve = await (isDiskSieve(flags.state) ? openDiskSieve(flags.state) : openStored(flags.state))
  const output = new Output()
  if (hasLines) {
    await checkLines(sieve, flags.in ?? ['-'], output, flags.only)
    return
  }
  for (const url of urls) {
    const explanation = await sieve.explain(url)
    if (explanation.verdict === 'new') process.exitCode = 1
    output.print(
      flags.json ? `${JSON.stringify(explanation)}\n` : `${explanation.verdict.padEnd(4)}  ${url}\n`,
    )
  }
}

async function checkLines(
  sieve: Pick<AnySieve, 'hasLines' | 'stats'>,
  paths: readonly string[],
  output: Output,
  only?: 'new' | 'seen',
): Promise<void> {
  // The verdicts that adding the lines would get, were they all different.
  const addLines = async (lines: Uint8Array) => (await sieve.hasLines(lines)).map((isSeen) => 1 - isSeen)
  const before = (await sieve.stats()).invalid
  let count = 0
  for (const path of paths) {
    for await (const batch of siftLines({ addLines }, readChunks(path))) {
      count += batch.verdicts.length
      if (batch.verdicts.includes(1)) process.exitCode = 1
      output.write(only ? keepLines(batch, only) : withVerdicts(batch))
    }
  }
  warnOfNoUrls(count, (await sieve.stats()).invalid - before)
}

const NEWLINE = 10
const WORDS = [Buffer.from('seen  '), Buffer.from('new   ')] as const

/** Each line after its verdict. */
function withVerdicts({ lines, verdicts }: LineBatch): Uint8Array {
  const bytes = Buffer.allocUnsafe(lines.length + 1 + verdicts.length * WORDS[0].length)
  let size = 0
  let at = 0
  for (const verdict of verdicts) {
    const newline = lines.indexOf(NEWLINE, at)
    const end = newline < 0 ? lines.length : newline
    size += WORDS[verdict as 0 | 1].copy(bytes, size)
    bytes.set(lines.subarray(at, end), size)
    size += end - at
    bytes[size++] = NEWLINE
    at = end + 1
  }
  return bytes.subarray(0, size)
}
