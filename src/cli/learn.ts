// `urlsieve learn`: rules from pages whose content is known, and what such rules do to other pages.
import { type Command, Option } from 'commander'
import { type ProfileName, profiles } from '../canonical/profiles.ts'
import { describeRule } from '../learn/learned-rule.ts'
import { type Checked, checkRules, type Learned, learn, PageSet } from '../learn/learner.ts'
import { type PageRecord, parsePageRecord } from '../learn/page-records.ts'
import { type LearnedRules, parseRules } from '../learn/rule-file.ts'
import { TRIALS } from '../learn/scope.ts'
import { formatCount, formatCounted, parseNumber, parseRate } from '../quantities.ts'
import { formatOfName } from '../records/format.ts'
import { MiB, readWhole } from '../store/whole-file.ts'
import { CommandError, EXIT } from './exit.ts'
import { checkOutput, type Look, readChunks, totalBytes } from './input.ts'
import { inputError } from './input-size.ts'
import { warnOfLooks } from './line-looks.ts'
import { Output, writeStderr } from './output.ts'
import { Progress } from './progress.ts'
import { table } from './table.ts'

const MOST_RULE_BYTES = 64 * MiB

/** Formats of pages with digests. */
const pageFormats = ['csv', 'tsv', 'jsonl', 'cdx', 'cdxj', 'warc'] as const

interface Flags {
  format?: (typeof pageFormats)[number]
  field?: string
  digest?: string
  output?: string
  check?: string
  risk: number
  profile: ProfileName
  near?: boolean
  seed: number
  json?: boolean
  quiet?: boolean
}

export function learnCommand(program: Command): void {
  program
    .command('learn')
    .summary('learn which parameters and spellings do not change the page')
    .description(
      'Reads pages with a digest of their content (TSV of URL and digest, JSON lines, the output of crawl --content, CDX, ' +
        'CDXJ, CSV with columns url and digest, or WARC) and finds parameters, segments, aliases and mirrors that do not change the page. A rule is kept only ' +
        'when the share of wrong sections, paths, keys or URLs (what is one level below where it holds), on those not used to find it, is under --risk with 95 % confidence. The result ' +
        'is a profile: --profile site.rules.json. With --check, measures rules on other pages; exits with 1 when the ' +
        'share of wrong merges is over their risk.',
    )
    .argument('[pages...]', 'files of pages; - or nothing for stdin')
    .addOption(
      new Option('--format <name>', 'what the input holds; by default as its lines look').choices(
        pageFormats,
      ),
    )
    .option(
      '--field <name>',
      'the column of the URL in CSV or TSV, by name or number, or its path in JSON lines',
    )
    .option('--digest <name>', "the same of the content's digest (default: digest)")
    .option('-o, --output <file>', 'write the rules here')
    .option('--check <rules>', 'measure these rules instead of learning')
    .option('--risk <rate>', 'largest share of wrong merges', parseRate('--risk'), 0.01)
    .addOption(
      new Option('--profile <name>', 'whose keys the rules take on')
        .choices(Object.keys(profiles))
        .default('web'),
    )
    .option('--near', 'pages of nearly the same text (SimHash) count as the same')
    .option('--seed <n>', 'which pages are kept apart', parseNumber('--seed', 0), 0)
    .option('--json', 'one JSON object')
    .option('--quiet', 'no progress')
    .addHelpText(
      'after',
      `
Examples:
  urlsieve learn pages.tsv.gz -o site.rules.json
  urlsieve learn --check site.rules.json other-pages.tsv
  urlsieve dedupe links.txt --profile site.rules.json`,
    )
    .action(run)
}

async function run(files: string[], flags: Flags): Promise<void> {
  const paths = files.length > 0 ? files : ['-']
  const rules = flags.check === undefined ? null : readRules(flags.check)
  checkOutput(paths, flags.output)
  const { set, unread } = await readPages(paths, rules?.profile ?? flags.profile, flags)
  if (unread > 0)
    writeStderr(
      `urlsieve: ${formatCounted(unread, 'line has no URL with a digest and was', 'lines have no URL with a digest and were')} left out\n`,
    )
  if (rules === null) printLearned(learn(set, flags), flags)
  else printChecked(checkRules(rules, set), rules, flags)
}

/** Reads and checks a file of rules. */
export function readRules(path: string): LearnedRules {
  let text: string
  try {
    text = readWhole(path, MOST_RULE_BYTES, { isStream: true }).toString()
  } catch (error) {
    throw inputError(path, error)
  }
  return parseRules(text, path)
}

async function readPages(paths: readonly string[], profile: ProfileName, flags: Flags) {
  const set = new PageSet(profile)
  const progress = new Progress(totalBytes(paths), flags.quiet ?? false)
  let lines = 0
  let bytes = 0
  let unread = 0
  const take = (record: PageRecord | null) => {
    lines++
    if (record === null) unread++
    else set.add(record)
  }
  for (const path of paths) {
    const pages = await pagesIn(path, flags)
    for await (const chunk of readChunks(path, pages.look)) {
      bytes += chunk.length
      for (const page of pages.push(chunk)) take(page)
      progress.tick(() => ({ lines, bytes }))
    }
    for (const page of pages.end()) take(page)
  }
  progress.done()
  return { set, unread }
}

