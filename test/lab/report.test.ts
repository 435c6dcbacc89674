import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { parseHTML } from 'linkedom'
import { beforeAll, describe, expect, test } from 'vitest'
import { LabProgress } from '../../src/cli/lab-progress.ts'
import { shown, tick, withPowers } from '../../src/lab/cells.ts'
import { csv } from '../../src/lab/csv.ts'
import { commandLine } from '../../src/lab/provenance.ts'
import { choose } from '../../src/lab/registry.ts'
import { report } from '../../src/lab/report.ts'
import { type ExperimentRecord, type Run, run, writeRecord } from '../../src/lab/run.ts'
import { broken, digits, numbers } from './samples.ts'

let done: Run
beforeAll(async () => {
  done = await run({ experiments: [digits, numbers, broken], quick: true, seed: 5 })
})

describe('a run', () => {
  test('records each experiment with what is needed to repeat it, and goes on after one that fails', () => {
    expect(done.records.map(({ experiment }) => experiment)).toEqual(['digits', 'numbers'])
    expect(done.failures.map(({ experiment }) => experiment)).toEqual(['broken'])
    const [first] = done.records
    expect(first).toMatchObject({ seed: 5, quick: true, command: 'urlsieve lab digits --quick --seed 5' })
    expect(first!.data).toMatchObject({ urls: 200, description: 'links generated from seed 5' })
    expect(first!.data.sha256).toMatch(/^[0-9a-f]{64}$/)
    const versions = { node: process.versions.node, urlsieve: expect.stringMatching(/^\d/) }
    expect(first!.versions).toMatchObject(versions)
    expect(first!.machine.cores).toBeGreaterThan(0)
  })

  test('the same seed gives the same result, another seed another', async () => {
    const again = await run({ experiments: [digits, numbers], quick: true, seed: 5 })
    expect(again.records.map(({ result }) => result)).toEqual(done.records.map(({ result }) => result))
    const other = await run({ experiments: [numbers], quick: true, seed: 6 })
    expect(other.records[0]!.result.tables[0]!.rows).not.toEqual(done.records[1]!.result.tables[0]!.rows)
  })

  test('alone, an experiment gives what it gave among others', async () => {
    const alone = await run({ experiments: [numbers], quick: true, seed: 5 })
    expect(alone.records[0]!.result).toEqual(done.records[1]!.result)
  })

  test('an unknown name is one line that lists the known ones', () => {
    expect(() => choose(['digits', 'nope'], [digits, numbers])).toThrow(
      "no experiment 'nope': expected one of digits, numbers",
    )
    expect(choose(['numbers', 'numbers'], [digits, numbers])).toEqual([numbers])
    expect(choose([], [digits, numbers])).toEqual([digits, numbers])
  })
})

