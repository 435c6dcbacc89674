// Measures, then reports: `npm run bench -- --help` lists the options.
// Every sample is a fresh process; the order of the cases is reversed from one round to the next.

import { parseArgs } from 'node:util'
import { commandGroups, threadGroups } from './cases/command.mjs'
import { libraryGroups } from './cases/library.mjs'
import { buildDigest } from './programs.mjs'
import { report } from './report.mjs'
import { ResultsFile } from './results.mjs'
import { generatorVersion } from './urls.mjs'

const help = `usage: npm run bench -- [options]
  --lines N        lines of a stream, and distinct URLs for the library (default 10000000)
  --quick          300000 lines: a smoke test, too short for the bounds
  --rounds N       samples of each case (default 3)
  --seed N         of the generator (default 1)
  --only GROUP     command, threads, library, server or rates; the last two have options of their own: --only rates --help
  --case NAME      only cases whose name contains NAME; may be given more than once
  --list           name the cases and stop
  --record         the runs that are published, at full size on an idle machine, into results/ (--only, --rounds)
  --report         write the tables of docs/benchmarks.md and the README and the chart from results/
                   (--from FOLDER: other results; --to FOLDER: write there instead)
  --check [NAME]   only the gates of speed (gates/), or those named: one line each, exit code 1 when one fails
`

const groupsByName = { command: commandGroups, threads: threadGroups, library: libraryGroups }

async function main() {
  const args = process.argv.slice(2)
  const command = ['npm run bench --', ...args].join(' ')
  if (args.includes('--record')) return recordRuns(args)
  if (args.includes('--report')) return writeReport(args)
  if (args.includes('--check')) {
    const { check } = await import('./check.mjs')
    if (!(await check(args.filter((arg) => arg !== '--check')))) process.exitCode = 1
    return
  }
  const only = args.indexOf('--only')
  if (only >= 0 && args[only + 1] === 'server') {
    const { benchServer } = await import('./server.mjs')
    return benchServer(args.toSpliced(only, 2), command)
  }
  if (only >= 0 && args[only + 1] === 'rates') {
    const { benchRates } = await import('./rates.mjs')
    return benchRates(args.toSpliced(only, 2))
  }
  const settings = settingsOf(args)
  if (settings.help) return void process.stdout.write(help)
  const groups = groupsOf(settings)
  if (settings.list) {
    for (const { id } of groups.flatMap(({ cases }) => cases)) process.stdout.write(`${id}\n`)
    return
  }
  const { lines, seed, rounds } = settings
  const unbuilt = groups.flatMap(({ cases }) => cases).find(({ required, missing }) => required && missing())
  if (unbuilt) throw new Error(unbuilt.missing())
  const build = buildDigest()
  const results = new ResultsFile({ command, lines, seed, rounds, generatorVersion, build })
  for (const group of groups) await runGroup(group, settings, results)
  if (buildDigest() !== build) {
    results.write({
      type: 'fault',
      reason: 'dist/ was rebuilt during the run: its samples are of two programs',
    })
    process.exitCode = 1
  }
  process.stdout.write(report(results.file).text)
}

async function recordRuns(args) {
  const text = { type: 'string' }
  const { values } = parseArgs({ args, options: { record: { type: 'boolean' }, only: text, rounds: text } })
  const { record } = await import('./record.mjs')
  await record(values)
}

async function writeReport(args) {
  const text = { type: 'string' }
  const { values } = parseArgs({ args, options: { report: { type: 'boolean' }, from: text, to: text } })
  const { publish } = await import('./publish.mjs')
  for (const path of publish({ directory: values.from, to: values.to })) process.stdout.write(`${path}\n`)
}

function settingsOf(args) {
  const { values } = parseArgs({
    args,
    options: {
      lines: { type: 'string' },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '3' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
      case: { type: 'string', multiple: true, default: [] },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.only !== undefined && !Object.hasOwn(groupsByName, values.only)) {
    throw new Error(`--only is ${Object.keys(groupsByName).join(', ')}, server or rates, got ${values.only}`)
  }
  return {
    ...values,
    lines: countOf('--lines', values.lines ?? (values.quick ? '300000' : '10000000'), 1000, 1_000_000_000),
    rounds: countOf('--rounds', values.rounds, 1, 1000),
    seed: countOf('--seed', values.seed, 1, 2 ** 31 - 1),
    onGenerate: (file) => process.stderr.write(`generating ${file}\n`),
  }
}

function countOf(option, text, least, most) {
  const count = Number(text)
  if (Number.isInteger(count) && count >= least && count <= most) return count
  throw new Error(`${option} is a whole number from ${least} to ${most}, got ${text}`)
}

/** The groups with the cases selected. */
function groupsOf(settings) {
  const { only, case: names } = settings
  const wanted = only === undefined ? Object.values(groupsByName) : [groupsByName[only]]
  const groups = wanted.flatMap((groupsFor) => groupsFor(settings))
  const ids = groups.flatMap(({ cases }) => cases.map(({ id }) => id))
  const unknown = names.find((name) => !ids.some((id) => id.includes(name)))
  if (unknown !== undefined) throw new Error(`no case is named like ${unknown}; see --list`)
  const isSelected = ({ id }) => names.length === 0 || names.some((name) => id.includes(name))
  return groups
    .map((group) => ({ ...group, cases: group.cases.filter(isSelected) }))
    .filter(({ cases }) => cases.length > 0)
}

async function runGroup({ cases, prepare, release }, { rounds }, results) {
  const able = cases.filter(({ id, missing }) => {
    const reason = missing()
    if (reason) skip(results, id, reason)
    return !reason
  })
  if (able.length === 0) return
  for (const { id, version } of able) results.write({ type: 'subject', case: id, version: version() })
  const stage = prepare()
  const interrupt = new AbortController()
  const stop = () => interrupt.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const one of round % 2 === 1 ? able : able.toReversed()) {
        process.stderr.write(`round ${round}/${rounds}  ${one.id}\n`)
        await runCase(one, { stage, signal: interrupt.signal }, round, results)
      }
    }
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    release(stage)
  }
}

/** A case that fails is reported, the others go on, and the run ends with 1. */
async function runCase({ id, run }, { stage, signal }, round, results) {
  try {
    const samples = await run(stage, signal)
    for (const sample of samples) results.write({ type: 'sample', case: id, round, ...sample })
  } catch (error) {
    if (signal.aborted) throw new Error(`interrupted; so far: ${results.file}`)
    skip(results, id, error.message)
    process.exitCode = 1
  }
}

function skip(results, id, reason) {
  process.stderr.write(`skipped ${id}: ${reason}\n`)
  results.write({ type: 'skip', case: id, reason })
}

try {
  await main()
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`)
  process.exitCode = 1
}
