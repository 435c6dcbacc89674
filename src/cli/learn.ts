// `urlsieve learn`: rules from pages whose content is known, and what such rules do to other pages.
import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { type ProfileName, profiles } from '../canonical/profiles.ts'
import { describeRule } from '../learn/learned-rule.ts'
import { type Checked, checkRules, type Learned, learn, PageSet } from '../learn/learner.ts'
import { parsePageRecord } from '../learn/page-records.ts'
import { type LearnedRules, parseRules } from '../learn/rule-file.ts'
import { formatCount, parseNumber, parseRate } from '../quantities.ts'
import { CommandError, EXIT } from './exit.ts'
import { checkOutput, inputError, readChunks, totalBytes } from './input.ts'
import { Output, tell } from './output.ts'
import { Progress } from './progress.ts'
import { table } from './table.ts'

interface Flags {
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
      'Reads pages with a digest of their content (TSV of URL and digest, JSON lines, the output of crawl --content, CDX ' +
        'or CDXJ) and finds parameters, segments, aliases and mirrors that do not change the page. A rule is kept only ' +
        'when its share of wrong merges, on pages not used to find it, is under --risk with 95 % confidence. The result ' +
        'is a profile: --profile site.rules.json. With --check, measures rules on other pages; exits with 1 when the ' +
        'share of wrong merges is over their risk.',
    )
    .argument('[pages...]', 'files of pages; - or nothing for stdin')
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
  const { set, unread } = await readPages(paths, rules?.profile ?? flags.profile, flags.quiet ?? false)
  if (unread > 0) tell(`urlsieve: ${formatCount(unread)} lines have no URL with a digest and were left out\n`)
  if (rules === null) printLearned(learn(set, flags), flags)
  else printChecked(checkRules(rules, set), rules, flags)
}

/** Reads and checks a file of rules. */
export function readRules(path: string): LearnedRules {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw inputError(path, error)
  }
  return parseRules(text, path)
}

async function readPages(paths: readonly string[], profile: ProfileName, isQuiet: boolean) {
  const set = new PageSet(profile)
  const progress = new Progress(totalBytes(paths), isQuiet)
  let lines = 0
  let bytes = 0
  let unread = 0
  const take = (line: string) => {
    if (line === '') return
    lines++
    const record = parsePageRecord(line)
    if (record === null) unread++
    else set.add(record)
  }
  for (const path of paths) {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of readChunks(path)) {
      bytes += chunk.length
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = parts.pop()!
      if (rest.length > 1024 * 1024)
        throw new CommandError(EXIT.input, `${path}: a line of over 1 MiB: expected one page a line`)
      for (const line of parts) take(line.replace(/\r$/, ''))
      progress.tick(() => ({ lines, bytes }))
    }
    take(rest)
  }
  progress.done()
  return { set, unread }
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
    `${formatCount(pages)} pages; ${formatCount(repeats)} repeats, ${formatCount(unstable)} whose content changed and ${formatCount(short)} short ones were left out\n` +
      `${formatCount(tried)} rules tried, ${formatCount(rules.rules.length)} kept, ${formatCount(unproven.length)} without a wrong merge but with too few pages for ${percent(rules.risk)}\n`,
  )
  if (rules.rules.length > 0) {
    const rows = rules.rules.map((rule) => [
      describeRule(rule),
      formatCount(rule.found.merges),
      formatCount(rule.heldOut.merges),
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
      : ` (${percent(wrong / merges)}, at most ${percent(upper)}; the rules' risk is ${percent(rules.risk)})`
  output.print(
    `${formatCount(pages)} pages: ${formatCount(merges)} fetches saved by ${formatCount(rules.rules.length)} rules\n` +
      `${formatCount(right)} merges right, ${formatCount(wrong)} wrong${share}\n`,
  )
  for (const [one, other] of counterExamples) output.print(`  wrong: ${one} ≠ ${other}\n`)
}
