// `urlsieve search` as a user runs it, on the built command (npm run build). Some words and mistakes; URLSIEVE_FULL=1: all.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scanTexts } from '../../src/search/scan.ts'
import { madeTexts } from '../search/tables.ts'
import { cases } from './command.ts'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const movies = `id,title,overview
1,The Dark Knight,"Batman, the ""caped"" one,
meets the Joker"
2,Dark City,Night without end
3,Amélie,A waitress in Montmartre
4,Knight and Day,Dark deeds
`

let folder: string
let csv: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'urlsieve-search-'))
  csv = join(folder, 'movies.csv')
  writeFileSync(csv, movies)
})
afterEach(() => rmSync(folder, { recursive: true }))

function search(args: string[], input?: string | Buffer) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'search', ...args], { input })
  return { status, stdout: String(stdout), stderr: String(stderr) }
}
const rowsOf = ({ stdout }: { stdout: string }) =>
  (JSON.parse(stdout) as { rows: { row: number }[] }).rows.map(({ row }) => row)

describe('search a table', () => {
  it('lists the rows that hold all the words, and how good, large and fast that was', () => {
    const { status, stdout, stderr } = search([csv, '--column', 'title', 'dark KNIGHT'])
    expect(stderr).toBe('')
    expect(status).toBe(0)
    expect(stdout).toMatch(/^row +title\n-+ +-+\n +1 +The Dark Knight\n\n/)
    expect(stdout).toMatch(/found {3}1 row of 4, of 1 candidate: precision 100\.0 %/)
    expect(stdout).toMatch(/memory {2}.* of the raw words'/)
    expect(stdout).toMatch(/time {4}filter .* ms/)
    expect(stdout).toMatch(/scan {4}prepared words .* ms .*; cutting each text .* ms/)
  })

  it('takes words apart or as a phrase, several columns, or all of them', () => {
    expect(rowsOf(search([csv, '--json', '--column', 'title', 'dark', 'knight']))).toEqual([1])
    expect(
      rowsOf(search([csv, '--json', '--column', 'title', '--column', 'overview', 'dark knight'])),
    ).toEqual([1, 4])
    expect(rowsOf(search([csv, '--json', 'dark knight']))).toEqual([1, 4])
    expect(rowsOf(search([csv, '--json', 'AME\u0301LIE']))).toEqual([3])
  })

  it('exits with 1 when there is none', () => {
    const none = search([csv, '--column', 'title', 'zebra'])
    expect(none.status).toBe(1)
    expect(none.stdout).toMatch(/^(certainly )?not there: no row holds/)
    // Both words are there, but in no row together.
    const apart = search([csv, '--json', '--column', 'title', 'city', 'amélie'])
    expect(apart.status).toBe(1)
    expect(rowsOf(apart)).toEqual([])
  })

  it('gives the rows as CSV, whole and quoted, and the summary apart', () => {
    const { stdout, stderr } = search([csv, '--csv', '--column', 'title', 'dark knight'])
    expect(stdout).toBe(
      'id,title,overview\r\n1,The Dark Knight,"Batman, the ""caped"" one,\nmeets the Joker"\r\n',
    )
    expect(stderr).toMatch(/^found/)
    expect(search([csv, '--csv', '--quiet', 'dark knight']).stderr).toBe('')
    // What it prints can be searched again.
    expect(rowsOf(search(['-', '--json', 'joker'], stdout))).toEqual([1])
  })

  it('reads stdin, .gz, tabs, and tables without a header', () => {
    expect(rowsOf(search(['-', '--json', '--column', 'title', 'dark'], `\ufeff${movies}`))).toEqual([1, 2])
    writeFileSync(`${csv}.gz`, gzipSync(movies))
    expect(rowsOf(search([`${csv}.gz`, '--json', 'joker']))).toEqual([1])
    const tsv = join(folder, 't.tsv')
    writeFileSync(tsv, 'a\tb\r\nx, y\tz\r\n')
    expect(rowsOf(search([tsv, '--json', '--column', 'a', 'y']))).toEqual([1])
    expect(
      rowsOf(search(['-', '--json', '--delimiter', 'tab', '--no-header', '--column', '2', 'b'], 'a\tb\n')),
    ).toEqual([1])
  })

  it('answers exactly as a scan does, and lists more only when unverified', () => {
    const texts = madeTexts(1500, { vocabulary: 800, seed: 21 })
    const made = join(folder, 'made.csv')
    writeFileSync(made, `text\n${texts.map((text) => `"${text}"`).join('\n')}\n`)
    for (const words of cases([['lo'], ['tiba', 'lo'], ['ké']], [['ba'], ['lo', 'mi'], ['kémi']])) {
      const expected = scanTexts(texts, words).map((row) => row + 1)
      expect(rowsOf(search([made, '--json', '--row-fpr', '0.3', ...words]))).toEqual(expected)
      const unverified = search([made, '--json', '--row-fpr', '0.3', '--unverified', ...words])
      expect(rowsOf(unverified)).toEqual(expect.arrayContaining(expected))
      const { candidates, precision } = JSON.parse(unverified.stdout)
      expect(precision).toBeNull()
      if (words[0] === 'lo' && words.length === 1) expect(candidates).toBeGreaterThan(expected.length)
    }
  })
})

describe('search documents', () => {
  it('is one row a file, without stop words unless asked', () => {
    const files = ['the cat sat', 'The DOG and the cat', 'nothing here'].map((text, i) => {
      const path = join(folder, `${i}.txt`)
      writeFileSync(path, text)
      return path
    })
    const found = search(['the cat', '--json', '--text', ...files])
    expect(rowsOf(found)).toEqual([1, 2])
    expect(found.stderr).toBe('urlsieve: left out as stop words: the\n')
    expect(JSON.parse(found.stdout).rows[1].fields).toEqual({ file: files[1] })
    expect(rowsOf(search(['the dog', '--json', '--stop-words', 'none', '--text', ...files]))).toEqual([2])
    expect(search(['the', '--text', ...files])).toMatchObject({
      status: 2,
      stderr: "urlsieve: only stop words in 'the': use --stop-words none\n",
    })
    const index = join(folder, 'i')
    search(['cat', '--index', index, '--text', ...files])
    writeFileSync(files[2]!, 'a cat too')
    const again = search(['cat', '--json', '--index', index, '--text', ...files])
    expect(again.stderr).toMatch(/2\.txt changed since it was made; the index is rebuilt\n$/)
    expect(rowsOf(again)).toEqual([1, 2, 3])
  })
})

describe('--index', () => {
  const how = ({ stdout }: { stdout: string }) => (JSON.parse(stdout) as { index: string }).index

  it('is kept and used again, also when only the time of change differs', () => {
    const index = join(folder, 'movies.usix')
    const args = [csv, '--json', '--column', 'title', '--index', index]
    const first = search([...args, 'dark knight'])
    expect(how(first)).toBe('built')
    const bytes = readFileSync(index)
    const second = search([...args, 'dark'])
    expect(how(second)).toBe('reused')
    expect(rowsOf(second)).toEqual([1, 2])
    expect(JSON.parse(second.stdout).ms.scan).toBeNull()
    expect(JSON.parse(search([...args, '--scan', 'dark']).stdout).ms.scan.prepared).toBeGreaterThan(0)
    utimesSync(csv, 1, 1)
    expect(how(search([...args, 'city']))).toBe('reused')
    expect(readFileSync(index).equals(bytes)).toBe(true)
  })

  it('is made again, and says so, when the table or the options changed', () => {
    const index = join(folder, 'movies.usix')
    const args = [csv, '--json', '--index', index]
    search([...args, 'dark'])
    writeFileSync(csv, movies.replace('Amélie', 'Zebra!!'))
    const { size } = statSync(csv)
    expect(size).toBe(Buffer.byteLength(movies))
    utimesSync(csv, 5, 5)
    const changed = search([...args, 'zebra'])
    expect(changed.stderr).toBe(
      `urlsieve: ${index}: ${csv} changed since it was made; the index is rebuilt\n`,
    )
    expect(rowsOf(changed)).toEqual([3])
    const other = search([...args, '--column', 'title', 'zebra'])
    expect(other.stderr).toBe(`urlsieve: ${index}: made with other options; the index is rebuilt\n`)
    expect(how(search([...args, '--column', 'title', 'dark']))).toBe('reused')
  })

  it('leaves alone what is no index, and refuses another version and damage', () => {
    const index = join(folder, 'movies.usix')
    const own = search([csv, '--index', csv, 'dark'])
    expect(own).toMatchObject({ status: 3 })
    expect(own.stderr).toMatch(
      /^urlsieve: .*movies\.csv is not a search index: expected .*; it is not changed\n$/,
    )
    expect(readFileSync(csv, 'utf8')).toBe(movies)
    search([csv, '--index', index, 'dark'])
    const bytes = readFileSync(index)
    bytes[bytes.length >> 1]! ^= 4
    writeFileSync(index, bytes)
    expect(search([csv, '--index', index, 'dark'])).toMatchObject({
      status: 3,
      stderr: `urlsieve: index ${index} is damaged: its checksum does not match its content; delete it to rebuild it\n`,
    })
    bytes.writeUInt32LE(9, 8)
    writeFileSync(index, bytes)
    expect(search([csv, '--index', index, 'dark']).stderr).toMatch(
      /has version 9: this urlsieve reads version 1/,
    )
    expect(search([csv, '--index', join(folder, 'no', 'such'), 'dark'])).toMatchObject({ status: 4 })
  })
})

describe('bad input', () => {
  const own: [string[], number, RegExp][] = [
    [
      ['CSV', '--column', 'titel', 'dark'],
      3,
      /no column 'titel' in .*: expected one of id, title, overview\n$/,
    ],
    [['/no/such.csv', 'dark'], 3, /^urlsieve: cannot read \/no\/such\.csv: no such file or folder\n$/],
    [['CSV', '!!!'], 2, /^urlsieve: no words to search for in '!!!'/],
    [[], 2, /^urlsieve: no table: expected a file and words/],
    [['-', 'dark', '--index', 'x'], 2, /^urlsieve: --index with stdin/],
    [['CSV', 'dark', '--csv', '--json'], 2, /^urlsieve: both --csv and --json/],
    [['CSV', 'dark', '--delimiter', ''], 2, /^urlsieve: --delimiter ''/],
    [['dark', '--column', 'a', '--text', 'CSV'], 2, /^urlsieve: --column, .* are for tables/],
    [['-', 'dark'], 3, /^urlsieve: stdin is empty: expected a table\n$/],
  ]
  const alike: [string[], number, RegExp][] = [
    [['FOLDER', 'dark'], 3, /is a folder, expected a file\n$/],
    [['CSV'], 2, /^urlsieve: no words to search for/],
    [['CSV', 'dark', '--fpr', '2'], 2, /^urlsieve: --fpr '2': expected a rate/],
    [
      ['dark', '--text', '/no/such.txt'],
      3,
      /^urlsieve: cannot read \/no\/such\.txt: no such file or folder\n$/,
    ],
  ]
  it.each(cases(own, alike))('%j', (args, status, message) => {
    const result = search(
      args.map((arg) => (arg === 'CSV' ? csv : arg === 'FOLDER' ? folder : arg)),
      '',
    )
    expect(result.stderr).toMatch(message)
    expect(result.status).toBe(status)
    expect(result.stdout).toBe('')
  })

  it('names the line of a ragged row, and takes it with --ragged', () => {
    writeFileSync(csv, `${movies}5,Short\n`)
    const refused = search([csv, 'short'])
    expect(refused).toMatchObject({ status: 3 })
    expect(refused.stderr).toMatch(/movies\.csv, line 7: 2 fields, expected 3/)
    expect(rowsOf(search([csv, '--ragged', '--json', 'short']))).toEqual([5])
  })
})
