// The same on disks that are full or fail, under the store, the outputs or both: `urlsieve dedupe` ends with an error, and once the disk
// takes bytes again a last run to its end delivers what is missing. A disk that fails is test/crash/failing-disk.c; a limit of the
// system for files and a small tmpfs are real. From a shell:
//   node test/crash/delivery-disk.mjs --library failing-disk.so --runs 100 [--command "node dist/cli/main.js"] [--old]
//     [--disk full,limit] [--memory blocked] [--output file] [--lines 400000] [--jobs 2] [--json FILE]
//   unshare -m node test/crash/delivery-disk.mjs --disk tmpfs …
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { randomFrom } from '../support/random.mjs'
import { printProblems, report } from './delivery.mjs'
import { makeInput } from './delivery-data.mjs'
import { MEMORIES, OUTPUTS, takes, trialOf } from './delivery-grid.mjs'
import { sizeOf } from './delivery-run.mjs'
import { problemsOfOutputs, Runs, STORED_BYTES, seedOf } from './delivery-trial.mjs'

const SEED = 27
const ENOSPC = 28
const EIO = 5
const BLOCK_BYTES = 512
const USAGE = 2
const DEFECT = 70
/** Of one trial. */
const FAILURES = 2
/** Share of the failures before the store is made. */
const EARLY = 0.1

/** What fails. `root`: which part of a trial's folder. `count`: how many writes, -1: all. */
export const DISKS = {
  full: { root: '', errno: ENOSPC, count: -1 },
  'full, under the store': { root: 'seen', errno: ENOSPC, count: -1 },
  'full, under the output': { root: 'to', errno: ENOSPC, count: -1 },
  'fails once': { root: '', errno: EIO, count: 1 },
  'fails under the store': { root: 'seen', errno: EIO, count: -1 },
  'fails under the output': { root: 'to', errno: EIO, count: -1 },
  'limit of a file': { isLimit: true },
  tmpfs: { isTmpfs: true },
}

function cellsOf(disks) {
  const cells = []
  for (const disk of disks) {
    for (const [memory, { isRedis }] of Object.entries(MEMORIES)) {
      if (isRedis) continue
      for (const [output, { isPipe, isKeys }] of Object.entries(OUTPUTS)) {
        if (isKeys || !takes(memory, output)) continue
        if (isPipe && DISKS[disk].root === 'to') continue
        cells.push({ disk, memory, output, signal: disk })
      }
    }
  }
  return cells
}

/**
 * The trials in which `runs` runs fail: the cells in an order drawn from a seed, each disk as often as the others, in as many rounds as
 * are needed. What can share its work does so in the first round: threads must not lose what one thread keeps.
 */
export function diskTrials({ disks, runs, wanted = () => true }) {
  const random = randomFrom(SEED)
  const byDisk = disks.map((disk) =>
    cellsOf([disk])
      .filter(wanted)
      .map((cell) => [random(), cell])
      .sort(([a], [b]) => a - b),
  )
  const most = Math.max(...byDisk.map(({ length }) => length))
  const cells = Array.from({ length: most }, (_, i) => byDisk.flatMap((some) => some[i]?.[1] ?? [])).flat()
  return Array.from({ length: Math.ceil(runs / FAILURES) }, (_, i) => {
    const round = Math.floor(i / cells.length)
    const cell = cells[i % cells.length]
    const name = `${cell.memory}-${cell.output}-${cell.disk.replaceAll(/\W+/g, '-')}-${round}`
    const turn = MEMORIES[cell.memory].shares ? round : round + i
    return { name, disk: cell.disk, ...trialOf(cell, turn) }
  })
}

// A run on a disk that takes so many bytes.
function onDisk(disk, bytes, { folder, library }) {
  const { root, errno, count, isLimit, isTmpfs } = DISKS[disk]
  if (isTmpfs) {
    const { blocks, bfree, bsize } = statfsSync(folder)
    mount(folder, `remount,size=${Math.ceil((blocks - bfree) * bsize + bytes)}`)
    return (request) => request
  }
  if (isLimit) {
    const blocks = String(Math.ceil(bytes / BLOCK_BYTES))
    return (request) => ({
      ...request,
      command: ['sh', '-c', 'ulimit -f "$0"; exec "$@"', blocks, ...request.command],
    })
  }
  const env = {
    FAIL_AFTER_BYTES: String(Math.floor(bytes)),
    FAIL_ERRNO: String(errno),
    FAIL_COUNT: String(count),
  }
  return (request) => ({
    ...request,
    env: {
      ...request.env,
      ...env,
      FAIL_ROOT: join(folder, root),
      LD_PRELOAD: library,
    },
  })
}

