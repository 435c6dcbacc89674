// Inputs that are not what they are read as: refused where a format was named, one line where they are read as lines; and
// records without a URL, which are never merged by their field.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { bash, type Ended, expectFailure, expectQuiet, temporaryFolder, urlsieve } from './command.ts'

const cwd = temporaryFolder()
const urls = Array.from({ length: 12 }, (_, i) => `https://example.com/${i}`)
const each = (row: (url: string, i: number) => string) => urls.map((url, i) => `${row(url, i)}\n`).join('')
const warc = each(
  (url) => `WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: ${url}\r\nContent-Length: 2\r\n\r\nok\r\n\r`,
)
const files = {
  csv: `id,page\n${each((url, i) => `${i},${url}`)}`,
  jsonl: each((url) => JSON.stringify({ request: { url } })),
  cdx: each((url, i) => `com,example)/${i} 20240101000000 ${url} text/html 200 X - - 1 2 f`),
  cdxj: each((url, i) => `com,example)/${i} 20240101000000 ${JSON.stringify({ url })}`),
  warc,
  sitemap: `<?xml version="1.0"?>\n<urlset>\n${each((url) => `<url><loc>${url}</loc></url>`)}</urlset>\n`,
  lines: each((url) => url),
}
for (const [name, text] of Object.entries(files)) {
  writeFileSync(join(cwd, name), text)
  writeFileSync(join(cwd, `${name}.gz`), gzipSync(text))
}
const run = (args: readonly string[], input?: string) =>
  urlsieve(args, { cwd, ...(input !== undefined && { input }) })

function expectHint(ended: Ended, words: RegExp): void {
  expect(ended.stderr).toMatch(/^urlsieve: warning: [^\n]+\n/)
  expect(ended.stderr).toMatch(words)
  expect(ended.code).toBe(0)
}

describe('records without a URL', () => {
  const values = ['N/A', '', '/relative/a', '-', 'see: there']
  const csv = `id,url\n${values.map((value, i) => `${i},${value}\n9${i},${value}\n`).join('')}`
  const jsonl = values
    .flatMap((url, i) => [
      { i, url },
      { i: 9 + i, url },
    ])
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('')

  it.each(['raw', 'web', 'crawlee', 'scrapy', 'aggressive'])(
    'are all kept, and counted: %s',
    async (profile) => {
      for (const [format, input] of [
        ['csv', csv],
        ['jsonl', jsonl],
      ] as const) {
        const ended = await run(['dedupe', '--format', format, '--profile', profile, '--stats'], input)
        expect(ended.stdout.toString()).toBe(input)
        const stats = ended.stderr.slice(ended.stderr.indexOf('{'))
        expect(JSON.parse(stats)).toMatchObject({ lines: 10, new: 10, seen: 0, invalid: 10 })
      }
    },
  )

  it('the same record again is a repeat, also of another run; no URL is', async () => {
    const rows = 'url,note\n,x\nhttps://a.example/,\n,x\n"",x\nhttps://a.example/,y\n'
    const args = ['dedupe', '--format', 'csv', '--state', 'seen']
    const first = await run(args, rows)
    expect(first.stdout.toString()).toBe('url,note\n,x\nhttps://a.example/,\n"",x\n')
    expect((await run(args, rows)).stdout.toString()).toBe('url,note\n')
    const counted = await run(['dedupe', '--format', 'csv', '--count'], rows)
    expect(counted.stdout.toString()).toBe(
      '        url,note\n      2 ,x\n      2 https://a.example/,\n      1 "",x\n',
    )
  })

  it('also in check, and by host', async () => {
    const checked = await run(['check', '--state', 'seen', '--format', 'csv'], 'url,note\n,z\n,x\n')
    expect(checked.stdout.toString()).toBe('new   ,z\nseen  ,x\n')
    const args = [
      'dedupe',
      '--format',
      'csv',
      '--by-host',
      'hosts',
      '--invalid-to',
      'invalid.csv',
      '--bare-hosts',
    ]
    const byHost = await run(args, 'url,note\na.example/x,1\nN/A,2\nN/A,3\n')
    expectQuiet(byHost)
    expect((await bash('cat invalid.csv; cat hosts/*', { cwd })).stdout.toString()).toBe(
      'url,note\nN/A,2\nN/A,3\nurl,note\na.example/x,1\n',
    )
  })
})

