// "Delivered before remembered", by force: runs of `urlsieve dedupe` ended by signals at moments drawn over the bytes delivered. After a
// last run to its end what was delivered has every record. From a shell, against any build:
//   node test/crash/delivery.mjs --command "node dist/cli/main.js" --runs 200 [--old] [--memory exact,redis] [--output pipe]
//     [--signal SIGINT] [--per-cell 30] [--kills 5] [--lines 400000] [--jobs 2] [--minutes 30] [--redis-job=--redis-job] [--json FILE] [--library LIB]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { sleep, spawnRedis } from '../../bench/redis-process.mjs'
import { makeInput } from './delivery-data.mjs'
import { cellsOf, trialOf } from './delivery-grid.mjs'
import { runTrial } from './delivery-trial.mjs'

const SEED = 27
/** Of one cell: where runs end before their signal. */
const MOST_ROUNDS = 20
const REDIS_START_MS = 500

/** Cells in an order whose beginning has every memory, output and signal about as often. */
function inTurn(cells) {
  const [memories, outputs, signals] = ['memory', 'output', 'signal'].map((of) => [
    ...new Set(cells.map((cell) => cell[of])),
  ])
  const place = ({ memory, output, signal }) => {
    const [m, o, s] = [memories.indexOf(memory), outputs.indexOf(output), signals.indexOf(signal)]
    const turn = (o + outputs.length - (m % outputs.length)) % outputs.length
    const lap = (s + 2 * signals.length - ((turn + m) % signals.length)) % signals.length
    return (lap * outputs.length + turn) * memories.length + m
  }
  return cells
    .map((cell) => [place(cell), cell])
    .sort(([a], [b]) => a - b)
    .map(([, cell]) => cell)
}

/**
 * Gives out trials, round after round over all cells, until there are `runs` in all and `perCell` in each, or `minutes` are over. A run that comes
 * to its end before its signal does not count.
 */
class Grid {
  #cells
  #setting
  #endsAt

  constructor(setting) {
    const { hasRedis, wanted = () => true } = setting
    const cells = inTurn(cellsOf({ hasRedis }).filter(wanted))
    this.#cells = cells.map((cell, place) => ({ cell, place, round: 0, ended: 0 }))
    this.#setting = setting
    this.#endsAt = performance.now() + (setting.minutes ?? Infinity) * 60_000
  }

