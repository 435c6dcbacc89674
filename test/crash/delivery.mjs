// "Delivered before remembered", by force: runs of `urlsieve dedupe` ended by signals at moments drawn over the bytes delivered. After a
// last run to its end what was delivered has every record. From a shell, against any build:
//   node test/crash/delivery.mjs --command "node dist/cli/main.js" --runs 200 [--old] [--memory exact,redis] [--output pipe]
//     [--signal SIGINT] [--kills 5] [--lines 400000] [--jobs 2] [--redis-job --job] [--json FILE]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { sleep, spawnRedis } from '../../bench/redis-process.mjs'
import { randomFrom } from '../support/random.mjs'
import { makeInput } from './delivery-data.mjs'
import { cellsOf, MEMORIES, trialOf } from './delivery-grid.mjs'
import { runTrial } from './delivery-trial.mjs'

const SEED = 27
const REDIS_START_MS = 500

/**
 * The trials for about that many ended runs: rounds over all cells, of which the last may be in part. Each memory comes up as
 * often as the others.
 */
export function trialsFor({ isOld, redis, runs, kills, wanted = () => true }) {
  const random = randomFrom(SEED)
  const cells = cellsOf({ isOld, redis }).filter(wanted)
  const byMemory = Object.keys(MEMORIES)
    .map((memory) => cells.filter((cell) => cell.memory === memory))
    .map((some) => some.map((cell) => [random(), cell]).sort((a, b) => a[0] - b[0]))
    .map((some) => some.map(([, cell]) => cell))
  const most = Math.max(...byMemory.map((some) => some.length))
  const inTurn = Array.from({ length: most }, (_, i) => byMemory.flatMap((some) => some[i] ?? [])).flat()
  const trials = []
  for (let i = 0; i * kills < runs && inTurn.length > 0; i++) {
    const place = i % inTurn.length
    const round = Math.floor(i / inTurn.length)
    const { memory, output, signal } = inTurn[place]
    const name = `${memory}-${output}-${signal}-${round}`
    trials.push({ name, ...trialOf(inTurn[place], round + place, isOld) })
  }
  return trials
}

/** Runs trials, `jobs` at a time; returns their results in order. */
export async function runTrials(trials, { command, isOld, kills, lines, jobs, redisJob, onResult }) {
  const root = mkdtempSync(join(tmpdir(), 'urlsieve-delivery-'))
  const needsRedis = trials.some(({ memory }) => MEMORIES[memory].isRedis)
  const redis = needsRedis ? await spawnRedis() : null
  if (redis) await sleep(REDIS_START_MS)
  try {
    const input = makeInput(root, { lines, seed: SEED })
    const settings = { command, isOld, input, kills, redisUrl: redis?.url, redisJob }
    const results = []
    let next = 0
    const work = async () => {
      for (let i = next++; i < trials.length; i = next++) {
        results[i] = await runTrial(trials[i], { ...settings, folder: join(root, String(i)) })
        onResult?.(results[i])
      }
    }
    await Promise.all(Array.from({ length: jobs }, work))
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
  ['signal', trial.signal],
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
      if (result.refused) continue
      row.trials++
      row.runs += result.runs
      row.ended += result.ended
      row.losing += Number(result.lost > 0)
      for (const what of ['lost', 'twice', 'foreign']) row[what] += result[what]
    }
  }
  const order = classesOf({ trial: {} }).map(([dimension]) => dimension)
  const place = (key) => order.indexOf(key.split(' ')[0])
  return [...rows].sort(([a], [b]) => place(a) - place(b)).map(([of, row]) => ({ of, ...row }))
}

async function main() {
  const text = { type: 'string' }
  const { values } = parseArgs({
    options: {
      command: { ...text, default: 'node dist/cli/main.js' },
      runs: { ...text, default: '200' },
      kills: { ...text, default: '5' },
      lines: { ...text, default: '400000' },
      jobs: { ...text, default: '2' },
      memory: text,
      output: text,
      signal: text,
      old: { type: 'boolean', default: false },
      'redis-job': text,
      json: text,
    },
  })
  const isOld = values.old
  const isWanted = (given, name) => given === undefined || given.split(',').includes(name)
  const wanted = ({ memory, output, signal }) =>
    isWanted(values.memory, memory) && isWanted(values.output, output) && isWanted(values.signal, signal)
  const [kills, lines, jobs, runs] = [values.kills, values.lines, values.jobs, values.runs].map(Number)
  const redis = isOld || values['redis-job'] ? 'on' : 'off'
  const trials = trialsFor({ isOld, redis, runs, kills, wanted })
  const results = await runTrials(trials, {
    command: values.command.split(' '),
    isOld,
    kills,
    lines,
    jobs,
    redisJob: values['redis-job'],
    onResult({ trial, refused, problems }) {
      const told = refused ? [`refused: ${refused}`] : problems
      const how = `${trial.name} input ${trial.input} threads ${trial.threads} folds ${trial.foldBytes}`
      for (const problem of told) console.log(`${how}: ${problem}`)
    },
  })
  console.table(tableOf(results))
  if (values.json) writeFileSync(values.json, JSON.stringify(results, null, 1))
  process.exitCode = results.some(({ problems }) => problems.length > 0) ? 1 : 0
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main()
