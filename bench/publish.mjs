// From the recorded results to what readers see: the tables of docs/benchmarks.md and the README between their marks, and
// the chart. `npm run bench -- --report` writes them; a test compares them with the results, so they cannot be stale.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawChart, themeNames } from './chart.mjs'
import { readResults, recordedFile, recordedNames } from './results.mjs'
import { serverSummary } from './server-summary.mjs'
import { summarise } from './summary.mjs'
import { figure, markdownTable, times, whole } from './table.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = ['README.md', 'docs/benchmarks.md']
const nothingYet = '_No run is recorded yet: `npm run bench -- --record`, then `npm run bench -- --report`._'

const commandLabels = {
  'urlsieve-raw': '`urlsieve dedupe --profile raw`',
  'urlsieve-web': '`urlsieve dedupe`',
  'native-c++': 'native C++, as a bound',
  mawk: "`mawk '!s[$0]++'`",
  gawk: "`gawk '!s[$0]++'`",
  'sort-u': '`sort -u`',
  'duckdb-1-thread': 'DuckDB `DISTINCT`, 1 thread',
  'duckdb-2-threads': 'DuckDB `DISTINCT`, 2 threads',
  'set-readline': 'Node `Set` + readline',
  huniq: '`huniq`',
  runiq: '`runiq`',
}

/** Every file with the text it must have, from the results in `directory`. */
export function publications(directory) {
  const runs = new Map(
    recordedNames
      .map((name) => [name, recordedFile(name, directory)])
      .filter(([, file]) => existsSync(file))
      .map(([name, file]) => [name, readResults(file)]),
  )
  const sections = sectionsOf(runs)
  const files = new Map()
  for (const page of pages) {
    const path = join(root, page)
    if (existsSync(path)) files.set(page, fill(readFileSync(path, 'utf8'), sections, page))
  }
  const command = runs.get('command')
  for (const theme of themeNames) files.set(`docs/images/dedupe-${theme}.svg`, chartOf(command, theme))
  return files
}