interface Pages {
  /** At what the input begins with. */
  readonly look: Look
  push(chunk: Uint8Array): (PageRecord | null)[]
  end(): (PageRecord | null)[]
}

// Columns, where they are named or the format has them; else a page per line, in the format that it looks like.
async function pagesIn(path: string, { format, field, digest }: Flags): Promise<Pages> {
  const named = formatOfName(path)
  const columns = format ?? (field !== undefined || digest !== undefined || isByColumns(named) ? named : null)
  const isNamed = field !== undefined || digest !== undefined
  if (isByColumns(columns) || (isNamed && (columns === 'tsv' || columns === 'jsonl'))) {
    const { PageColumns } = await import('./page-columns.ts')
    return new PageColumns(columns, field, digest)
  }
  if (!isNamed) return new PageLines(path)
  const name = path === '-' ? 'stdin' : path
  throw new CommandError(EXIT.usage, `--field or --digest for ${name}: expected --format csv, tsv or jsonl`)
}

const isByColumns = (format: string | null): format is 'csv' | 'warc' => format === 'csv' || format === 'warc'

/** A page per line. */
class PageLines implements Pages {
  readonly #path: string
  readonly #decoder = new TextDecoder()
  #rest = ''

  constructor(path: string) {
    this.#path = path
  }

  readonly look: Look = async (path, head) => warnOfLooks(path, head, 'pages')

  push(chunk: Uint8Array): (PageRecord | null)[] {
    const parts = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split('\n')
    this.#rest = parts.pop()!
    if (this.#rest.length > 1024 * 1024)
      throw new CommandError(EXIT.input, `${this.#path}: a line of over 1 MiB: expected one page per line`)
    return parts.flatMap((line) => this.#read(line.replace(/\r$/, '')))
  }

  end(): (PageRecord | null)[] {
    return this.#read(this.#rest)
  }

  #read(line: string): (PageRecord | null)[] {
    return line === '' ? [] : [parsePageRecord(line)]
  }
}

const percent = (share: number) => `${(share * 100).toFixed(2)} %`

function printLearned({ rules, counts, tried, unproven }: Learned, flags: Flags): void {
  if (flags.output !== undefined) {
    const file = new Output(flags.output)
    file.print(`${JSON.stringify(rules, null, 2)}\n`)
    file.close()
  }
  const output = new Output()
  if (flags.json) {
    output.print(`${JSON.stringify({ ...rules, counts, tried, unproven })}\n`)
    return
  }
  const { pages, repeats, unstable, short } = counts
  output.print(
    `${formatCounted(pages, 'page')}; ${formatCounted(repeats, 'repeat')}, ${formatCount(unstable)} whose content changed and ${formatCounted(short, 'short one')} were left out\n` +
      `${formatCounted(tried, 'rule')} tried, ${formatCount(rules.rules.length)} kept, ${formatCount(unproven.length)} without a wrong merge but with too few pages for ${percent(rules.risk)}\n`,
  )
  if (rules.rules.length > 0) {
    const rows = rules.rules.map((rule) => [
      describeRule(rule),
      formatCount(rule.found.merges + rule.heldOut.merges),
      formatCounted(rule.heldOut.trials, TRIALS[rule.scope.level]),
      formatCount(rule.heldOut.wrong),
      percent(rule.heldOut.upper),
    ])
    output.print(`\n${table(['rule', 'merges', 'held out', 'wrong', 'at most'], rows)}`)
  }
  if (unproven.length > 0) {
    const rows = unproven.slice(0, 10).map(({ rule, merges }) => [describeRule(rule), formatCount(merges)])
    output.print(`\n${table(['not proven', 'merges'], rows)}`)
  }
}

function printChecked(checked: Checked, rules: LearnedRules, flags: Flags): void {
  const { pages, merges, right, wrong, upper, counterExamples } = checked
  const isOver = merges > 0 && wrong > merges * rules.risk
  if (isOver) process.exitCode = 1
  const output = new Output()
  if (flags.json) {
    output.print(`${JSON.stringify({ ...checked, risk: rules.risk })}\n`)
    return
  }
  const share =
    merges === 0
      ? ''
      : ` (${percent(wrong / merges)}; of all such paths at most ${percent(upper)}; the rules' risk is ${percent(rules.risk)})`
  output.print(
    `${formatCounted(pages, 'page')}: ${formatCounted(merges, 'fetch', 'fetches')} saved by ${formatCounted(rules.rules.length, 'rule')}\n` +
      `${formatCounted(right, 'merge')} right, ${formatCount(wrong)} wrong${share}\n`,
  )
  for (const [one, other] of counterExamples) output.print(`  wrong: ${one} ≠ ${other}\n`)
}
