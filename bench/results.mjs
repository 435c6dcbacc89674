// Results as NDJSON in results/: a `run` record (machine, versions, seed, command), then one per `sample`
// (one operation in one round), `subject` (its version) or `skip` (what was not measured, and why).
// A `fault` makes the whole run worthless. Nothing is averaged here.

import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const formatVersion = 1
export const resultsDirectory = fileURLToPath(new URL('results/', import.meta.url))
const root = fileURLToPath(new URL('..', import.meta.url))

export class ResultsFile {
  constructor(facts) {
    const date = new Date().toISOString()
    const { commit, dirty } = commitOf()
    mkdirSync(resultsDirectory, { recursive: true })
    const name = `${date.slice(0, 19).replaceAll(':', '')}-${commit?.slice(0, 7) ?? 'uncommitted'}.ndjson`
    this.file = join(resultsDirectory, name)
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
