// What `urlsieve search` prints: rows for people, as CSV or as JSON, and how good, how large and how fast that was.

import { formatBytes, formatCount, formatCounted } from '../quantities.ts'
import type { Row } from '../search/corpus.ts'
import type { Answer } from '../search/dataset.ts'
import type { Index } from '../search/index-file.ts'
import { Output, writeStderr } from './output.ts'
import type { Made, SearchFlags } from './search.ts'
import { table } from './table.ts'

/** What the linear scans found and took. */
export interface Scans {
  readonly rows: number
  /** Cutting every row's text into words. */
  readonly textsMs: number
  /** Over words prepared before the clock started. */
  readonly preparedMs: number
}

export interface Search {
  readonly flags: SearchFlags
  readonly words: readonly string[]
  readonly index: Index
  /** Indices of the columns searched. */
  readonly searched: readonly number[]
  readonly answer: Answer
  readonly rows: readonly Row[]
  readonly filterMs: number
  readonly readMs: number
  readonly made: Made
  readonly scans: Scans | null
}

const SHOWN_ROWS = 20
const SHOWN_COLUMNS = 4
const CELL_CHARACTERS = 60

export function printSearch(search: Search): void {
  const { flags, rows } = search
  const output = new Output()
  if (flags.json) {
    output.print(`${JSON.stringify(asJson(search), null, 2)}\n`)
    return
  }
  if (flags.csv) {
    const lines = rows.slice(0, flags.limit).map(({ fields }) => csvLine(fields))
    output.print([csvLine(search.index.columns), ...lines].join(''))
    if (!flags.quiet) writeStderr(summary(search))
    return
  }
  output.print(listing(search))
  if (!flags.quiet) output.print(`\n${summary(search)}`)
}

/** One line of CSV (RFC 4180), quoted where it has to be. */
export function csvLine(fields: readonly string[]): string {
  const quoted = fields.map((field) =>
    /[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field,
  )
  return `${quoted.join(',')}\r\n`
}

function listing({ flags, words, answer, index, searched, rows }: Search): string {
  const phrase = words.join(' ')
  if (answer.absent.length > 0) return `certainly not there: no row holds ${answer.absent.join(', ')}\n`
  if (answer.rows.length === 0) return `certainly not there: no row holds all of ${phrase}\n`
  if (rows.length === 0) return `not there: no row holds all of ${phrase}\n`
  const columns = searched.slice(0, SHOWN_COLUMNS)
  const limit = flags.limit ?? SHOWN_ROWS
  const lines = rows
    .slice(0, limit)
    .map(({ row, fields }) => [row + 1, ...columns.map((c) => cell(fields[c]!))])
  const more = rows.length > limit ? `… and ${formatCount(rows.length - limit)} more (--limit)\n` : ''
  return table(['row', ...columns.map((c) => cell(index.columns[c]!))], lines) + more
}

function cell(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  const characters = [...line]
  return characters.length > CELL_CHARACTERS ? `${characters.slice(0, CELL_CHARACTERS - 1).join('')}…` : line
}

const ms = (time: number) => `${time < 10 ? time.toPrecision(2) : time.toFixed(0)} ms`
const factor = (ratio: number) => ratio.toFixed(ratio < 10 ? 1 : 0)
const percent = (share: number) => `${(share * 100).toFixed(share < 0.1 ? 2 : 1)} %`

function summary({ flags, index, answer, rows, filterMs, readMs, made, scans }: Search): string {
  const { counts, dictionary, rowFilters, sizeBytes } = index.dataset
  const candidates = answer.rows.length
  const found = flags.unverified
    ? `${formatCounted(candidates, 'row')} of ${formatCount(counts.rows)} may hold the words, unverified`
    : `${formatCounted(rows.length, 'row')} of ${formatCount(counts.rows)}, of ${formatCounted(candidates, 'candidate')}` +
      (candidates > 0 ? `: precision ${percent(rows.length / candidates)}` : '')
  const memory =
    `${formatBytes(sizeBytes)} (rows ${formatBytes(rowFilters.sizeBytes)}, dictionary ` +
    `${formatBytes(dictionary.signatures.sizeBytes)}), ${percent(sizeBytes / counts.rawBytes)} of the raw words' ` +
    formatBytes(counts.rawBytes)
  const times = (scan: number) => `${ms(scan)} (${factor(scan / filterMs)} times the filter's)`
  const lines = [
    ['found', found],
    [
      'rates',
      `row filters ${rowFilters.rate.toPrecision(2)} a word; dictionary ${dictionary.rate().toPrecision(2)}, ` +
        `${formatCounted(counts.words, 'word')} in ${formatCounted(dictionary.layers, 'layer')}`,
    ],
    ['memory', memory],
    [
      'time',
      `filter ${ms(filterMs)}, then ${ms(readMs)} to read${flags.unverified ? '' : ' and check'} the candidates`,
    ],
    ...(scans
      ? [['scan', `prepared words ${times(scans.preparedMs)}; cutting each text ${times(scans.textsMs)}`]]
      : []),
    ['index', `${made.how}${flags.index === undefined ? '' : ` ${flags.index}`} in ${ms(made.ms)}`],
  ]
  return `${lines.map(([name, text]) => `${name!.padEnd(8)}${text}`).join('\n')}\n`
}

function asJson({ flags, words, index, answer, rows, filterMs, readMs, made, scans }: Search): unknown {
  const { counts, dictionary, rowFilters, sizeBytes } = index.dataset
  const { columns } = index
  const candidates = answer.rows.length
  return {
    words,
    mayHold: answer.mayHold,
    absent: answer.absent,
    candidates,
    verified: flags.unverified ? null : rows.length,
    precision: flags.unverified || candidates === 0 ? null : rows.length / candidates,
    rows: rows.slice(0, flags.limit).map(({ row, fields }) => ({
      row: row + 1,
      fields: Object.fromEntries(columns.map((name, c) => [name, fields[c]])),
    })),
    dataset: counts,
    rates: { rows: rowFilters.rate, dictionary: dictionary.rate() },
    dictionary: {
      reading: dictionary.reading,
      layers: dictionary.layers,
      sizeBytes: dictionary.signatures.sizeBytes,
    },
    bands: rowFilters.bands.map((band) => ({
      rows: band.rows.length,
      bits: band.signatures.bits,
      hashes: band.signatures.hashes,
    })),
    sizeBytes,
    ms: {
      filter: filterMs,
      read: readMs,
      index: made.ms,
      scan: scans && { prepared: scans.preparedMs, texts: scans.textsMs },
    },
    index: made.how,
  }
}
