// `urlsieve lab`: the papers' experiments again, and a fair fight; tables here, CSV and JSON and a page in a folder.
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import type { Cell, Table } from '../lab/experiment.ts'
import type { ExperimentRecord, Failure } from '../lab/run.ts'
import { parseCount } from '../quantities.ts'
import { CommandError, EXIT, reason } from './exit.ts'
import { LabProgress } from './lab-progress.ts'
import { Output, writeStderr } from './output.ts'
import { table } from './table.ts'

interface Flags {
  urls?: string[]
  csv?: string[]
  out: string
  quick?: boolean
  tables?: boolean
  integers: 'wrapping' | 'unbounded'
  seed: number
}

export function labCommand(program: Command): void {
  program
    .command('lab')
    .summary("repeat the papers' experiments, and compare at equal memory")
    .description(
      'Runs experiments over URLs, prints a verdict on each claim of the papers, and writes a report: DIR/report.html, a CSV file for every table, claims.csv and claims.md with all verdicts, and a JSON file for each experiment. ' +
        'The URLs come from files (.gz too), or are generated from the seed. The same seed and URLs give the same counts ' +
        'on any machine; times are of this one.',
    )
    .argument('[experiments...]', 'all, unless some are named; an unknown name lists them')
    .option('--urls <files...>', 'files of one URL per line, instead of generated ones')
    .option('--out <dir>', 'where the report goes', 'urlsieve-lab')
    .option('--quick', 'small sizes: a minute for all')
    .option('--seed <n>', 'repeats the same counts', parseCount('--seed'), 1)
    .option('--tables', 'print every table too, not only the verdicts')
    .addOption(
      new Option(
        '--integers <kind>',
        'integers of url-caching’s hash functions: modulo 2^32, or as wide as they become',
      )
        .choices(['wrapping', 'unbounded'])
        .default('wrapping'),
    )
    .option('--csv <files...>', 'tables of titles for the keyword experiment, instead of a generated one')
    .addHelpText(
      'after',
      `
Experiments come before --urls and --csv, which take all the names that follow them.

Examples:
  urlsieve lab --quick
  urlsieve lab cen2010 equal-memory --urls links.txt.gz more.txt --out results`,
    )
    .action(lab)
}

async function lab(names: string[], flags: Flags): Promise<void> {
  // The lab and its charts are large: only this command loads them.
  const [
    { choose, experiments },
    { run, writeRecord },
    { report },
    { UrlFileError },
    { shown },
    claims,
    tables,
  ] = await Promise.all([
    import('../lab/registry.ts'),
    import('../lab/run.ts'),
    import('../lab/report.ts'),
    import('../lab/urls.ts'),
    import('../lab/cells.ts'),
    import('../lab/claims.ts'),
    import('../lab/csv.ts'),
  ])
  const chosen = choose(names)
  const { urls = [], csv = [], out, quick = false, integers, seed } = flags
  for (const path of [...urls, ...csv])
    readable(
      path,
      experiments.map(({ name }) => name),
    )
  written(out, () => mkdirSync(out, { recursive: true }))
  const output = new Output()
  const progress = new LabProgress(chosen.length)
  const print = ({ title, question, result, experiment, seconds }: ExperimentRecord) => {
    output.print(`\n${experiment}: ${title} (${seconds.toFixed(1)} s)\n${question}\n`)
    for (const { verdict, claim, number } of result.claims)
      output.print(`  ${verdict}: ${claim}. ${number}.\n`)
    if (!flags.tables) return
    output.print(`→ ${result.finding}\n`)
    for (const one of result.tables) output.print(`\n${printed(one, shown)}`)
  }
  try {
    const done = await run(
      { experiments: chosen, named: names, files: urls, tables: csv, quick, integers, seed },
      {
        started: ({ name }, number) => progress.started(name, number),
        progress: (share, doing) => progress.progress(share, doing),
        finished(record) {
          progress.clear()
          written(out, () => writeRecord(out, record))
          print(record)
        },
        failed({ experiment, error }) {
          progress.clear()
          writeStderr(`urlsieve: ${experiment} did not finish: ${reason(error)}\n`)
        },
      },
    )
    const path = join(out, 'report.html')
    const text = report(done)
    written(out, () => {
      writeFileSync(path, text)
      writeFileSync(join(out, 'claims.csv'), tables.csv(claims.claimTable(done.records)))
      writeFileSync(join(out, 'claims.md'), claims.claimMarkdown(done.records))
    })
    output.print(`\nThe report: ${path}\n`)
    if (done.failures.length > 0) throw failure(done.failures)
  } catch (error) {
    if (!(error instanceof UrlFileError)) throw error
    throw new CommandError(EXIT.input, `cannot read ${error.message}: ${reason(error.cause)}`)
  } finally {
    progress.clear()
  }
}

function printed(
  { title, note, columns, rows }: Table,
  shown: (cell: Cell, column: Table['columns'][0]) => string,
) {
  const cells = rows.map((row) => row.map((cell, c) => shown(cell, columns[c]!)))
  const head = columns.map(({ name }) => name)
  return `${title}\n${note ? `${note}\n` : ''}${table(head, cells)}`
}

/** A missing file is found before the first experiment, not after the ninth. */
function readable(path: string, experiments: readonly string[]): void {
  try {
    accessSync(path, constants.R_OK)
  } catch (error) {
    const hint = experiments.includes(path) ? '; experiments are named before --urls and --csv' : ''
    throw new CommandError(EXIT.input, `cannot read ${path}: ${reason(error)}${hint}`)
  }
}

function written(folder: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    throw new CommandError(EXIT.output, `cannot write to ${folder}: ${reason(error)}`)
  }
}

function failure(failures: readonly Failure[]): Error {
  const names = failures.map(({ experiment }) => experiment).join(', ')
  const [first] = failures
  return new Error(`${names} did not finish`, { cause: first!.error })
}
