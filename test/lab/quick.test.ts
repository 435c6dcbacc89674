// The whole lab at small sizes, as `urlsieve lab --quick` runs it: complete, within its own intervals, repeatable.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Result } from '../../src/lab/experiment.ts'
import { clopperPearson } from '../../src/lab/interval.ts'
import { choose, experiments } from '../../src/lab/registry.ts'
import { report } from '../../src/lab/report.ts'
import { csvName, type Run, run, writeRecord } from '../../src/lab/run.ts'

let done: Run
let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'urlsieve-quick-'))
  done = await run({ experiments, quick: true }, { finished: (record) => writeRecord(folder, record) })
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true }))

test('every experiment finishes', () => {
  expect(done.failures).toEqual([])
  expect(done.records.map(({ experiment }) => experiment)).toEqual([
    ...['cen2010', 'term-project', 'sharma', 'jiang', 'url-cache'],
    ...['baselines', 'equal-memory', 'hashes', 'crawl-loss', 'growth'],
    ...['xor-order', 'layering', 'adversary', 'value-bits'],
  ])
})

describe.each(experiments.map(({ name }) => name))('%s', (name) => {
  const result = (): Result => done.records.find(({ experiment }) => experiment === name)!.result

  test('has a finding, a table whose rows fit its columns, and a plot', () => {
    const { finding, tables, plots } = result()
    expect(finding).toMatch(/\d/)
    expect(finding).not.toMatch(/NaN|undefined|Infinity|null/)
    expect(tables.length).toBeGreaterThan(0)
    expect(plots.length).toBeGreaterThan(0)
    for (const { title, columns, rows } of tables) {
      expect(rows.length, title).toBeGreaterThan(0)
      for (const row of rows) expect(row.length, title).toBe(columns.length)
      for (const cell of rows.flat()) if (typeof cell === 'number') expect(cell, title).not.toBeNaN()
    }
    for (const { alt, x, y } of plots) for (const text of [alt, x.label, y.label]) expect(text).not.toBe('')
  })

  test('every rate lies within the interval it states', () => {
    const { tables, plots } = result()
    for (const { title, series } of plots)
      for (const { name: of, points } of series)
        for (const { y, low = y, high = y } of points) {
          expect(low, `${title}, ${of}`).toBeLessThanOrEqual(y)
          expect(high, `${title}, ${of}`).toBeGreaterThanOrEqual(y)
        }
    for (const { title, columns, rows } of tables) {
      const at = (column: string) => columns.findIndex((one) => one.name === column)
      if (at('low') < 0) continue
      for (const row of rows) {
        const [rate, low, high] = ['rate', 'low', 'high'].map((column) => row[at(column)])
        if (rate === null) continue
        expect(low, title).toBeLessThanOrEqual(Number(rate))
        expect(high, title).toBeGreaterThanOrEqual(Number(rate))
      }
    }
  })
})

test('the same seed gives the same cells again, times apart', async () => {
  const again = await run({
    experiments: choose(
      process.env.URLSIEVE_FULL ? ['sharma', 'url-cache', 'equal-memory', 'jiang'] : ['sharma'],
    ),
    quick: true,
  })
  for (const record of again.records) {
    const first = done.records.find(({ experiment }) => experiment === record.experiment)!
    expect(record.data).toEqual(first.data)
    expect(untimed(record.result)).toEqual(untimed(first.result))
  }
})

function untimed({ tables }: Result) {
  return tables.map(({ title, columns, rows }) => ({
    title,
    rows: rows.map((row) => row.filter((_, c) => !columns[c]!.timing)),
  }))
}

test.each(['sharma', 'jiang', 'equal-memory'])('%s can be recomputed from its CSV', (name) => {
  const rows = parse(readFileSync(join(folder, `${name}.csv`), 'utf8'), { columns: true }) as Record<
    string,
    string
  >[]
  expect(rows.length).toBeGreaterThan(3)
  for (const row of rows) {
    const hits = Number(row['false positives'])
    const trials = Number(row.queries)
    expect(Number(row.rate)).toBeCloseTo(hits / trials, 14)
    const widths = [0.95, 0.99].map((confidence) => clopperPearson({ hits, trials, confidence }))
    const [near, wide] = widths
    // Whichever of the usual confidences it states, it is that of these counts.
    const isOne = [near!, wide!].some(
      ({ lower, upper }) =>
        Math.abs(lower - Number(row.low)) < 1e-12 && Math.abs(upper - Number(row.high)) < 1e-12,
    )
    expect(isOne, JSON.stringify(row)).toBe(true)
  }
})

test('every experiment has a verdict, and the papers have at least 25', () => {
  const all = done.records.flatMap(({ result }) => result.claims)
  for (const { experiment, result } of done.records)
    expect([experiment, result.claims.length > 0]).toEqual([experiment, true])
  expect(all.filter(({ source }) => !source.startsWith('ours')).length).toBeGreaterThanOrEqual(25)
  for (const paper of ['cen-2010', 'term-project', 'sharma-keywords', 'jiang-eigenvalue', 'url-caching'])
    expect(all.filter(({ source }) => source.includes(paper)).length).toBeGreaterThanOrEqual(4)
  for (const { claim, number, verdict } of all) {
    expect(number, claim).toMatch(/\d/)
    expect(number, claim).not.toMatch(/NaN|undefined|Infinity|null/)
    expect(['confirmed', 'confirmed only with more memory', 'not reproduced', 'wrong']).toContain(verdict)
  }
  // Each of the tables is a file.
  for (const { experiment, result } of done.records)
    result.tables.forEach((table, i) => {
      expect(readFileSync(join(folder, csvName(experiment, i)), 'utf8').split('\r\n').length).toBeGreaterThan(
        table.rows.length,
      )
    })
})

test('the report of it all is made in a moment and of a modest size', () => {
  const text = report(done)
  expect(text.length).toBeLessThan(3_000_000)
  expect(text).not.toMatch(/NaN|undefined/)
})