/** Writes the files below `to`; returns their paths. */
export function publish({ directory, to = root }) {
  const files = publications(directory)
  for (const [path, text] of files) {
    const file = join(to, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  return [...files.keys()]
}

/** `text` with what stands between `<!-- bench:NAME -->` and `<!-- /bench -->` replaced by the section of that name. */
function fill(text, sections, page) {
  return text.replace(/(<!-- bench:([\w-]+) -->\n)[\s\S]*?(\n<!-- \/bench -->)/g, (_, open, name, close) => {
    if (!(name in sections)) throw new Error(`${page}: no section of the benchmark is named ${name}`)
    return `${open}\n${sections[name]}\n${close}`
  })
}

function sectionsOf(runs) {
  const of = (name, make) => (runs.has(name) ? make(runs.get(name)) : nothingYet)
  return {
    machine: runs.size === 0 ? nothingYet : machineSection(runs),
    repeats: of('command', (results) => commandSection(results, 'repeats')),
    distinct: of('command', (results) => commandSection(results, 'distinct')),
    library: of('library', librarySection),
    server: of('server', serverSection),
    versions: runs.size === 0 ? nothingYet : versionsSection(runs),
    headline: of('command', headlineSection),
  }
}

function machineSection(runs) {
  const rows = [...runs].map(([name, { run }]) => [
    `\`bench/results/${name}.ndjson\``,
    run.date.slice(0, 10),
    `\`${run.commit?.slice(0, 10) ?? 'none'}\`${run.dirty ? ' with changes' : ''}`,
    String(run.rounds),
    `${run.cpu}, ${run.cores} cores, ${figure(run.memoryBytes / 1e9)} GB`,
    run.system,
    run.node,
    run.load === undefined ? undefined : run.load.toFixed(2),
    isFull(run, name) ? 'full' : `SMALL: ${whole(run.lines)} lines`,
  ])
  const titles = ['results', 'date', 'commit', 'rounds', 'machine', 'system', 'Node', 'load before', 'size']
  return markdownTable(titles, rows)
}

function commandSection({ run, samples }, stream) {
  const entries = entriesOf(samples, stream)
  if (entries.length === 0) return nothingYet
  const { lines, bytes, distinct, outputTo } = entries[0]
  const ours = entries.find(({ subject }) => subject === 'urlsieve-raw')
  const rows = entries.map((entry) => [
    labelOf(entry),
    figure(1e3 / entry.ns.median),
    figure(entry.ns.median),
    spreadText(entry.ns),
    figure(entry.cpuNs?.median),
    whole(entry.peakRssBytes && Math.round(entry.peakRssBytes / 1e6)),
    whole(entry.wrongDrops),
    entry.exactOutput === null ? 'any order' : entry.exactOutput ? 'first occurrences' : 'NO',
    times(entry.ns.median / ours.ns.median),
  ])
  const titles = [
    'command',
    'M lines/s',
    'ns per line',
    'min…max',
    'CPU ns',
    'peak MB',
    'wrong drops',
    'output',
    'time, urlsieve `raw` = 1',
  ]
  return [
    `${whole(lines)} lines, ${figure(bytes / 1e6)} MB, ${whole(distinct)} distinct; from the page cache to a file in ` +
      `${outputTo}; medians of ${run.rounds} rounds.`,
    '',
    markdownTable(titles, rows),
  ].join('\n')
}

function librarySection({ run, samples }) {
  const entries = [...summarise(samples).values()]
  const adding = ['add', 'has + add', 'addMany', 'addLines']
  const misses = new Map(
    entries.filter(({ operation }) => operation === 'has miss').map((entry) => [entry.subject, entry]),
  )
  const base = entries.find(({ subject, operation }) => subject === 'set' && operation === 'add')
  const rows = entries
    .filter(({ operation }) => adding.includes(operation))
    .map((entry) => [
      `\`${entry.subject}\`${entry.extrapolated ? ` (${whole(entry.urls)} URLs)` : ''}`,
      entry.operation,
      figure(entry.ns.median),
      spreadText(entry.ns),
      entry.bitsPerUrl === undefined ? undefined : figure(entry.bitsPerUrl),
      whole(entry.wrongDrops),
      rateText(misses.get(entry.subject)),
      base && times(base.ns.median / entry.ns.median),
    ])
  const urls = Math.max(...entries.map((entry) => entry.urls))
  const titles = [
    'filter',
    'operation',
    'ns per URL',
    'min…max',
    'bits per URL',
    'wrong drops',
    'false positives',
    'speed, `Set` = 1',
  ]
  return [
    `${whole(urls)} distinct URLs; medians of ${run.rounds} rounds.`,
    '',
    markdownTable(titles, rows),
  ].join('\n')
}

function serverSection({ run, samples }) {
  const { rates, crowd } = serverSummary(samples)
  const base = rates.get('SADD -P 64')
  const rows = [...rates].map(([name, { median, min, max }]) => [
    name === 'SADD -P 64' ? `${name} (${redisVersion(run)})` : name,
    figure(median / 1e6),
    `${figure(min / 1e6)}…${figure(max / 1e6)}`,
    base && times(median / base.median),
  ])
  const lines = [
    `${whole(run.lines)} URLs per case; medians of ${run.rounds} rounds.`,
    '',
    markdownTable(['load', 'M URLs/s', 'min…max', '× `SADD`'], rows),
  ]
  if (crowd) {
    lines.push(
      '',
      `256 connections for ${figure(crowd.seconds)} s: ${figure(crowd.perSecond / 1e6)} M URLs/s, p50 ${crowd.p50} ms, ` +
        `p99 ${crowd.p99} ms, max ${crowd.max} ms, ${whole(Math.round(crowd.rssLast / 1e6))} MB.`,
    )
  }
  return lines.join('\n')
}

function versionsSection(runs) {
  const versions = [...runs.values()].flatMap(({ run, subjects }) => [
    ...subjects.map(({ version }) => version),
    run.redis && redisVersion(run),
  ])
  return [...new Set(versions.filter(Boolean))].map((version) => `- ${version}`).join('\n')
}

/** The README's line under the chart. */
function headlineSection({ run, samples }) {
  const entries = new Map(entriesOf(samples, 'repeats').map((entry) => [entry.subject, entry]))
  const ours = entries.get('urlsieve-raw')
  const ratioOf = (name) => entries.get(name).ns.median / ours.ns.median
  const slower = ['set-readline', 'mawk', 'gawk', 'sort-u', 'duckdb-1-thread', 'runiq', 'huniq']
    .filter((name) => entries.has(name))
    .map((name) => `${figure(ratioOf(name))} times as fast as ${shortLabel(name)}`)
  const bound = entries.has('native-c++')
    ? `; a native C++ program that only does this is ${figure(1 / ratioOf('native-c++'))} times as fast as urlsieve`
    : ''
  return (
    `The first occurrences of ${whole(ours.lines)} lines, 60 % repeats, on ${run.cores} cores. With \`--profile raw\`, which ` +
    `compares lines as the others do, urlsieve is ${slower.join(', ')}${bound}. ` +
    'Method, spread and raw results: [docs/benchmarks.md](docs/benchmarks.md).'
  )
}

function chartOf(results, theme) {
  if (!results) return drawChart([], 'No run is recorded yet.', theme)
  const { run, samples } = results
  const rows = entriesOf(samples, 'repeats')
    .filter(({ subject }) => subject !== 'duckdb-2-threads')
    .map(({ subject, ns, peakRssBytes }) => ({
      label: shortLabel(subject),
      kind: subject.startsWith('urlsieve') ? 'ours' : subject === 'native-c++' ? 'bound' : 'theirs',
      speed: { median: 1e3 / ns.median, min: 1e3 / ns.max, max: 1e3 / ns.min },
      memory: (peakRssBytes ?? 0) / 1e6,
    }))
    .sort((a, b) => b.speed.median - a.speed.median)
  const { lines } = entriesOf(samples, 'repeats')[0]
  const caption =
    `First occurrences of ${whole(lines)} lines, 60 % repeats, start-up included; medians of ${run.rounds} rounds, ` +
    `${run.cores} cores, commit ${run.commit?.slice(0, 7) ?? 'none'}`
  return drawChart(rows, caption, theme)
}

function shortLabel(subject) {
  const labels = {
    'urlsieve-raw': 'urlsieve, raw lines',
    'urlsieve-web': 'urlsieve, URLs',
    'native-c++': 'native C++ (bound)',
    'sort-u': 'sort -u',
    'duckdb-1-thread': 'DuckDB, 1 thread',
    'duckdb-2-threads': 'DuckDB, 2 threads',
    'set-readline': 'Node Set + readline',
  }
  return labels[subject] ?? subject
}

const redisVersion = ({ redis }) => `redis-server ${/v=([\d.]+)/.exec(redis)?.[1] ?? ''}`.trim()

/** Whether a run has the size that is published. */
const isFull = ({ lines }, name) => lines === (name === 'server' ? 5_000_000 : 10_000_000)

const labelOf = ({ subject }) => commandLabels[subject] ?? subject

function entriesOf(samples, stream) {
  return [...summarise(samples)]
    .filter(([key]) => key.startsWith(`command/${stream}/`))
    .map(([, entry]) => entry)
    .sort((a, b) => a.ns.median - b.ns.median)
}

const spreadText = ({ min, max }) => `${figure(min)}…${figure(max)}`

function rateText(entry) {
  if (!entry) return undefined
  const { falsePositives, ops } = entry
  return falsePositives === 0 ? `0 of ${whole(ops)}` : (falsePositives / ops).toExponential(1)
}
