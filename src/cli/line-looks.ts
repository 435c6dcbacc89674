// What is said of an input that does not look like what it is read as: with the option that reads it.
import type { FormatName } from '../records/format.ts'
import { type Looks, recognise } from '../records/recognise.ts'
import { CommandError, EXIT } from './exit.ts'
import { writeStderr } from './output.ts'

const nameOf = (path: string) => (path === '-' ? 'stdin' : path)

/** What lines are read as: URLs, where the command has --format or not, or pages with digests. */
type ReadAs = 'urls' | 'urls only' | 'pages'

/** Formats that are read as pages a line at a time. */
const OF_PAGES: readonly Looks['format'][] = ['tsv', 'jsonl', 'cdx', 'cdxj', 'lines']

/** One line for an input that does not look like the lines that it is read as. */
export function warnOfLooks(path: string, head: Uint8Array, readAs: ReadAs = 'urls'): void {
  const looks = recognise(head, path)
  if (looks === null || looks.format === 'lines') return
  if (readAs === 'pages' && OF_PAGES.includes(looks.format)) return
  const { format, name } = looks
  const isList = format === 'warc' || format === 'sitemap'
  const advice = {
    urls: `add ${flagsFor(looks)}`,
    'urls only': `'urlsieve dedupe ${isList ? `--format ${format}` : '--extract'}' makes such a list of it`,
    pages: `add --format ${format}`,
  }[readAs]
  const expected = readAs === 'pages' ? 'one page per line' : 'one URL per line'
  writeStderr(`urlsieve: warning: ${nameOf(path)} looks like ${name} and is read as ${expected}: ${advice}\n`)
}

/** Throws for an input that is read in a format of which its first records are not, and that looks like another. */
export function refuseLooks(path: string, head: Uint8Array, format: FormatName): void {
  const looks = recognise(head, path)
  if (looks === null || looks.format === format) return
  // The beginning of a sitemap may be any XML.
  if (format === 'sitemap' && looks.format === 'text') return
  const advice = looks.format === 'lines' ? 'leave --format and --field out' : `expected ${flagsFor(looks)}`
  throw new CommandError(
    EXIT.usage,
    `${nameOf(path)} looks like ${looks.name}, not ${NAMES[format] ?? format.toUpperCase()}: ${advice}`,
  )
}

const NAMES: Partial<Record<FormatName, string>> = {
  jsonl: 'JSON lines',
  sitemap: 'a sitemap',
  parquet: 'Parquet',
}

function flagsFor({ format, field, columns }: Looks): string {
  if (format === 'text') return '--extract'
  if (columns) return `--format ${format} --field NAME, one of ${columns.slice(0, 20).join(', ')}`
  return field === undefined ? `--format ${format}` : `--format ${format} --field ${field}`
}
