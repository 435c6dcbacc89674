// Every format, by commands that read lists of URLs: the same answer as of the plain list. Some formats that are alike;
// URLSIEVE_FULL=1: all.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import { randomFrom } from '../support/random.mjs'
import { cases, expectFailure, expectQuiet, temporaryFolder, urlsieve } from './command.ts'

const cwd = temporaryFolder()
const random = randomFrom(5)
const urls = Array.from(
  { length: 400 },
  () => `https://example.com/post/${Math.floor(random() * 300)}?page=${Math.floor(random() * 9)}`,
)
const warcRecord = (url: string, digest = '') =>
  `WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: ${url}\r\n${digest && `WARC-Payload-Digest: ${digest}\r\n`}Content-Length: 5\r\n\r\nhello\r\n\r\n`
const lines = (row: (url: string, i: number) => string) => urls.map((url, i) => `${row(url, i)}\n`).join('')

const files: Readonly<Record<string, readonly [flags: readonly string[], content: string | Uint8Array]>> = {
  'a.txt': [[], lines((url) => url)],
  'a.csv': [['--field', 'url'], `id,url\n${lines((url, i) => `${i},"${url}"`)}`],
  'a.tsv': [['--field', '1'], lines((url, i) => `${url}\t${i}`)],
  'a.jsonl': [['--field', '.a.url'], lines((url) => JSON.stringify({ a: { url } }))],
  'a.cdx': [['--format', 'cdx'], lines((url, i) => `com,example)/${i} 2024 ${url} text/html 200 X`)],
  'a.cdxj': [['--format', 'cdxj'], lines((url) => `com,example)/ 2024 ${JSON.stringify({ url })}`)],
  'a.warc.gz': [['--format', 'warc'], gzipSync(urls.map((url) => warcRecord(url)).join(''))],
  'a.xml': [['--format', 'sitemap'], lines((url) => `<url><loc>${url}</loc></url>`)],
  'a.log': [['--extract'], lines((url, i) => `${i} GET <${url}>.`)],
  'a.nul': [['-0'], urls.join('\0')],
  'a.parquet': [
    ['--field', 'url'],
    new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'url', data: urls, type: 'STRING' }] })),
  ],
  'a.hosts': [['--bare-hosts'], lines((url) => url.replace('https://', ''))],
}
for (const [name, [, content]] of Object.entries(files)) writeFileSync(join(cwd, name), content)
/** dedupe of records reads the others (records.test.ts). */
const ALIKE = ['a.tsv', 'a.cdx', 'a.cdxj', 'a.xml']
const names = cases(
  Object.keys(files).filter((name) => !ALIKE.includes(name)),
  ALIKE,
)
const run = (command: string[], name: string) => urlsieve([...command, ...files[name]![0]], { cwd })

it('shapes', async () => {
  const reports = await Promise.all(names.map((name) => run(['shapes', '--json', name], name)))
  for (const [i, ended] of reports.entries()) {
    expectQuiet(ended)
    const { urls: count, invalid, list } = JSON.parse(ended.stdout.toString())
    expect({ count, invalid }, names[i]).toEqual({ count: 400, invalid: 0 })
    // Distinct values are estimates, by a key of each run.
    const [{ shape, examples }] = list[0].shapes
    expect({ shape, examples }, names[i]).toEqual({ shape: '/post/{number}?page={number}', examples })
    expect(urls, names[i]).toEqual(expect.arrayContaining(examples))
  }
})

it('dedupe of Parquet: the URLs of the plain list', async () => {
  const [plain, parquet] = await Promise.all(
    ['a.txt', 'a.parquet'].map((name) => run(['dedupe', name], name)),
  )
  expectQuiet(parquet!)
  expect(parquet!.stdout.equals(plain!.stdout)).toBe(true)
  writeFileSync(join(cwd, 'cut.parquet'), (files['a.parquet']![1] as Uint8Array).subarray(0, -100))
  const [cut, unnamed, stdin] = await Promise.all([
    urlsieve(['dedupe', 'cut.parquet', '--field', 'url'], { cwd }),
    urlsieve(['dedupe', 'a.parquet'], { cwd }),
    urlsieve(['dedupe', '--format', 'parquet'], { input: 'PAR1' }),
  ])
  expectFailure(cut!, 3, /not a Parquet file that can be read: its end is missing/)
  expectFailure(unnamed!, 3, /it is a Parquet file: name its column, such as --field url/)
  expectFailure(stdin!, 2, /a Parquet file is not read from stdin/)
})

