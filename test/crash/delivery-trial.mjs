// A trial: the command ended again and again over the same store and outputs, then one run to its end. What was delivered by all
// of them has every record.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
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
/** Share of the signals that come with a write, where the system can be made to; of those, with a write to the store. */
const WITHIN = 0.5
const STORE_SHARE = 0.3
/** Of one record, in a store. */
export const STORED_BYTES = 8

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

/** The runs of one trial over the same store and outputs, and what they delivered. */
export class Runs {
  /** Bytes that were delivered so far. */
  delivered = 0
  result
  #setting
  #records
  #pieces = { main: [], repeated: [], invalid: [] }
  #appendedBytes = 0

  constructor(trial, setting) {
    mkdirSync(join(setting.folder, 'to'), { recursive: true })
    this.#setting = setting
    this.#records = setting.input.records[INPUTS[trial.input].isRows ? 'csv' : 'lines']
    this.result = { trial, runs: 0, ended: 0, problems: [] }
  }

  /** With a file for repeats every run delivers all that it reads. */
  get isWhole() {
    return OUTPUTS[this.result.trial.output].repeated !== undefined
  }

  /** Distinct records. */
  get count() {
    return this.#records.count
  }

  /** Bytes that a run to its end delivers, the first one or (`isWhole`) any. */
  get totalBytes() {
    const { isRows, stdin, files } = INPUTS[this.result.trial.input]
    if (!this.isWhole) return this.#records.bytes.length
    return sizeOf(join(this.#setting.input.folder, stdin ?? (isRows ? files[0] : 'plain.txt')))
  }

  /** `end`: a signal. `of`: changes the request of the run. */
  async next({ end, of = (request) => request } = {}) {
    const { trial } = this.result
    const { input, command } = this.#setting
    const runNumber = ++this.result.runs
    const request = of({
      command,
      end,
      ...runOf(trial, { ...this.#setting, inputFolder: input.folder, runNumber }),
    })
    const written = () => request.watched.reduce((sum, path) => sum + sizeOf(path), 0)
    const before = written()
    const ran = await run(request)
    this.delivered += ran.delivered ? ran.delivered.length : written() - before
    if (ran.delivered) this.#pieces.main.push(ran.delivered)
    else if (request.append) this.#keepAppended(request.append)
    else this.#keepFiles(request.places)
    if (ran.hangs) this.result.problems.push('hangs')
    return ran
  }

  /** A last run to its end, if none has come to it; then what was delivered is counted. */
  async finish(isDone) {
    const { result } = this
    const last = isDone ? null : await this.next()
    if (last && last.code !== 0) {
      result.problems.push(`last run: exit ${last.code ?? last.signal}: ${last.stderr.trim()}`)
      result.isUnfinished = true
    } else {
      const { input } = this.#setting
      Object.assign(result, verdictOf(input, this.#records, this.#counts()))
    }
  }

  remove() {
    rmSync(this.#setting.folder, { recursive: true, force: true })
  }

  #keepAppended(path) {
    if (existsSync(path)) this.#pieces.main.push(readFileSync(path).subarray(this.#appendedBytes))
    this.#appendedBytes = sizeOf(path)
  }

  // The old code has new files in each run; of the new code the last state of a file is what counts.
  #keepFiles(places) {
    for (const kind of ['main', 'repeated', 'invalid']) {
      const found = (OUTPUTS[this.result.trial.output][kind] ?? []).flatMap((flag) => filesOf(places[flag]))
      if (this.#setting.isOld) this.#pieces[kind].push(...found)
      else this.#pieces[kind] = found
    }
  }

  #counts() {
    const { output, input } = this.result.trial
    const counted = {}
    for (const kind of ['main', 'repeated', 'invalid']) {
      if (kind !== 'main' && !OUTPUTS[output][kind]) continue
      counted[kind] = new Delivered(this.#records, INPUTS[input].isRows ?? false)
      for (const piece of this.#pieces[kind]) counted[kind].add(piece)
    }
    return counted
  }
}

// The signal comes from within: with a write to the outputs or to the store, whatever else the machine does. The last bytes before it
// are a short write.
function withinWrites({ signal, bytes }, runs, { folder, library }, random) {
  const isStore = OUTPUTS[runs.result.trial.output].isPipe || random() < STORE_SHARE
  const share = (STORED_BYTES * runs.count) / runs.totalBytes
  const env = {
    LD_PRELOAD: library,
    FAIL_ROOT: join(folder, isStore ? 'seen' : 'to'),
    FAIL_AFTER_BYTES: String(Math.floor(isStore ? bytes * share : bytes)),
    FAIL_SIGNAL: String(constants.signals[signal]),
    FAIL_COUNT: '0',
  }
  return (request) => ({ ...request, env: { ...request.env, ...env } })
}

/** Runs a trial; returns what was counted, and `problems`: what the promise of the new code does not allow. */
export async function runTrial(trial, setting) {
  const { kills, isOld } = setting
  const runs = new Runs(trial, setting)
  const { result } = runs
  const random = randomFrom(seedOf(trial.name))
  let isDone = false
  for (const { point, ...how } of endsOf(trial, kills, runs.totalBytes, random)) {
    const bytes = Math.max(0, point - (runs.isWhole ? 0 : runs.delivered))
    const end = { ...how, bytes }
    const isWithin = setting.library !== undefined && random() < WITHIN
    const ran = await runs.next(isWithin ? { of: withinWrites(end, runs, setting, random) } : { end })
    if (ran.code === USAGE) return { ...result, refused: ran.stderr.trim() }
    isDone = ran.code === 0
    if (isDone) break
    result.ended++
    if (!isOld || ran.signal !== trial.signal) result.problems.push(...problemsOf(ran, trial.signal))
  }
  await runs.finish(isDone)
  runs.remove()
  if (!result.isUnfinished) {
    result.problems.push(...problemsOfOutputs(result, isOld, trial.signal === 'SIGKILL'))
  }
  return result
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

function problemsOf({ code, signal, stderr }, sent) {
  if (sent === 'SIGKILL') {
    return signal === sent && stderr === '' ? [] : [`${sent}: exit ${code ?? signal}, ${stderr.trim()}`]
  }
  // Before it listens to signals it has done nothing.
  if (signal === sent && stderr === '') return []
  const lines = stderr.trimEnd().split('\n').length
  // A process that the signal itself ends has the same code in a shell.
  if ((code === EXIT_CODES[sent] || signal === sent) && stderr !== '' && lines === 1) return []
  return [
    `${sent}: exit ${code ?? signal} with ${stderr === '' ? 0 : lines} lines on stderr: ${stderr.trim()}`,
  ]
}

/** `isCut`: runs ended within a write, which may come twice. */
export function problemsOfOutputs(result, isOld, isCut) {
  const { trial, lost, lostLines, twice, twiceBytes, foreign, foreignLines, torn, ended } = result
  const { isPipe, append } = OUTPUTS[trial.output]
  const problems = []
  if (lost > 0) problems.push(`${lost} lines lost, such as ${lostLines.join(' and ')}`)
  if (foreign > 0) problems.push(`${foreign} lines that are no record: ${foreignLines.join(' and ')}`)
  if (isOld) return problems
  const mostTwice = isCut ? ended * trial.threads * MIB : 0
  if (twiceBytes > mostTwice)
    problems.push(`${twice} lines of ${twiceBytes} bytes twice: at most ${mostTwice}`)
  if (torn > (isCut && (isPipe || append) ? ended : 0)) {
    problems.push(`${torn} outputs end within a record`)
  }
  return problems
}
