// Disks that fail: EIO and ENOSPC in writes, syncs, renames and closes, once, three times and for ever, at each step of
// a short life of every kind of store. Nothing acknowledged is lost, nothing refused is seen, and it opens again. Some
// steps; URLSIEVE_FULL=1: all. Then syncs that are slow and fail: whoever waits is told.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { builtLibrary } from '../support/built.ts'

const FULL = process.env.URLSIEVE_FULL === '1'
const EIO = 5
const ENOSPC = 28
const source = fileURLToPath(new URL('failing-disk.c', import.meta.url))
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'urlsieve-failing-'))
const library = join(folder, 'failing-disk.so')
const canBuild =
  process.platform === 'linux' &&
  spawnSync('gcc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']).status === 0
const why = canBuild ? '' : ' (skipped: gcc cannot build the failing disk)'

const built = builtLibrary()
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a script on a failing disk; returns its last line. */
async function run(script: string, argument: object): Promise<string> {
  const root = mkdtempSync(join(folder, 'disk-'))
  const control = `${root}.control`
  writeFileSync(control, Buffer.alloc(32))
  const env = { ...process.env, FAIL_ROOT: `${root}/`, FAIL_CONTROL: control, LD_PRELOAD: library }
  const all = JSON.stringify({ built, root, ...argument })
  const child = spawn(process.execPath, [pathOf(script), all], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let errors = ''
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (errors += chunk))
  await new Promise((resolve) => child.once('close', resolve))
  rmSync(root, { recursive: true, force: true })
  expect(errors, JSON.stringify(argument)).toBe('')
  return out.trim().split('\n').at(-1)!
}

interface Failure {
  readonly calls: readonly string[]
  readonly errno: number
  /** How many calls fail; -1: all from the step on. */
  readonly count: number
}

const every = ['write', 'sync', 'rename', 'close']
const failures: readonly Failure[] = FULL
  ? [
      ...[1, 3, -1].flatMap((count) => every.map((call) => ({ calls: [call], errno: EIO, count }))),
      ...[1, 3, -1].map((count) => ({ calls: ['write'], errno: ENOSPC, count })),
      ...[1, 3, -1].map((count) => ({ calls: every, errno: EIO, count })),
    ]
  : [
      { calls: every, errno: EIO, count: 1 },
      { calls: ['write'], errno: ENOSPC, count: -1 },
      { calls: ['sync'], errno: EIO, count: 2 },
    ]
/** Parts of the way; more where most happens. */
const some = [0.1, 0.5, 0.6]

const kinds = [
  'fingerprint',
  'fingerprint always',
  'fingerprint with keys',
  'blocked',
  'classic',
  'multilayer',
  'scalable',
  'exact',
  'exact always',
  'frontier',
  'frontier always',
  'server',
]

const figure = { runs: 0, acknowledged: 0, refused: 0 }

describe.skipIf(!canBuild)(`a disk that fails${why}`, () => {
  it.for(kinds)('%s', { timeout: 1_800_000 }, async (kind) => {
    const line = await run('failing-writer.mjs', { kind, failures, steps: FULL ? 'all' : some })
    const { steps, acknowledged, refused, problems } = JSON.parse(line)
    expect(problems).toEqual([])
    figure.runs += steps
    figure.acknowledged += acknowledged
    figure.refused += refused
  })

  it('was met in all of them', () => {
    const { runs, acknowledged, refused } = figure
    console.log(
      `failing disks: ${runs} runs, ${acknowledged} URLs acknowledged, 0 lost; ${refused} refused, 0 seen`,
    )
    expect(acknowledged).toBeGreaterThan(1000)
    expect(refused).toBeGreaterThan(100)
  })

  it('URLs that are refused while a snapshot is written are new after a restart', {
    timeout: 120_000,
  }, async () => {
    const report = JSON.parse(await run('refused-in-fold.mjs', {}))
    expect(report).toEqual({
      kept: 100,
      refused: 0,
      copied: 'disk', // a copy of the filter would answer "seen" for them
      keptAfter: 100,
      refusedAfter: 0,
      urls: 100,
      fresh: 100,
    })
  })

  it.concurrent.for(['store', 'exact', 'frontier'])(
    'a sync in the background that is slow and fails is waited for and reported: %s',
    { timeout: 120_000 },
    async (kind, { expect }) => {
      const report = JSON.parse(await run('slow-sync.mjs', { kind }))
      expect(report).toEqual({
        sync: kind === 'frontier' ? null : 'disk',
        syncAgain: kind === 'frontier' ? null : 'done',
        close: 'disk',
        waited: true,
        rewritten: true,
        kept: true,
      })
    },
  )
})
