// The cells of the delivery tests: what remembers × where lines go × what ends a run; inputs, threads and folds alternate.
import { join } from 'node:path'
import { INPUTS } from './delivery-data.mjs'

/** What remembers. `folds`: it has a log that is folded. */
export const MEMORIES = {
  fingerprint: { args: [], folds: true, shares: true },
  blocked: {
    args: ['--filter', 'blocked', '--urls', '1M', '--fpr', '1e-9'],
    folds: true,
    shares: true,
  },
  scalable: { args: ['--filter', 'scalable', '--urls', '50k', '--fpr', '1e-9'], folds: true },
  window: { args: ['--filter', 'window', '--window', '2M'], folds: true },
  exact: { args: ['--filter', 'exact'] },
  runs: { args: ['--max-memory', '160M'] },
  redis: { args: [], isRedis: true },
}

/** Where lines go. `paths`: options, with the path that each has below the folder of a trial. */
export const OUTPUTS = {
  pipe: { isPipe: true },
  append: { append: 'to/appended' },
  file: { paths: { '-o': 'to/out' }, main: ['-o'] },
  split: {
    paths: { '--new': 'to/new', '--repeated-to': 'to/repeated', '--invalid-to': 'to/invalid' },
    main: ['--new'],
    repeated: ['--repeated-to'],
    invalid: ['--invalid-to'],
    isRows: true,
  },
  hosts: { paths: { '--by-host': 'to/hosts' }, main: ['--by-host'], isRows: true },
  keys: { isPipe: true, args: ['--keys'], isKeys: true },
}

export const SIGNALS = ['SIGKILL', 'SIGINT', 'SIGTERM']
/** Only with some outputs. */
export const HANGUP = { signal: 'SIGHUP', outputs: ['pipe', 'file'] }

const FOLD_BYTES = 50_000
const CHUNK_BYTES = [65_536, 524_288]

/** What the command refuses, outputs and inputs: left out. */
const REFUSED = {
  exact: ['keys'],
  runs: ['split', 'hosts', 'csv'],
  redis: ['keys', 'split', 'hosts', 'csv'],
}

/** Whether the command takes an output or an input with a memory. */
export const takes = (memory, name) => !REFUSED[memory]?.includes(name)

export function cellsOf({ hasRedis }) {
  const cells = []
  for (const memory of Object.keys(MEMORIES)) {
    if (MEMORIES[memory].isRedis && !hasRedis) continue
    for (const output of Object.keys(OUTPUTS)) {
      if (!takes(memory, output)) continue
      const signals = HANGUP.outputs.includes(output) ? [...SIGNALS, HANGUP.signal] : SIGNALS
      for (const signal of signals) cells.push({ memory, output, signal })
    }
  }
  return cells
}

/** The inputs that a cell takes: keys are not printed of rows. */
const inputsOf = ({ memory, output }) =>
  Object.keys(INPUTS).filter(
    (name) => takes(memory, name) && !(OUTPUTS[output].isKeys && INPUTS[name].isRows),
  )

/** The `n`-th trial of a cell: its input, number of threads and length of a log, in turn. */
export function trialOf(cell, n) {
  const { folds, shares } = MEMORIES[cell.memory]
  const inputs = inputsOf(cell)
  const input = inputs[n % inputs.length]
  const canShare = shares && !OUTPUTS[cell.output].isRows && !INPUTS[input].isRows && !INPUTS[input].stdin
  const threads = canShare && (n >> 1) % 2 === 0 ? 2 : 1
  const foldBytes = folds && n % 2 === 1 ? FOLD_BYTES : 0
  return { ...cell, input, threads, foldBytes, chunkBytes: CHUNK_BYTES[n % 2] }
}

/**
 * The arguments of one run of a trial in `folder`, and where its lines are. The old code starts each file from nothing: there each
 * run has files of its own.
 */
export function runOf(trial, { folder, inputFolder, runNumber, isOld, redisUrl, redisJob }) {
  const { memory, output, input, threads } = trial
  const { args: memoryArgs, isRedis } = MEMORIES[memory]
  const { paths = {}, args: outputArgs = [], append, isPipe } = OUTPUTS[output]
  const { files, args: inputArgs = [], stdin } = INPUTS[input]
  const suffix = isOld ? `-${runNumber}` : ''
  const places = Object.fromEntries(
    Object.entries(paths).map(([flag, name]) => [flag, join(folder, name + suffix)]),
  )
  const args = [
    'dedupe',
    ...files.map((name) => join(inputFolder, name)),
    ...inputArgs,
    ...memoryArgs,
    ...(isRedis
      ? ['--redis', redisUrl, '--redis-name', trial.name, ...(redisJob ? [redisJob, trial.name] : [])]
      : ['--state', join(folder, 'seen')]),
    ...outputArgs,
    ...Object.entries(places).flat(),
    ...(Object.keys(places).length > 0 && !isOld ? ['--append'] : []),
    ...(threads > 1 ? ['--threads', String(threads)] : []),
    '--quiet',
  ]
  return {
    args,
    places,
    env: {
      ...(trial.foldBytes > 0 && { URLSIEVE_FOLD_BYTES: String(trial.foldBytes) }),
      ...(threads > 1 && { URLSIEVE_CHUNK_BYTES: String(trial.chunkBytes) }),
    },
    ...(isPipe && { pipe: join(folder, 'pipe') }),
    ...(append && { append: join(folder, append) }),
    ...(stdin && { stdin: join(inputFolder, stdin) }),
    watched: append ? [join(folder, append)] : Object.values(places),
  }
}
