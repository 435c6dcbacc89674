// A trial: the command ended again and again over the same store and outputs, then one run to its end. What was delivered by all
// of them has every record.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { randomFrom } from '../support/random.mjs'
import { Delivered, verdictOf } from './delivery-check.mjs'
import { INPUTS } from './delivery-data.mjs'
import { OUTPUTS, runOf } from './delivery-grid.mjs'
import { run, sizeOf } from './delivery-run.mjs'

const MIB = 1024 ** 2
const USAGE = 2
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }
/** Shares of the kills: before the first byte, and near the end. */
const EARLY = 0.08
const LATE = 0.1
const NEAR_END_BYTES = 30_000
const START_MS = 150
const REST_MS = 4

/** A number for a text: seeds that differ from trial to trial. */
export function seedOf(text) {
  let seed = 0
  for (const character of text) seed = (Math.imul(seed, 31) + character.charCodeAt(0)) | 0
  return seed
}

/** When each of `kills` runs is ended, by the bytes that all of them delivered. */
function endsOf(trial, kills, totalBytes, random) {
  const points = Array.from({ length: kills }, () => random() * totalBytes).sort((a, b) => a - b)
  return points.map((point) => {
    const kind = random()
    const rests = random() < 0.5
    const ms = rests ? random() * REST_MS : 0
    const { signal } = trial
    if (kind < EARLY) return { signal, point: 0, ms: random() * START_MS, rests: false }
    if (kind < EARLY + LATE) return { signal, point: totalBytes - random() * NEAR_END_BYTES, ms, rests }
    return { signal, point, ms, rests }
  })
}

/** Runs a trial; returns what was counted, and `problems`: what the promise of the new code does not allow. */
export async function runTrial(trial, { command, isOld, input, folder, kills, redisUrl, redisJob }) {
  mkdirSync(folder, { recursive: true })
  const random = randomFrom(seedOf(trial.name))
  const records = input.records[INPUTS[trial.input].isRows ? 'csv' : 'lines']
  const output = OUTPUTS[trial.output]
  // With a file for repeats every run delivers all that it reads.
  const isWhole = output.repeated !== undefined
  const totalBytes = isWhole ? sizeOf(join(input.folder, mainFileOf(trial))) : records.bytes.length
  const result = { trial, runs: 0, ended: 0, problems: [] }
  const pieces = { main: [], repeated: [], invalid: [] }
  let delivered = 0
  let appended = 0
  let isDone = false
  const settings = { folder, inputFolder: input.folder, isOld, redisUrl, redisJob }
  const one = async (end) => {
    const request = runOf(trial, { ...settings, runNumber: ++result.runs })
    const before = request.watched.reduce((sum, path) => sum + sizeOf(path), 0)
    const ran = await run({ command, ...request, end })
    const after = request.watched.reduce((sum, path) => sum + sizeOf(path), 0)
    delivered += ran.delivered ? ran.delivered.length : after - before
    if (ran.delivered) pieces.main.push(ran.delivered)
    else if (request.append) {
      if (existsSync(request.append)) pieces.main.push(readFileSync(request.append).subarray(appended))
      appended = sizeOf(request.append)
    } else keepPaths(pieces, output, request.places, isOld)
    return ran
  }
  for (const { point, ...how } of endsOf(trial, kills, totalBytes, random)) {
    const bytes = Math.max(0, point - (isWhole ? 0 : delivered))
    const ran = await one({ ...how, bytes })
    if (ran.code === USAGE) return { ...result, refused: ran.stderr.trim() }
    if (ran.hangs) result.problems.push('hangs')
    isDone = ran.code === 0
    if (isDone) break
    result.ended++
    if (!isOld || ran.signal !== trial.signal) result.problems.push(...problemsOf(ran, trial.signal))
  }
  if (!isDone) {
    const last = await one()
    if (last.code !== 0) {
      result.problems.push(`last run: exit ${last.code ?? last.signal}: ${last.stderr.trim()}`)
      return { ...result, isUnfinished: true }
    }
  }
  Object.assign(result, verdictOf(input, records, countsOf(pieces, records, trial)))
  result.problems.push(...problemsOfOutputs(result, trial, isOld))
  rmSync(folder, { recursive: true, force: true })
  return result
}

const mainFileOf = ({ input }) => INPUTS[input].stdin ?? (INPUTS[input].isRows ? 'rows.csv' : 'plain.txt')

// The old code has new files in each run; of the new code the last state of a file is what counts.
function keepPaths(pieces, output, places, isOld) {
  for (const kind of ['main', 'repeated', 'invalid']) {
    const found = (output[kind] ?? []).flatMap((flag) => filesOf(places[flag]))
    if (isOld) pieces[kind].push(...found)
    else pieces[kind] = found
  }
}

function filesOf(path) {
  if (!existsSync(path)) return []
  try {
    return readdirSync(path).map((name) => readFileSync(join(path, name)))
  } catch (error) {
    if (error.code !== 'ENOTDIR') throw error
    return [readFileSync(path)]
  }
}

function countsOf(pieces, records, { output, input }) {
  const counted = {}
  for (const kind of ['main', 'repeated', 'invalid']) {
    if (kind !== 'main' && !OUTPUTS[output][kind]) continue
    counted[kind] = new Delivered(records, INPUTS[input].isRows ?? false)
    for (const piece of pieces[kind]) counted[kind].add(piece)
  }
  return counted
}

function problemsOf({ code, signal, stderr }, sent) {
  if (sent === 'SIGKILL') {
    return signal === sent && stderr === '' ? [] : [`${sent}: exit ${code ?? signal}, ${stderr.trim()}`]
  }
  // Before it listens to signals it has done nothing.
  if (signal === sent && stderr === '') return []
  const lines = stderr.trimEnd().split('\n').length
  if (code === EXIT_CODES[sent] && stderr !== '' && lines === 1) return []
  return [
    `${sent}: exit ${code ?? signal} with ${stderr === '' ? 0 : lines} lines on stderr: ${stderr.trim()}`,
  ]
}

function problemsOfOutputs(result, trial, isOld) {
  const { lost, lostLines, twice, twiceBytes, foreign, foreignLines, torn, ended } = result
  const { signal, threads, output } = trial
  const problems = []
  if (lost > 0) problems.push(`${lost} lines lost, such as ${lostLines.join(' and ')}`)
  if (foreign > 0) problems.push(`${foreign} lines that are no record: ${foreignLines.join(' and ')}`)
  if (isOld) return problems
  const mostTwice = signal === 'SIGKILL' ? ended * threads * MIB : 0
  if (twiceBytes > mostTwice)
    problems.push(`${twice} lines of ${twiceBytes} bytes twice: at most ${mostTwice}`)
  const isStdout = OUTPUTS[output].isPipe || OUTPUTS[output].append
  if (torn > (isStdout && signal === 'SIGKILL' ? ended : 0))
    problems.push(`${torn} outputs end within a record`)
  return problems
}