describe('files', () => {
  test('CSV and JSON come back as they were', () => {
    const folder = mkdtempSync(join(tmpdir(), 'urlsieve-lab-'))
    try {
      for (const record of done.records) writeRecord(join(folder, 'new', 'deep'), record)
      const at = join(folder, 'new', 'deep')
      expect(readdirSync(at).sort()).toEqual(['digits.csv', 'digits.json', 'numbers.csv', 'numbers.json'])
      const [table] = done.records[0]!.result.tables
      const rows = parse(readFileSync(join(at, 'digits.csv'), 'utf8')) as string[][]
      expect(rows[0]).toEqual(table!.columns.map(({ name }) => name))
      expect(rows.slice(1)).toEqual(
        table!.rows.map((row) => row.map((cell) => (cell === null ? '' : String(cell)))),
      )
      const record = JSON.parse(readFileSync(join(at, 'digits.json'), 'utf8')) as ExperimentRecord
      expect(record).toEqual(JSON.parse(JSON.stringify(done.records[0])))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('CSV quotes what must be quoted', () => {
    const columns = [{ name: 'a,b' }, { name: 'c' }]
    const rows = [
      ['say "hi"', 1e-7],
      ['two\nlines', null],
      [' space', 0.1 + 0.2],
    ]
    const text = csv({ title: '', columns, rows })
    expect(text).toBe('"a,b",c\r\n"say ""hi""",1e-7\r\n"two\nlines",\r\n" space",0.30000000000000004\r\n')
  })

  test('a command line is quoted for the shell', () => {
    expect(commandLine(['urlsieve', 'lab', '--urls', "it's here.txt", 'a/b.gz'])).toBe(
      `urlsieve lab --urls 'it'\\''s here.txt' a/b.gz`,
    )
  })
})

describe('numbers for people', () => {
  test.each([
    [1234567, 'count', '1,234,567'],
    [0.5, 'count', '0.500'],
    [0.0326, 'rate', '3.26 %'],
    [0, 'rate', '0'],
    [1.234e-5, 'rate', '1.23e-5'],
    [1536, 'bytes', '1.5 KiB'],
    [12.345, 'time', '12.3'],
    [null, 'count', '-'],
    [Number.NaN, 'ratio', '-'],
    ['word', 'count', 'word'],
  ] as const)('%s as %s is %s', (cell, as, text) => expect(shown(cell, { name: '', as })).toBe(text))

  test('ticks and powers', () => {
    expect([0, 0.5, 20_000, 3.5e6, 1e-6, 2e-4].map(tick)).toEqual([
      '0',
      '0.5',
      '20 k',
      '3.5 M',
      '10⁻⁶',
      '2 × 10⁻⁴',
    ])
    expect(withPowers('1.23e-5')).toBe('1.23 × 10⁻⁵')
    expect(withPowers('web e-5')).toBe('web e-5')
  })
})

describe('the report', () => {
  const page = () => {
    const text = report(done)
    return { text, document: parseHTML(text).document }
  }

  test('is one file that asks nothing of the network', () => {
    const { text, document } = page()
    expect(text).not.toMatch(/<script|@import|url\(|<link[^>]+href="(?!data:)|src="/)
    for (const link of document.querySelectorAll('a'))
      expect(link.getAttribute('href')).toMatch(/^#|^data:text\/csv/)
    expect(document.documentElement.getAttribute('lang')).toBe('en')
    for (const landmark of ['header', 'main', 'nav', 'footer', 'a.skip'])
      expect(document.querySelector(landmark), landmark).not.toBeNull()
  })

  test('has a section, a question, a finding, figures, tables and a command for each experiment', () => {
    const { document } = page()
    for (const record of done.records) {
      const section = document.getElementById(record.experiment)!
      expect(section.querySelector('h2')!.textContent).toBe(record.title)
      expect(section.querySelector('.question')!.textContent).toBe(record.question)
      expect(section.querySelector('.finding')!.textContent).toBe(record.result.finding)
      expect(section.querySelector('pre')!.textContent).toBe(record.command)
      expect(section.querySelectorAll('figure').length).toBe(record.result.plots.length)
      expect(section.querySelectorAll('table').length).toBe(record.result.tables.length)
      expect(document.querySelector(`nav a[href="#${record.experiment}"]`)).not.toBeNull()
    }
    expect(document.querySelector('.failed')!.textContent).toContain('broken did not finish: it broke <here>')
    const ids = [...document.querySelectorAll('[id]')].map((element) => element.id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('tables have captions, headers and labelled regions; numbers are set to the right', () => {
    const { document } = page()
    for (const region of document.querySelectorAll('[role=region]')) {
      expect(region.getAttribute('tabindex')).toBe('0')
      expect(
        document.getElementById(region.getAttribute('aria-labelledby')!)!.closest('caption'),
      ).not.toBeNull()
    }
    const table = document.querySelector('#digits table')!
    expect(table.querySelectorAll('thead th[scope=col]').length).toBe(9)
    expect(table.querySelectorAll('tbody th[scope=row]').length).toBe(3)
    expect([...table.querySelectorAll('tbody tr:first-child > *')].map((cell) => cell.className)).toEqual([
      'number',
      'name',
      ...Array<string>(5).fill('number'),
      'name',
      'number',
    ])
  })

  test('figures have an alternative text, a legend, and both sizes of the drawing', () => {
    const { document } = page()
    const [line, groups, list] = document.querySelectorAll('#digits figure')
    expect(line!.querySelector('[role=img]')!.getAttribute('aria-label')).toBe(digitsAlt)
    expect([...line!.querySelectorAll('.legend li')].map((item) => item.textContent)).toEqual([
      'sevens, ours',
      'sevens, printed',
    ])
    expect(line!.querySelector('figcaption')!.textContent).toMatch(/in the paper.*confidence.*none found/s)
    for (const figure of [line!, groups!, list!]) {
      expect(figure.querySelectorAll('.wide svg').length).toBe(1)
      expect(figure.querySelectorAll('.narrow svg').length).toBe(1)
      for (const svg of figure.querySelectorAll('svg')) expect(svg.outerHTML).not.toMatch(/NaN|undefined/)
    }
    expect(line!.querySelector('.wide svg')!.textContent).toContain('rate')
    expect(list!.querySelectorAll('.legend li').length).toBe(0)
    expect(list!.querySelector('.wide svg')!.textContent).toContain('fingerprint')
  })

  test('what experiments say is text, not markup', () => {
    const { text, document } = page()
    expect(document.querySelector('#digits b:not([id])')).toBeNull()
    expect(text).toContain('URLs with a &lt;digit&gt; &amp; &quot;more&quot;')
  })

  const digitsAlt = 'The rate falls with the length & is zero at nine'
})

test('progress says how far, what, and how long still', () => {
  let now = 0
  const progress = new LabProgress(3, false, () => now)
  progress.started('digits', 1)
  expect(progress.text(0, '')).toBe(' 2/3 digits  ░░░░░░░░░░░░░░░░░░░░░░░░   0 %')
  now = 10_000
  expect(progress.text(0.25, 'depth 3')).toBe(
    ' 2/3 digits  ██████░░░░░░░░░░░░░░░░░░  25 %  0:30 left  lab 0:50  depth 3',
  )
})