describe('a format that was named wrongly', () => {
  const wrong: [args: string[], words: RegExp][] = [
    [
      ['--format', 'csv', 'cdxj.gz'],
      /^urlsieve: cdxj.gz looks like CDXJ, not CSV: expected --format cdxj\n$/,
    ],
    [['--format', 'cdxj', 'cdx'], /cdx looks like CDX, not CDXJ: expected --format cdx\n/],
    [
      ['--format', 'jsonl', 'csv'],
      /csv looks like CSV, not JSON lines: expected --format csv --field page\n/,
    ],
    [
      ['--format', 'csv', 'jsonl'],
      /looks like JSON lines, not CSV: expected --format jsonl --field .request.url/,
    ],
    [['--format', 'warc', 'sitemap.gz'], /looks like a sitemap, not WARC: expected --format sitemap/],
    [['--format', 'sitemap', 'warc'], /looks like WARC, not a sitemap: expected --format warc/],
    [['--format', 'tsv', '--field', '1', 'warc'], /looks like WARC, not TSV/],
    [['--format', 'parquet', 'csv'], /looks like CSV, not Parquet/],
    [
      ['--format', 'jsonl', 'lines'],
      /looks like one URL per line, not JSON lines: leave --format and --field out/,
    ],
    [['--format', 'sitemap', 'lines'], /looks like one URL per line, not a sitemap/],
  ]
  it.each(wrong)('%j', async (args, words) => {
    const ended = await run(['dedupe', ...args])
    expectFailure(ended, 2, words)
    expect(ended.stdout.toString()).toBe('')
  })

  it('of stdin, and in learn', async () => {
    expectFailure(await run(['dedupe', '--format', 'csv'], files.cdx), 2, /stdin looks like CDX, not CSV/)
    expectFailure(await run(['learn', '--format', 'warc', 'cdxj']), 2, /cdxj looks like CDXJ, not WARC/)
  })

  it('CDXJ is read as CDX, too', async () => {
    const ended = await run(['dedupe', '--format', 'cdx', 'cdxj.gz', 'cdxj'])
    expectQuiet(ended)
    expect(ended.stdout.toString()).toBe(files.cdxj)
  })

  it('a field that no record has', async () => {
    expectFailure(
      await run(['dedupe', '--format', 'jsonl', '--field', 'nope'], files.jsonl),
      2,
      /--field 'nope'.*request/,
    )
    expectFailure(
      await run(['dedupe', '--format', 'csv', '--field', '99', 'csv']),
      2,
      /--field '99': .*from 1 to 2/,
    )
    // One that comes late.
    const late = `${'{"a":1}\n'.repeat(5)}{"b":"https://a.example/"}\n`
    const ended = await run(['dedupe', '--format', 'jsonl', '--field', 'b'], late)
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout.toString()).toBe('{"a":1}\n{"b":"https://a.example/"}\n')
  })
})

describe('another format read as lines is told in one line', () => {
  const words: Record<string, RegExp> = {
    csv: /looks like CSV and is read as one URL per line: add --format csv --field page\n/,
    jsonl: /looks like JSON lines .*: add --format jsonl --field .request.url\n/,
    cdx: /looks like CDX and .*: add --format cdx\n/,
    cdxj: /looks like CDXJ and .*: add --format cdxj\n/,
    warc: /looks like WARC and .*: add --format warc\n/,
    sitemap: /looks like a sitemap and .*: add --format sitemap\n/,
  }
  it.each(Object.keys(words))('%s', async (name) => {
    for (const file of [name, `${name}.gz`]) expectHint(await run(['dedupe', file]), words[name]!)
    expectHint(await run(['dedupe'], files[name as keyof typeof files]), words[name]!)
  })

  it.each([
    ['dedupe', '--threads', '2'],
    ['dedupe', '--max-memory', '200M'],
    ['dedupe', '--new', 'new.txt'],
    ['dedupe', '--count'],
    ['dedupe', '--filter', 'exact', '--state', 'exact'],
    ['shapes'],
  ])('%j', async (...args) => {
    expectHint(await run([...args, 'jsonl.gz']), words.jsonl!)
  })

  it('in check, under and learn', async () => {
    expect((await run(['dedupe', 'lines', '--state', 'listed'])).code).toBe(0)
    const checked = await run(['check', '--state', 'listed', '--in', 'cdx'])
    expect(checked.stderr).toMatch(words.cdx!)
    const under = await run(['under', 'example.com', '--in', 'warc'])
    expect(under.stderr).toMatch(
      /looks like WARC .*: 'urlsieve dedupe --format warc' makes such a list of it\n/,
    )
    const learned = await run(['learn'], 'url,digest\nhttps://a.example/,x\n')
    expect(learned.stderr).toMatch(
      /stdin looks like CSV and is read as one page per line: add --format csv\n/,
    )
  })

  it('nothing is said of plain lists', async () => {
    for (const args of [['lines'], ['lines.gz'], ['--bare-hosts', 'lines'], ['-0', 'csv']])
      expectQuiet(await run(['dedupe', ...args]))
    expectQuiet(
      await run(
        ['dedupe'],
        each((url) => `${url},b?q={"a":"${url}"}`),
      ),
    )
  })
})
