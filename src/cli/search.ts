// `urlsieve search`: which rows of a table, or which documents, hold some words; by filters, checked against the text.
import { type Command, Option } from 'commander'
import { parseCount, parseRate } from '../quantities.ts'
import { type Bytes, fileBytes, identify, isUnchanged, memoryBytes } from '../search/bytes.ts'
import { type Corpus, documentCorpus, type Row, tableCorpus } from '../search/corpus.ts'
import { DatasetBuilder, DEFAULT_DICTIONARY_RATE, DEFAULT_ROW_RATE } from '../search/dataset.ts'
import { type LayerReading, layerReadings } from '../search/dictionary.ts'
import { type Index, readIndex, writeIndex } from '../search/index-file.ts'
import { InputError } from '../search/input-error.ts'
import { holdsAll, prepare, scanPrepared, scanTexts } from '../search/scan.ts'
import { distinctWords, englishStopWords } from '../search/words.ts'
import { CommandError, EXIT, reason } from './exit.ts'
import { readInput } from './input.ts'
import { inputError } from './input-size.ts'
import { writeStderr } from './output.ts'
import { printSearch, type Scans } from './search-report.ts'

export interface SearchFlags {
  column: string[]
  delimiter?: string
  header: boolean
  ragged?: boolean
  text?: string[]
  stopWords?: string
  index?: string
  fpr: number
  rowFpr: number
  layers: LayerReading
  unverified?: boolean
  scan?: boolean
  limit?: number
  csv?: boolean
  json?: boolean
  quiet?: boolean
}

/** A measured step is repeated this often, or for this long but at least a few times; the median run counts. */
const MOST_RUNS = 51
const LEAST_RUNS = 5
const MOST_MS = 200