describe('check', () => {
  it('the verdicts of the plain list, and rows that are new', async () => {
    const known = `${urls.filter((_, i) => i % 2 === 0).join('\n')}\n`
    expect((await urlsieve(['dedupe', '--state', 'seen'], { cwd, input: known })).code).toBe(0)
    const verdicts = async (name: string) => {
      const { stdout } = await run(['check', '--state', 'seen', '--in', name], name)
      return stdout.toString().match(/(?<=^|[\n\0])(new|seen)(?= )/g)
    }
    const plain = await verdicts('a.txt')
    expect(plain).toHaveLength(400)
    for (const name of cases(['a.csv', 'a.nul', 'a.parquet'], ['a.hosts'])) {
      expect(await verdicts(name)).toEqual(plain)
    }
    const { stdout, code } = await run(
      ['check', '--state', 'seen', '--in', 'a.csv', '--only', 'new'],
      'a.csv',
    )
    const rows = lines((url, i) => `${i},"${url}"`).split('\n')
    expect(stdout.toString().split('\n')).toEqual([
      'id,url',
      ...rows.filter((_, i) => plain![i] === 'new'),
      '',
    ])
    expect(code).toBe(1)
  })

  it('a bare host as an argument', async () => {
    const bare = await urlsieve(['check', '--state', 'seen', '--bare-hosts', urls[0]!.slice(8)], { cwd })
    expect(bare.stdout.toString()).toBe(`seen  ${urls[0]!.slice(8)}\n`)
    const field = await urlsieve(['check', '--state', 'seen', '--field', 'url', urls[0]!], { cwd })
    expectFailure(field, 2, /--field is for lines/)
  })
})

describe('learn', () => {
  const pages = Array.from({ length: 2000 }, (_, i) => {
    const page = i % 500
    return [`https://a.example/p${page}?sid=${i}`, `digest of ${page}`] as const
  })
  const write = (name: string, row: (page: readonly [string, string]) => string, head = '') =>
    writeFileSync(join(cwd, name), head + pages.map(row).join(''))
  write('p.tsv', ([url, digest]) => `${url}\t${digest}\n`)
  write('p.csv', ([url, digest]) => `"${digest}",${url}\n`, 'digest,url\n')
  write('named.tsv', ([url, digest]) => `${digest}\t${url}\n`, 'sum\tpage\n')
  write('p.jsonl', ([url, digest]) => `${JSON.stringify({ page: { url }, sum: digest })}\n`)
  write('p.warc', ([url, digest]) => warcRecord(url, digest))

  it('the same rules of CSV, named columns, JSON lines and WARC as of TSV', async () => {
    const learned = async (...args: string[]) => {
      const ended = await urlsieve(['learn', '--json', ...args], { cwd })
      expectQuiet(ended)
      const { counts, rules } = JSON.parse(ended.stdout.toString())
      return { counts, rules }
    }
    const expected = await learned('p.tsv')
    expect(expected.rules.length).toBeGreaterThan(0)
    const others = await Promise.all([
      learned('p.csv'),
      learned('named.tsv', '--field', 'page', '--digest', 'sum'),
      learned('p.jsonl', '--field', '.page.url', '--digest', 'sum'),
      learned('p.warc'),
    ])
    for (const other of others) expect(other).toEqual(expected)
  })

  it('columns that are not there are refused', async () => {
    const [digest, field, mixed] = await Promise.all([
      urlsieve(['learn', 'p.csv', '--digest', 'sum'], { cwd }),
      urlsieve(['learn', '--field', 'page'], { cwd, input: '' }),
      urlsieve(['learn', 'p.csv', '--field', '2'], { cwd }),
    ])
    expectFailure(digest!, 2, /--digest 'sum': expected one of its columns digest, url/)
    expectFailure(field!, 2, /--field or --digest for stdin: expected --format csv, tsv or jsonl/)
    expectFailure(mixed!, 2, /--field and --digest: expected two names of columns, or two numbers/)
  })
})
