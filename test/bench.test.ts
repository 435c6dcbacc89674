// What is published of the benchmark is what was recorded: the tables and the chart are those that the report writes from
// bench/results.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { root, spawned } from './e2e/command.ts'

const folder = mkdtempSync(join(tmpdir(), 'urlsieve-bench-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function report(...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await spawned(process.execPath, [
    join(root, 'bench/run.mjs'),
    '--report',
    '--to',
    folder,
    ...args,
  ])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.toString().trim().split('\n')
}

it("README, docs/benchmarks.md and the chart are those of bench/results: else run 'npm run bench -- --report'", async () => {
  const paths = await report()
  expect(paths).toEqual(
    expect.arrayContaining(['README.md', 'docs/benchmarks.md', 'docs/images/dedupe-dark.svg']),
  )
  for (const path of paths) {
    expect(readFileSync(join(root, path), 'utf8') === readFileSync(join(folder, path), 'utf8'), path).toBe(
      true,
    )
  }
})

it('the chart has a bar for each command, by its median', async () => {
  const run = {
    type: 'run',
    formatVersion: 1,
    date: '2026-01-01',
    commit: '0123456789',
    rounds: 3,
    lines: 1000,
    cores: 2,
  }
  const machine = { cpu: 'a processor', memoryBytes: 8e9, system: 'a system', node: 'v20', load: 0 }
  const sample = (subject: string, wallMs: number, peakRssBytes: number) => ({
    type: 'sample',
    group: 'command',
    stream: 'repeats',
    ...{ subject, wallMs, peakRssBytes, lines: 1000, bytes: 69_000, distinct: 400, exactOutput: true },
  })
  const records = [
    { ...run, ...machine },
    ...[2, 1, 9].map((wallMs) => sample('gawk', wallMs, 3e6)),
    ...[0.5, 0.25, 0.125].map((wallMs) => sample('urlsieve-raw', wallMs, 7e6)),
  ]
  writeFileSync(join(folder, 'command.ndjson'), records.map((record) => JSON.stringify(record)).join('\n'))
  await report('--from', folder)
  const chart = readFileSync(join(folder, 'docs/images/dedupe-light.svg'), 'utf8')
  expect(chart).toContain(
    'urlsieve, raw lines: 4.0 million lines per second, 7 MB; gawk: 0.5 million lines per second, 3 MB.',
  )
  expect(chart.match(/<rect /g)).toHaveLength(4)
  const page = readFileSync(join(folder, 'docs/benchmarks.md'), 'utf8')
  expect(page).toMatch(/\| `gawk '!s\[\$0\]\+\+'` +\| 0\.500 +\| 2,000 +\| 1,000…9,000 +\|/)
  expect(page).toContain('SMALL: 1,000 lines')
})
