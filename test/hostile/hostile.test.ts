// Files that a forger made, checksums and all: each ends in one clear line or in honest answers; none hangs, none takes
// memory without bound, none ends the process. In child processes, which are watched. 20,000 inputs; URLSIEVE_FULL=1: 1 M.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { builtLibrary } from '../support/built.ts'
import { newFolders } from '../support/folders.ts'

const SCALE = process.env.URLSIEVE_FULL === '1' ? 50 : 1
const SEED = 20
const PYTHON_FILES = 300
/** Nothing that is read here takes a second. */
const MOST_SILENCE_MS = 60_000
const LOOK_MS = 1000
const MOST_BYTES = 1024 ** 3
/** For less processor time: other tests use the other cores. */
const FLAGS = ['--single-threaded', '--max-semi-space-size=64']
const child = fileURLToPath(new URL('child.mjs', import.meta.url))

const built = builtLibrary()
const newFolder = newFolders()

interface Ending {
  readonly failures: string[]
  readonly opened: number
  readonly peakBytes: number
}

/** Reads `count` forged files of a kind in a child process; one that is silent for long is stopped. */
function read(kind: string, count: number, folder: string): Promise<Ending> {
  const at = `${folder}.at`
  const options = { built, kind, seed: SEED, from: 0, count, folder, at }
  const process_ = spawn(process.execPath, [...FLAGS, child, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const failures: string[] = []
  let last = 'start'
  let since = performance.now()
  let ending = ''
  let errors = ''
  const look = () => {
    const input = existsSync(at) ? readFileSync(at, 'utf8') : 'start'
    if (input !== last) since = performance.now()
    last = input
  }
  const watchdog = setInterval(() => {
    look()
    if (performance.now() - since < MOST_SILENCE_MS) return
    clearInterval(watchdog)
    failures.push(`silent after input ${last}`)
    process_.kill('SIGKILL')
  }, LOOK_MS)
  createInterface({ input: process_.stdout }).on('line', (line) => {
    if (line.startsWith('FAIL')) failures.push(line.slice(0, 500))
    else if (line.startsWith('END')) ending = line
  })
  process_.stderr.on('data', (bytes) => {
    errors += bytes
  })
  return new Promise((resolve) => {
    process_.on('close', (code, signal) => {
      clearInterval(watchdog)
      look()
      if (!ending) failures.push(`ended with ${code ?? signal} at input ${last}: ${errors.slice(-1000)}`)
      const [, opened = 0, peakBytes = 0] = ending.split(' ').map(Number)
      resolve({ failures, opened, peakBytes })
    })
  })
}

const kinds: readonly (readonly [string, number])[] = [
  ['sieves', 13_700],
  ['stores', 1500],
  ['dumps', 2200],
  ['frontiers', 900],
  ['indexes', 1300],
  ['levels', 100],
].map(([kind, count]) => [kind as string, Math.round((count as number) * SCALE)] as const)

describe('forged files', () => {
  it.concurrent.each(kinds)(
    '%s: %i of them, each refused in one line or answered honestly',
    async (kind, count) => {
      const { failures, opened, peakBytes } = await read(kind, count, newFolder())
      expect(failures.slice(0, 10)).toEqual([])
      expect(opened, 'some are harmless').toBeGreaterThan(0)
      expect(opened, 'and some are not').toBeLessThan(count)
      expect(peakBytes, 'memory').toBeLessThan(MOST_BYTES)
    },
    SCALE * 600_000,
  )

  const version = spawnSync('python3', ['-c', 'import sys; print(sys.version_info >= (3, 9))'], {
    encoding: 'utf8',
  })
  const hasPython = version.stdout?.trim() === 'True'
  it.runIf(hasPython)(
    `the reader in Python: ${PYTHON_FILES} of them`,
    async () => {
      const folder = newFolder()
      expect((await read('python', PYTHON_FILES, folder)).failures).toEqual([])
      const reader = fileURLToPath(new URL('../../integrations/python', import.meta.url))
      const script = `
import json, os, sys, time
sys.path.insert(0, sys.argv[1])
from urlsieve_reader import Sieve, SieveFileError
folder = sys.argv[2]
keys = [key.encode() for key in json.load(open(os.path.join(folder, "keys.json")))]
answers = {}
for i in range(${PYTHON_FILES}):
    began = time.time()
    try:
        sieve = Sieve.open(os.path.join(folder, f"{i}.forged"))
        answers[i] = [int(sieve.has(key)) for key in keys]
    except SieveFileError as error:
        answers[i] = None
        assert "\\n" not in str(error), str(error)
    assert time.time() - began < 60, i
print(json.dumps(answers))`
      const { stdout, stderr } = spawnSync('python3', ['-c', script, reader, folder], {
        env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
        encoding: 'utf8',
        maxBuffer: 1 << 26,
        timeout: 300_000,
      })
      expect(stderr).toBe('')
      const answers = JSON.parse(stdout) as Record<string, number[] | null>
      let both = 0
      for (let i = 0; i < PYTHON_FILES; i++) {
        const library = JSON.parse(readFileSync(join(folder, `${i}.forged.json`), 'utf8')) as number[] | null
        const python = answers[i]!
        if (library === null || python === null) continue
        expect(python, `${i}.forged`).toEqual(library)
        both++
      }
      expect(both).toBeGreaterThan(10)
    },
    600_000,
  )
})
