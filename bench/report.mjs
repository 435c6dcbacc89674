// Prints a results file: `node report.mjs [--check] [FILE]`, the newest one when none is named; --check exits
// with 1 when a bound does not hold or the run is invalid. It only reads what was measured.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isFull, judge, ratio } from './bounds.mjs'
import { readResults, runsDirectory } from './results.mjs'
import { summarise } from './summary.mjs'
import { figure, table, times, whole } from './table.mjs'

const rivalOf = { bloomfilter: 'bloomfilter-1e-3', 'bloom-filters': 'bloom-filters-1e-3', Set: 'set' }
const addOperations = ['add', 'has + add', 'addMany', 'addLines']

/** The report of a results file as text, and whether the run missed what it must show. */
export function report(file) {
  const { run, subjects, samples, skips, faults } = readResults(file)
  const summary = summarise(samples)
  const verdicts = judge(run, summary)
  const sections = [
    headingSection(file, run),
    ...faults.map(({ reason }) => `INVALID: ${reason}`),
    ...['command', 'threads'].flatMap((group) =>
      ['repeats', 'distinct'].map((stream) => commandSection(group, stream, summary)),
    ),
    librarySection(summary),
    boundsSection(run, verdicts),
    versionsSection(subjects),
    skipsSection(skips),
  ]
  const text = `${sections.filter((section) => section !== '').join('\n\n')}\n`
  return { text, missed: faults.length > 0 || verdicts.some(({ holds }) => holds === false) }
}

function headingSection(file, run) {
  const commit = run.commit ? `${run.commit.slice(0, 12)}${run.dirty ? ' with changes' : ''}` : 'none yet'
  return [
    `${run.command}`,
    `${run.date}  commit ${commit}  seed ${run.seed}  generator ${run.generatorVersion}  ${run.rounds} rounds`,
    `${run.cpu}, ${run.cores} cores, ${figure(run.memoryBytes / 1e9)} GB, ${run.system}, Node ${run.node}`,
    file,
  ].join('\n')
}

function commandSection(group, stream, summary) {
  const entries = entriesOf(summary, `${group}/${stream}/`)
  if (entries.length === 0) return ''
  const { lines, bytes, distinct, outputTo } = entries[0]
  const ours = summary.get(`${group}/${stream}/urlsieve-raw${group === 'threads' ? '-1' : ''}`)
  const rows = entries.map((entry) => [
    entry.subject,
    figure(1e3 / entry.ns.median),
    figure(entry.ns.median),
    spreadText(entry.ns),
    figure(entry.cpuNs?.median),
    figure((bytes / lines / entry.ns.median) * 1e3),
    figure(entry.peakRssBytes && entry.peakRssBytes / 1e6),
    whole(entry.printedLines),
    whole(entry.wrongDrops),
    entry.exactOutput === null ? 'any order' : entry.exactOutput ? 'yes' : 'no',
    times(ratio(ours, entry)),
  ])
  const titles = [
    'command',
    'M lines/s',
    'ns/line',
    'min…max',
    'CPU ns',
    'MB/s',
    'RSS MB',
    'printed',
    'wrong drops',
  ]
  return [
    `${group === 'threads' ? 'Threads' : 'Command'}, ${stream}: ${whole(lines)} lines, ${figure(bytes / 1e6)} MB, ${whole(distinct)} distinct; ` +
      `whole process, page cache to a file in ${outputTo}`,
    table([...titles, 'exact', `${ours?.subject ?? 'urlsieve-raw'} is`], rows),
  ].join('\n')
}

function librarySection(summary) {
  const entries = entriesOf(summary, 'library/')
  if (entries.length === 0) return ''
  const rows = entries.map((entry) => [
    `${entry.subject}${entry.extrapolated ? ' ~' : ''}`,
    entry.operation,
    figure(1e3 / entry.ns.median),
    figure(entry.ns.median),
    spreadText(entry.ns),
    figure(entry.cpuNs?.median),
    figure(entry.bitsPerUrl),
    whole(entry.wrongDrops),
    rateText(entry),
    ...Object.values(rivalOf).map((rival) =>
      times(ratio(entry, rivalEntry(summary, rival, entry.operation))),
    ),
  ])
  const titles = [
    'filter',
    'operation',
    'M ops/s',
    'ns/op',
    'min…max',
    'CPU ns',
    'bits/URL',
    'wrong drops',
    'false positives',
  ]
  const few = entries.find(({ extrapolated }) => extrapolated)
  const broken = entries.filter(({ falseNegatives }) => falseNegatives > 0)
  return [
    `Library: ${whole(Math.max(...entries.map(({ urls }) => urls)))} distinct URLs as flat strings or bytes`,
    table([...titles, ...Object.keys(rivalOf).map((name) => `× ${name}`)], rows),
    '× compares adding with the rival’s add, asking with its has. Bits of Set: its heap, strings included.',
    ...(few ? [`~ measured with ${whole(few.urls)} URLs only; its speed for more is an extrapolation.`] : []),
    ...broken.map(({ subject, falseNegatives }) => `WRONG: ${subject} forgot ${whole(falseNegatives)} URLs.`),
  ].join('\n')
}

/** What an operation is compared with: adding with the rival's add, asking with the same question. */
function rivalEntry(summary, rival, operation) {
  return summary.get(`library/${rival}/${addOperations.includes(operation) ? 'add' : operation}`)
}

function boundsSection(run, verdicts) {
  const rows = verdicts.map(({ text, limit, atMost, value, holds }) => [
    text,
    `${atMost ? '≤' : '≥'} ${limit}`,
    figure(value),
    value === undefined ? 'not measured' : holds === undefined ? 'not judged' : holds ? 'pass' : 'FAIL',
  ])
  const caution = isFull(run) ? '' : ' (judged at 10,000,000 lines only)'
  return [`Must show${caution}`, table(['bound', 'limit', 'measured', ''], rows)].join('\n')
}

function versionsSection(subjects) {
  const versions = [...new Set(subjects.map(({ version }) => version).filter(Boolean))]
  return versions.length === 0 ? '' : `Versions: ${versions.join('; ')}`
}

function skipsSection(skips) {
  return skips.map((skip) => `skipped ${skip.case}: ${skip.reason}`).join('\n')
}

function entriesOf(summary, prefix) {
  return [...summary].filter(([key]) => key.startsWith(prefix)).map(([, entry]) => entry)
}

function spreadText({ min, max }) {
  return `${figure(min)}…${figure(max)}`
}

function rateText({ operation, falsePositives, ops }) {
  if (operation !== 'has miss') return undefined
  return falsePositives === 0 ? `0 of ${whole(ops)}` : (falsePositives / ops).toExponential(1)
}

function newestResults() {
  const newest = readdirSync(runsDirectory)
    .filter((name) => name.endsWith('.ndjson'))
    .sort()
    .at(-1)
  if (newest === undefined) throw new Error(`no results in ${runsDirectory}: run npm run bench first`)
  return join(runsDirectory, newest)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    options: { check: { type: 'boolean' } },
    allowPositionals: true,
  })
  const { text, missed } = report(positionals[0] ?? newestResults())
  process.stdout.write(text)
  if (values.check && missed) process.exitCode = 1
}
