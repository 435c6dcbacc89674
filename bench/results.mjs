// Results as NDJSON: a `run` record (machine, load, versions, seed, command), then one per `sample` (one operation in one
// round), `subject` (its version) or `skip` (what was not measured, and why). A `fault` makes the whole run worthless.
// Nothing is averaged here. Runs go to runs/, which is not committed; recorded ones (record.mjs) to results/, which is.

import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const formatVersion = 1
export const runsDirectory = fileURLToPath(new URL('runs/', import.meta.url))
const resultsDirectory = fileURLToPath(new URL('results/', import.meta.url))

/** The recorded groups; each has one file. */
export const recordedNames = ['command', 'library', 'server']

export const recordedFile = (name, directory = resultsDirectory) => join(directory, `${name}.ndjson`)

/** Names the file that a run writes, instead of one in runs/. */
export const fileVariable = 'URLSIEVE_BENCH_FILE'
const root = fileURLToPath(new URL('..', import.meta.url))

export class ResultsFile {
  constructor(facts) {
    const date = new Date().toISOString()
    const { commit, dirty } = commitOf()
    const name = `${date.slice(0, 19).replaceAll(':', '')}-${commit?.slice(0, 7) ?? 'uncommitted'}.ndjson`
    this.file = process.env[fileVariable] ?? join(runsDirectory, name)
    mkdirSync(dirname(this.file), { recursive: true })
    this.write({ type: 'run', formatVersion, date, commit, dirty, ...machineOf(), ...facts })
  }

  write(record) {
    appendFileSync(this.file, `${JSON.stringify(record)}\n`)
  }
}

/** The records of a file by their type. */
export function readResults(file) {
  const records = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  const run = records[0]
  if (run?.type !== 'run' || run.formatVersion !== formatVersion) {
    const got = `${run?.type} of format ${run?.formatVersion}`
    throw new Error(`${file}: expected a run of format ${formatVersion}, got ${got}`)
  }
  return {
    run,
    subjects: records.filter(({ type }) => type === 'subject'),
    samples: records.filter(({ type }) => type === 'sample'),
    skips: records.filter(({ type }) => type === 'skip'),
    faults: records.filter(({ type }) => type === 'fault'),
  }
}

function machineOf() {
  const cores = cpus()
  return {
    cpu: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memoryBytes: totalmem(),
    system: `${process.platform} ${release()} ${process.arch}`,
    node: process.version,
    load: loadavg()[0],
  }
}

function commitOf() {
  const git = (...args) => execFileSync('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const commit = git('rev-parse', 'HEAD').toString().trim()
    return { commit, dirty: git('status', '--porcelain').length > 0 }
  } catch {
    return { commit: null, dirty: true }
  }
}