export function searchCommand(program: Command): void {
  program
    .command('search')
    .summary('find the rows or documents that hold some words')
    .description(
      'Which rows of a table hold all the words: a filter for every row, queried together, and each row it names ' +
        'checked against its text. Words are runs of letters and digits, whatever their case; a quoted phrase ' +
        'stands for its words. With --text, documents are searched instead of a table.',
    )
    .argument(
      '[table-and-words...]',
      'a CSV file (- for stdin, .gz read as such), then words; with --text words only',
    )
    .option('--column <name>', 'search this column (repeat for more); default: all', collect, [])
    .option('--delimiter <text>', 'between fields; tab or \\t for a tab; default: comma, for .tsv a tab')
    .option('--no-header', 'the first line is a row; columns are called 1, 2, …')
    .option('--ragged', 'take rows with too few or too many fields')
    .option('--text <files...>', 'search these documents, one row a file')
    .option(
      '--stop-words <words>',
      'words to leave out: none, english, or a list with commas; default: none, for --text english',
    )
    .option('--index <file>', 'keep the index here, and use it while the table is unchanged')
    .option(
      '--fpr <rate>',
      'chance that an absent word passes the dictionary',
      parseRate('--fpr'),
      DEFAULT_DICTIONARY_RATE,
    )
    .option(
      '--row-fpr <rate>',
      'chance that a row passes for a word it lacks',
      parseRate('--row-fpr'),
      DEFAULT_ROW_RATE,
    )
    .addOption(
      new Option('--layers <reading>', "how the dictionary's layers are dealt and queried")
        .choices(layerReadings)
        .default('all'),
    )
    .option('--unverified', 'list every row that may hold the words, unchecked')
    .option('--scan', 'measure a linear scan too, though the index was reused')
    .option('--no-scan', 'measure no linear scan: less memory')
    .option(
      '--limit <n>',
      'show this many rows; default: 20, with --csv and --json all',
      parseCount('--limit'),
    )
    .option('--csv', 'the rows as CSV; the summary goes to stderr')
    .option('--json', 'one JSON object')
    .option('--quiet', 'rows only')
    .addHelpText(
      'after',
      `
Exits with 1 when no row holds the words.

Examples:
  urlsieve search movies.csv --column title "dark knight"
  urlsieve search movies.csv --column title --column overview --index movies.usix batman joker --csv > found.csv
  urlsieve search "bloom filter" --text notes/*.txt`,
    )
    .action(search)
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

async function search(args: string[], flags: SearchFlags): Promise<void> {
  try {
    await run(args, flags)
  } catch (error) {
    throw error instanceof InputError ? new CommandError(EXIT.input, error.message) : error
  }
}

async function run(args: string[], flags: SearchFlags): Promise<void> {
  const stopWords = stopWordsOf(flags)
  const phrases = flags.text ? args : args.slice(1)
  if (!flags.text && args.length === 0)
    throw usage('no table: expected a file and words, or --text and words')
  const { words, dropped } = queryOf(phrases, stopWords)
  const corpus = await openCorpus(args[0] ?? '', flags)
  try {
    const note = (line: string) => flags.quiet || writeStderr(`urlsieve: ${line}\n`)
    if (dropped.length > 0) note(`left out as stop words: ${dropped.join(', ')}`)
    const made = await indexOf(corpus, flags, stopWords, note)
    const { index } = made
    const { median: filterMs, result: answer } = timed(() => index.dataset.ask(words))
    const started = performance.now()
    const rows: Row[] = []
    for await (const row of corpus.read(index, answer.rows)) {
      if (flags.unverified || holdsAll(row.text, words)) rows.push(row)
    }
    const readMs = performance.now() - started
    const scans = made.texts && scanAll(made.texts, words, stopWords)
    if (rows.length === 0) process.exitCode = 1
    const searched = corpus.searched(index)
    printSearch({ flags, words, index, searched, answer, rows, filterMs, readMs, made, scans })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall ? inputError(corpus.paths.join(', '), error) : error
  } finally {
    corpus.close()
  }
}

export interface Made {
  readonly index: Index
  readonly how: 'built' | 'reused'
  readonly ms: number
  /** The rows' texts, where a scan is wanted. */
  readonly texts: readonly string[] | null
}

async function indexOf(
  corpus: Corpus,
  flags: SearchFlags,
  stopWords: ReadonlySet<string>,
  note: (line: string) => void,
): Promise<Made> {
  const started = performance.now()
  const settings = settingsOf(corpus.paths[0]!, flags, stopWords)
  const known = flags.index === undefined ? null : await readKnown(flags.index)
  const stale = known && staleness(known, settings, flags.layers, corpus.paths)
  if (known && !stale) {
    const ms = performance.now() - started
    return { index: known, how: 'reused', ms, texts: flags.scan ? await textsOf(corpus) : null }
  }
  if (stale) note(`${flags.index}: ${stale}; the index is rebuilt`)
  const keep = flags.scan !== false
  const texts: string[] = []
  const files = flags.index === undefined ? [] : corpus.paths.map(identify)
  const builder = await DatasetBuilder.create({
    dictionaryRate: flags.fpr,
    rowRate: flags.rowFpr,
    layers: flags.layers,
  })
  const { columns, places } = await corpus.scan((text) => {
    builder.add(distinctWords(text, stopWords))
    if (keep) texts.push(text)
  })
  const index = { origin: { settings, files }, dataset: builder.finish(), columns, places }
  if (flags.index !== undefined) {
    try {
      writeIndex(flags.index, index)
    } catch (error) {
      throw new CommandError(EXIT.output, `cannot write ${flags.index}: ${reason(error)}`)
    }
  }
  return { index, how: 'built', ms: performance.now() - started, texts: keep ? texts : null }
}

async function readKnown(path: string): Promise<Index | null> {
  try {
    return await readIndex(path)
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall ? inputError(path, error) : error
  }
}

function staleness(
  { origin, dataset }: Index,
  settings: string,
  layers: SearchFlags['layers'],
  paths: readonly string[],
): string | null {
  if (origin.settings !== settings || dataset.dictionary.reading !== layers) return 'made with other options'
  if (origin.files.length !== paths.length) return 'made of other files'
  const changed = paths.find((path, i) => !isUnchanged(path, origin.files[i]!))
  return changed === undefined ? null : `${changed} changed since it was made`
}

async function textsOf(corpus: Corpus): Promise<string[]> {
  const texts: string[] = []
  await corpus.scan((text) => texts.push(text))
  return texts
}

function scanAll(texts: readonly string[], words: readonly string[], stopWords: ReadonlySet<string>): Scans {
  const prepared = texts.map((text) => prepare(distinctWords(text, stopWords)))
  const started = performance.now()
  const rows = scanTexts(texts, words).length
  const textsMs = performance.now() - started
  return { rows, textsMs, preparedMs: timed(() => scanPrepared(prepared, words)).median }
}

/** The middle time of some runs: neither the first, which compiles, nor a pause decides. Same for filter and scan. */
function timed<T>(step: () => T): { median: number; result: T } {
  const times: number[] = []
  const begun = performance.now()
  let result: T
  do {
    const started = performance.now()
    result = step()
    times.push(performance.now() - started)
  } while (times.length < LEAST_RUNS || (times.length < MOST_RUNS && performance.now() - begun < MOST_MS))
  return { median: times.sort((a, b) => a - b)[times.length >> 1]!, result }
}

function stopWordsOf({ stopWords, text }: SearchFlags): ReadonlySet<string> {
  const chosen = stopWords ?? (text ? 'english' : 'none')
  if (chosen === 'none') return new Set()
  return chosen === 'english' ? englishStopWords : distinctWords(chosen)
}

function queryOf(
  phrases: readonly string[],
  stopWords: ReadonlySet<string>,
): { words: string[]; dropped: string[] } {
  const given = [...distinctWords(phrases.join(' '))]
  if (given.length === 0)
    throw usage(`no words to search for in '${phrases.join(' ')}': expected letters or digits`)
  const words = given.filter((word) => !stopWords.has(word))
  if (words.length === 0) throw usage(`only stop words in '${phrases.join(' ')}': use --stop-words none`)
  return { words, dropped: given.filter((word) => stopWords.has(word)) }
}

function settingsOf(path: string, flags: SearchFlags, stopWords: ReadonlySet<string>): string {
  const { fpr, rowFpr, layers, text } = flags
  const table = text ? null : { columns: flags.column, ...tableOptions(path, flags) }
  return JSON.stringify({ fpr, rowFpr, layers, stopWords: [...stopWords], table })
}

function tableOptions(path: string, flags: SearchFlags) {
  const named: Readonly<Record<string, string>> = { tab: '\t', '\\t': '\t', comma: ',', semicolon: ';' }
  const given = flags.delimiter
  if (given === '' || given === '"')
    throw usage(`--delimiter '${given}': expected a character such as ; or tab`)
  const usual = /\.(tsv|tab)(\.gz)?$/i.test(path) ? '\t' : ','
  const delimiter = given === undefined ? usual : (named[given] ?? given)
  return { delimiter, header: flags.header, ragged: flags.ragged ?? false }
}

async function openCorpus(path: string, flags: SearchFlags): Promise<Corpus> {
  if (flags.csv && flags.json) throw usage('both --csv and --json are given: expected one of them')
  if (flags.text) {
    const forTables =
      flags.column.length > 0 || flags.delimiter !== undefined || flags.ragged || !flags.header
    if (forTables)
      throw usage('--column, --delimiter, --ragged and --no-header are for tables: not with --text')
    if (flags.text.includes('-')) throw usage('--text -: expected files')
    return documentCorpus(flags.text, openBytes)
  }
  if (path === '-' && flags.index !== undefined)
    throw usage('--index with stdin: expected a file, which can be read again')
  const options = { ...tableOptions(path, flags), columns: flags.column }
  return tableCorpus(path === '-' ? 'stdin' : path, await openBytes(path), options)
}

/** A file as it lies; what can be read only once, or is packed, whole in memory. */
async function openBytes(path: string): Promise<Bytes> {
  if (path !== '-' && !path.endsWith('.gz')) {
    try {
      return fileBytes(path)
    } catch (error) {
      throw inputError(path, error)
    }
  }
  const parts: Buffer[] = []
  let buffer = Buffer.alloc(0)
  await readInput(path, {
    look: null,
    reserve: (bytes) => (buffer = Buffer.alloc(bytes)),
    push: (bytes) => {
      parts.push(buffer.subarray(0, bytes))
    },
  })
  return memoryBytes(Buffer.concat(parts))
}

function usage(message: string): CommandError {
  return new CommandError(EXIT.usage, message)
}
