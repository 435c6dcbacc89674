// `urlsieve check`: has this URL been seen? Exit code 0 seen, 1 new.
import { type Command, Option } from 'commander'
import type { AnySieve } from '../any-sieve.ts'
import { withScheme } from '../canonical/bare-hosts.ts'
import type { RecordBatch } from '../records/format.ts'
import { keepRows } from '../records/keep-rows.ts'
import { CommandError, EXIT } from './exit.ts'
import { type InputFlags, inputFlag, LINES, recordInput, withInputOptions } from './input-options.ts'
import { Output, warnOfNoUrls } from './output.ts'
import { isDiskSieve, openDiskSieve, openStored } from './stored.ts'

interface Flags extends InputFlags {
  state: string
  in?: string[]
  only?: 'new' | 'seen'
  json?: boolean
}

export function checkCommand(program: Command): void {
  withInputOptions(program.command('check'))
    .summary('has a URL been seen?')
    .description(
      'Queries a stored sieve for URLs and marks nothing. Exit code 0 when all were seen, 1 when one is new. Without URLs it ' +
        'reads lines: of the files given by --in, or of stdin.',
    )
    .argument('[urls...]', 'URLs')
    .requiredOption('--state <path>', 'a .sieve file or the folder of a store')
    .option('--in <files...>', 'files of URLs, packed or not, in the formats of dedupe; - is stdin')
    .addOption(
      new Option('--only <verdict>', 'print the lines with this verdict, unchanged').choices(['new', 'seen']),
    )
    .option('--json', 'one JSON object per URL, with its key and the rules that made it')
    .addHelpText(
      'after',
      `
Examples:
  urlsieve check --state seen https://example.com/ && echo seen
  urlsieve check --state seen --in links.txt.gz --only new > to-fetch.txt
  urlsieve check --state seen --in pages.csv --field url --only new > new-pages.csv`,
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
  const { bareHosts, ...others } = flags
  if (!hasLines && recordInput(others))
    throw new CommandError(EXIT.usage, `${inputFlag(others)} is for lines: give the URLs by --in`)
  const sieve = await (isDiskSieve(flags.state) ? openDiskSieve(flags.state) : openStored(flags.state))
  const output = new Output()
  if (hasLines) {
    await checkLines(sieve, flags, output)
    return
  }
  for (const given of urls) {
    const url = bareHosts ? withScheme(given) : given
    const explanation = await sieve.explain(url)
    if (explanation.verdict === 'new') process.exitCode = 1
    output.print(
      flags.json ? `${JSON.stringify(explanation)}\n` : `${explanation.verdict.padEnd(4)}  ${given}\n`,
    )
  }
}

async function checkLines(
  sieve: Pick<AnySieve, 'hasLines' | 'stats'>,
  { in: paths = ['-'], only, ...flags }: Flags,
  output: Output,
): Promise<void> {
  const input = recordInput(flags) ?? LINES
  const { readRecords } = await import('./record-input.ts')
  const before = (await sieve.stats()).invalid
  let count = 0
  let hasHeader = false
  for (const path of paths) {
    for await (const batch of readRecords(path, input)) {
      // The names of the columns, where rows are printed as they are.
      if (batch.header && only && !hasHeader) {
        hasHeader = true
        output.write(batch.header)
      }
      if (batch.ends.length === 0) continue
      // The verdicts that adding the lines would get, were they all different.
      const verdicts = (await sieve.hasLines(batch.urls)).map((isSeen) => 1 - isSeen)
      count += verdicts.length
      if (verdicts.includes(1)) process.exitCode = 1
      output.write(only ? keepRows(batch, verdicts, only === 'new' ? 1 : 0) : withVerdicts(batch, verdicts))
    }
  }
  warnOfNoUrls(count, (await sieve.stats()).invalid - before)
}

const WORDS = [Buffer.from('seen  '), Buffer.from('new   ')] as const

/** Each row after its verdict. */
function withVerdicts({ rows, ends }: RecordBatch, verdicts: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(rows.length + ends.length * WORDS[0].length)
  let size = 0
  let from = 0
  for (const [i, end] of ends.entries()) {
    size += WORDS[verdicts[i] as 0 | 1].copy(bytes, size)
    bytes.set(rows.subarray(from, end), size)
    size += end - from
    from = end
  }
  return bytes
}
