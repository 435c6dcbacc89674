// Runs experiments one after another and records each: the question, the data, the machine and the result.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { csv } from './csv.ts'
import type { Experiment, Lab, Result } from './experiment.ts'
import { commandLine, type Provenance, provenance } from './provenance.ts'
import { keyFrom, random } from './random.ts'
import { type Data, UrlFileError, UrlSource } from './urls.ts'

export interface RunOptions {
  readonly experiments: readonly Experiment[]
  /** The experiments as the user named them; none: all. */
  readonly named?: readonly string[]
  /** Files of URLs; none: generated from the seed. */
  readonly files?: readonly string[]
  readonly tables?: readonly string[]
  readonly quick?: boolean
  readonly integers?: 'wrapping' | 'unbounded'
  readonly seed?: number
}

export interface ExperimentRecord extends Provenance {
  readonly experiment: string
  readonly title: string
  readonly source: string
  readonly question: string
  /** Repeats this experiment alone, with the same counts. */
  readonly command: string
  readonly seed: number
  readonly quick: boolean
  readonly data: Data
  readonly tables: readonly string[]
  readonly seconds: number
  readonly result: Result
}

/** An experiment that threw an error; the others continue. */
export interface Failure {
  readonly experiment: string
  readonly error: unknown
}

export interface Run extends Provenance {
  readonly command: string
  readonly seed: number
  readonly quick: boolean
  readonly data: Data
  readonly seconds: number
  readonly records: readonly ExperimentRecord[]
  readonly failures: readonly Failure[]
}

export interface Watcher {
  started?(experiment: Experiment, number: number): void
  progress?(share: number, doing: string): void
  finished?(record: ExperimentRecord): void
  failed?(failure: Failure): void
}

/** Runs one experiment after another. A failure is recorded and the others continue, unless the URLs cannot be read. */
export async function run(options: RunOptions, watcher: Watcher = {}): Promise<Run> {
  const { experiments, files = [], tables = [], quick = false, integers = 'wrapping', seed = 1 } = options
  const source = files.length > 0 ? await UrlSource.fromFiles(files) : await UrlSource.fromSeed(seed)
  if ((await source.first(1)).count === 0)
    throw new UrlFileError(files.join(', '), new Error('it has no URLs'))
  const where = provenance()
  const records: ExperimentRecord[] = []
  const failures: Failure[] = []
  let mostOfAll = 0
  const started = performance.now()
  for (const [number, experiment] of experiments.entries()) {
    watcher.started?.(experiment, number)
    const from = performance.now()
    let most = 0
    const lab: Lab = {
      quick,
      seed,
      tables,
      integers,
      async urls(wanted) {
        most = Math.max(most, wanted)
        mostOfAll = Math.max(mostOfAll, most)
        return source.first(wanted, () => watcher.progress?.(0, 'reading URLs'))
      },
      random: (name) => random(seed, name),
      key: (name) => keyFrom(seed, name),
      progress: (share, doing) => watcher.progress?.(share, doing),
    }
    try {
      const result = await experiment.run(lab)
      const { name, title, source: paper, question } = experiment
      const record: ExperimentRecord = {
        experiment: name,
        title,
        source: paper,
        question,
        ...where,
        command: repeat([name], options),
        seed,
        quick,
        data: source.data(most),
        tables,
        seconds: (performance.now() - from) / 1000,
        result,
      }
      records.push(record)
      watcher.finished?.(record)
    } catch (error) {
      if (error instanceof UrlFileError) throw error
      const failure = { experiment: experiment.name, error }
      failures.push(failure)
      watcher.failed?.(failure)
    }
  }
  return {
    ...where,
    command: repeat(options.named ?? [], options),
    seed,
    quick,
    data: source.data(mostOfAll),
    seconds: (performance.now() - started) / 1000,
    records,
    failures,
  }
}

function repeat(
  names: readonly string[],
  { files = [], tables = [], quick, integers = 'wrapping', seed = 1 }: RunOptions,
): string {
  return commandLine([
    ...['urlsieve', 'lab', ...names],
    ...(quick ? ['--quick'] : []),
    ...(integers === 'wrapping' ? [] : ['--integers', integers]),
    ...['--seed', String(seed)],
    ...(tables.length > 0 ? ['--csv', ...tables] : []),
    ...(files.length > 0 ? ['--urls', ...files] : []),
  ])
}

/** The file of a table: NAME.csv for the first, NAME-2.csv and so on for the others. */
export function csvName(experiment: string, table: number): string {
  return table === 0 ? `${experiment}.csv` : `${experiment}-${table + 1}.csv`
}

/** Writes a CSV file for each table, and NAME.json (everything). */
export function writeRecord(folder: string, record: ExperimentRecord): void {
  mkdirSync(folder, { recursive: true })
  for (const [i, table] of record.result.tables.entries()) {
    writeFileSync(join(folder, csvName(record.experiment, i)), csv(table))
  }
  writeFileSync(join(folder, `${record.experiment}.json`), `${JSON.stringify(record, null, 2)}\n`)
}