function mount(folder, options) {
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`mount ${folder}: ${stderr}`)
}

/** Bytes that the disk takes: the store may not even begin, or the run may be near its end. */
function bytesOf({ disk, memory }, runs, { folder, madeBytes }, random) {
  const { root, isLimit } = DISKS[disk]
  const left = Math.max(0, runs.totalBytes - (runs.isWhole || isLimit ? 0 : runs.delivered))
  if (root === 'to') return random() * left
  const isMade = existsSync(join(folder, 'seen')) && !isLimit
  const made = isMade ? 0 : madeBytes[memory]
  if (random() < EARLY) return random() * made
  const stored = STORED_BYTES * runs.count
  return made + random() * (root === 'seen' ? stored : stored + left)
}

async function runDiskTrial(trial, setting) {
  const { folder, isOld } = setting
  const { isTmpfs } = DISKS[trial.disk]
  mkdirSync(folder, { recursive: true })
  if (isTmpfs) mount(folder, 'size=1g')
  const runs = new Runs(trial, setting)
  const { result } = runs
  const random = randomFrom(seedOf(trial.name))
  let isDone = false
  for (let i = 0; i < FAILURES && !isDone; i++) {
    const bytes = bytesOf(trial, runs, setting, random)
    const ran = await runs.next({ of: onDisk(trial.disk, bytes, setting) })
    if (ran.code === USAGE) return { ...result, refused: ran.stderr.trim() }
    isDone = ran.code === 0
    if (isDone) break
    result.ended++
    const isError = ran.code !== null && ran.code !== DEFECT && ran.stderr !== ''
    if (!isError) result.problems.push(`exit ${ran.code ?? ran.signal}: ${ran.stderr.trim()}`)
  }
  if (isTmpfs) mount(folder, 'remount,size=1g')
  await runs.finish(isDone)
  if (isTmpfs) spawnSync('umount', [folder])
  runs.remove()
  if (!result.isUnfinished) result.problems.push(...problemsOfOutputs(result, isOld, true))
  return result
}

/** Bytes of the files of each memory before anything is in it. */
function bytesWhenMade(command, trials, folder) {
  const empty = join(folder, 'empty.txt')
  writeFileSync(empty, '')
  const bytes = {}
  for (const memory of new Set(trials.map((trial) => trial.memory))) {
    const state = join(folder, `empty-${memory}`)
    const [program, ...args] = [...command, 'dedupe', empty, '--state', state, ...MEMORIES[memory].args]
    spawnSync(program, args)
    bytes[memory] = sizeOf(state)
  }
  return bytes
}

/** Runs them, `jobs` at a time; returns their results. `library`: the disk that fails. */
export async function runDiskTrials(trials, { command, lines, jobs, onResult, ...rest }) {
  const root = mkdtempSync(join(tmpdir(), 'urlsieve-delivery-'))
  try {
    const input = makeInput(root, { lines, seed: SEED })
    const setting = { command, input, madeBytes: bytesWhenMade(command, trials, root), ...rest }
    const results = []
    const left = [...trials]
    const work = async () => {
      for (let trial = left.shift(); trial; trial = left.shift()) {
        const result = await runDiskTrial(trial, { ...setting, folder: join(root, trial.name) })
        results.push(result)
        onResult?.(result)
      }
    }
    await Promise.all(Array.from({ length: jobs }, work))
    return results
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

async function main() {
  const text = { type: 'string' }
  const { values } = parseArgs({
    options: {
      command: { ...text, default: 'node dist/cli/main.js' },
      library: text,
      runs: { ...text, default: '100' },
      lines: { ...text, default: '400000' },
      jobs: { ...text, default: '2' },
      disk: text,
      memory: text,
      output: text,
      old: { type: 'boolean', default: false },
      json: text,
    },
  })
  const isOld = values.old
  const disks = values.disk?.split(',') ?? Object.keys(DISKS).filter((disk) => !DISKS[disk].isTmpfs)
  const isWanted = (given, name) => given === undefined || given.split(',').includes(name)
  const wanted = ({ memory, output }) => isWanted(values.memory, memory) && isWanted(values.output, output)
  const [runs, lines, jobs] = [values.runs, values.lines, values.jobs].map(Number)
  const results = await runDiskTrials(diskTrials({ disks, runs, wanted }), {
    command: values.command.split(' '),
    isOld,
    ...{ lines, jobs },
    library: values.library && resolve(values.library),
    onResult: printProblems,
  })
  report(results, values.json)
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main()
