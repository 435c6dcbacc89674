// `urlsieve dedupe` on disks that are full or fail, under its store, its outputs or both, with one thread and two: when the disk takes
// bytes again, a last run to its end has every line delivered. About 30 failed runs; URLSIEVE_FULL=1: 500. A small tmpfs needs root.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { Result } from './delivery.mjs'
import { tableOf } from './delivery.mjs'
import { command, failingDisk, isOld } from './delivery-command.ts'
import { DISKS, diskTrials, runDiskTrials } from './delivery-disk.mjs'

const FULL = process.env.URLSIEVE_FULL === '1'
const LINES = FULL ? 400_000 : 200_000
const folder = mkdtempSync(join(tmpdir(), 'urlsieve-disks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const library = failingDisk()
const canMount = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', folder]).status === 0
const [whyNotBuilt, whyNotMounted] = [
  library ? '' : ' (skipped: gcc cannot build the failing disk)',
  canMount ? '' : ' (skipped: no right to mount a tmpfs)',
]

function expectNothingLost(results: readonly Result[], what: string): void {
  const [all] = tableOf(results)
  console.log(`${what}: ${all!.ended} runs failed, ${all!.lost} lines lost, ${all!.twice} twice`)
  const told = ({ trial, refused, problems }: Result) =>
    (refused ? [refused] : problems).map((problem) => `${JSON.stringify(trial)}: ${problem}`)
  expect(results.flatMap(told)).toEqual([])
  expect(all!.ended).toBeGreaterThan(results.length / 2)
}

describe('delivered before remembered', () => {
  const name = `no line is lost on a disk that fails${whyNotBuilt}`
  it.skipIf(!library)(name, { timeout: 3_600_000 }, async () => {
    const disks = Object.keys(DISKS).filter((disk) => !DISKS[disk]!.isTmpfs)
    const trials = diskTrials({ disks, runs: FULL ? 500 : 28 })
    const results = await runDiskTrials(trials, { command, isOld, lines: LINES, jobs: 2, library: library! })
    expectNothingLost(results, 'disks that are full or fail')
  })

  const mounted = `no line is lost on a file system that is full${whyNotMounted}`
  it.skipIf(!canMount)(mounted, { timeout: 3_600_000 }, () => {
    const json = join(folder, 'results.json')
    const script = ['--disk', 'tmpfs', '--runs', String(FULL ? 100 : 6), '--lines', String(LINES)]
    const how = ['--command', command.join(' '), '--json', json, ...(isOld ? ['--old'] : [])]
    const inside = ['-m', process.execPath, pathOf('delivery-disk.mjs'), ...script, ...how]
    const { stderr } = spawnSync('unshare', inside, { encoding: 'utf8' })
    expect(stderr).toBe('')
    expectNothingLost(JSON.parse(readFileSync(json, 'utf8')), 'a small tmpfs')
  })
})
