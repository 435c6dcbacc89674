// The runs whose results are published: each group at its full size on an idle machine, into results/NAME.ndjson, which is
// committed. `npm run bench -- --record [--only NAME] [--rounds N]`.

import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { loadavg } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { fileVariable, recordedFile, recordedNames, runsDirectory } from './results.mjs'

/** The one-minute load below which a machine counts as idle, and how long to wait for that. */
const idleLoad = 0.5
const patienceMs = 10 * 60_000
const pollMs = 5000

const libraryCases = [
  'library/urlsieve-fingerprint-raw',
  'library/urlsieve-fingerprint-web',
  'library/urlsieve-blocked-1e-3',
  'library/urlsieve-classic-1e-3',
  'library/bloomfilter-1e-3',
  'library/bloom-filters-1e-3',
  'library/set',
]

/** The options of each group's run, besides the rounds. */
const runs = {
  command: ['--only', 'command'],
  library: ['--only', 'library', ...libraryCases.flatMap((name) => ['--case', name])],
  server: ['--only', 'server', '--seconds', '30'],
}

export async function record({ only, rounds = '3' }) {
  if (only !== undefined && !recordedNames.includes(only)) {
    throw new Error(`--record --only is one of ${recordedNames.join(', ')}, got ${only}`)
  }
  for (const name of only === undefined ? recordedNames : [only]) {
    await waitUntilIdle()
    const run = fileURLToPath(new URL('run.mjs', import.meta.url))
    const args = [...runs[name], '--rounds', rounds]
    const file = join(runsDirectory, `recording-${name}.ndjson`)
    rmSync(file, { force: true })
    const env = { ...process.env, [fileVariable]: file }
    const { status } = spawnSync(process.execPath, [run, ...args], { stdio: 'inherit', env })
    if (status !== 0) throw new Error(`the run of ${name} ended with exit code ${status}`)
    mkdirSync(dirname(recordedFile(name)), { recursive: true })
    copyFileSync(file, recordedFile(name))
  }
}

async function waitUntilIdle() {
  const end = Date.now() + patienceMs
  while (loadavg()[0] > idleLoad) {
    if (Date.now() > end) {
      throw new Error(`the machine is busy: load ${loadavg()[0].toFixed(2)}, expected at most ${idleLoad}`)
    }
    process.stderr.write(`waiting for an idle machine: load ${loadavg()[0].toFixed(2)}\n`)
    await sleep(pollMs)
  }
}