  /** The next trial, with what takes its result; undefined: nothing is left to do, or only what others have begun. */
  next() {
    const { runs, perCell, kills } = this.#setting
    const total = this.#cells.reduce((sum, { ended }) => sum + ended, 0)
    const isOpen = ({ ended, round }) => round < MOST_ROUNDS && (total < runs || ended < perCell)
    const [at] = this.#cells.filter(isOpen).toSorted((a, b) => a.round - b.round || a.place - b.place)
    if (!at || performance.now() > this.#endsAt) return undefined
    const { cell, place } = at
    const round = at.round++
    at.ended += kills
    const name = `${cell.memory}-${cell.output}-${cell.signal}-${round}`
    const done = ({ ended, refused }) => {
      at.ended += (refused ? 0 : ended) - kills
      if (refused) at.round = MOST_ROUNDS
    }
    return { trial: { name, ...trialOf(cell, round + place) }, done }
  }
}

/**
 * Runs trials of the grid, `jobs` at a time, until `runs` runs in all and `perCell` of each cell were ended; returns their results. Redis
 * has a part in it for the old code, and where `redisJob` names the option for the job of a run.
 */
export async function runGrid(setting) {
  const { isOld, redisJob, lines, jobs, onResult } = setting
  const root = mkdtempSync(join(tmpdir(), 'urlsieve-delivery-'))
  const hasRedis = isOld || redisJob !== undefined
  const redis = hasRedis ? await spawnRedis() : null
  if (redis) await sleep(REDIS_START_MS)
  try {
    const input = makeInput(root, { lines, seed: SEED })
    const grid = new Grid({ ...setting, hasRedis })
    const results = []
    const work = async () => {
      for (let next = grid.next(); next; next = grid.next()) {
        const { trial, done } = next
        const folder = join(root, trial.name)
        const result = await runTrial(trial, { ...setting, input, folder, redisUrl: redis?.url })
        results.push(result)
        done(result)
        onResult?.(result)
      }
    }
    await Promise.all(Array.from({ length: jobs }, work))
    await work()
    return results
  } finally {
    rmSync(root, { recursive: true, force: true })
    redis?.child.kill('SIGKILL')
    await redis?.gone
  }
}

const classesOf = ({ trial }) => [
  ['all', 'all'],
  ['memory', trial.memory],
  ['output', trial.output],
  [trial.disk ? 'disk' : 'signal', trial.signal],
  ['input', trial.input],
  ['threads', String(trial.threads)],
  ['folds', trial.foldBytes > 0 ? 'small' : 'usual'],
]

/** Counts by class of cells: trials, ended runs, trials that lost lines, lines lost and lines twice. */
export function tableOf(results) {
  const rows = new Map()
  for (const result of results) {
    for (const [dimension, value] of classesOf(result)) {
      const key = `${dimension} ${value}`
      const row = rows.get(key) ?? { trials: 0, runs: 0, ended: 0, losing: 0, lost: 0, twice: 0, foreign: 0 }
      rows.set(key, row)
      if (result.refused || result.isUnfinished) continue
      row.trials++
      row.runs += result.runs
      row.ended += result.ended
      row.losing += Number(result.lost > 0)
      for (const what of ['lost', 'twice', 'foreign']) row[what] += result[what]
    }
  }
  const order = results.length > 0 ? classesOf(results[0]).map(([dimension]) => dimension) : []
  const place = (key) => order.indexOf(key.split(' ')[0])
  return [...rows].sort(([a], [b]) => place(a) - place(b)).map(([of, row]) => ({ of, ...row }))
}

export function printProblems({ trial, refused, problems }) {
  const how = `${trial.name} input ${trial.input} threads ${trial.threads} folds ${trial.foldBytes}`
  for (const problem of refused ? [`refused: ${refused}`] : problems) console.log(`${how}: ${problem}`)
}

/** Prints the table of a run from the shell; `path`: a file for all results. */
export function report(results, path) {
  console.table(tableOf(results))
  if (path) writeFileSync(path, JSON.stringify(results, null, 1))
  process.exitCode = results.some(({ problems }) => problems.length > 0) ? 1 : 0
}

async function main() {
  const text = { type: 'string' }
  const { values } = parseArgs({
    options: {
      command: { ...text, default: 'node dist/cli/main.js' },
      runs: { ...text, default: '200' },
      'per-cell': { ...text, default: '0' },
      kills: { ...text, default: '5' },
      lines: { ...text, default: '400000' },
      jobs: { ...text, default: '2' },
      memory: text,
      output: text,
      signal: text,
      old: { type: 'boolean', default: false },
      'redis-job': text,
      minutes: text,
      library: text,
      json: text,
    },
  })
  const isOld = values.old
  const isWanted = (given, name) => given === undefined || given.split(',').includes(name)
  const wanted = ({ memory, output, signal }) =>
    isWanted(values.memory, memory) && isWanted(values.output, output) && isWanted(values.signal, signal)
  const [kills, lines, jobs, runs, perCell] = ['kills', 'lines', 'jobs', 'runs', 'per-cell'].map((name) =>
    Number(values[name]),
  )
  const results = await runGrid({
    command: values.command.split(' '),
    isOld,
    wanted,
    ...{ kills, lines, jobs, runs, perCell },
    redisJob: values['redis-job'],
    ...(values.library && { library: resolve(values.library) }),
    ...(values.minutes && { minutes: Number(values.minutes) }),
    onResult: printProblems,
  })
  report(results, values.json)
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main()
