// `dedupe` over records: the same URLs are kept as of the plain list, with their rows. Some of the formats also packed;
// URLSIEVE_FULL=1: all.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { randomFrom } from '../support/random.mjs'
import { cases, isFull, temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()
const random = randomFrom(99)
const urls = Array.from({ length: 5000 }, () => `https://example.com/${Math.floor(random() * 2000)}?q="a,b"`)

/** The indices of the lines that the plain list keeps. */
const first = new Map<string, number>()
urls.forEach((url, i) => {
  if (!first.has(url)) first.set(url, i)
})
const keptIndices = [...first.values()]

const csvField = (text: string) => `"${text.replaceAll('"', '""')}"`
const warcRecord = (url: string) =>
  `WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: ${url}\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n`
const files: readonly [
  name: string,
  flags: string[],
  header: string,
  row: (url: string, i: number) => string,
  kept?: (url: string) => string,
][] = [
  ['a.csv', ['--field', 'url'], 'id,url,note\n', (url, i) => `${i},${csvField(url)},"two\nlines"\n`],
  ['a.tsv', ['--field', '2'], '', (url, i) => `${i}\t${url}\n`],
  ['a.jsonl', ['--field', '.request.url'], '', (url, i) => `${JSON.stringify({ i, request: { url } })}\n`],
  ['a.cdx', ['--format', 'cdx'], ' CDX N b a m\n', (url, i) => `com,example)/${i} 2024 ${url} text/html\n`],
  ['a.cdxj', ['--format', 'cdxj'], '', (url, i) => `com,example)/${i} 2024 ${JSON.stringify({ url })}\n`],
  ['a.warc', ['--format', 'warc'], '', warcRecord, (url) => `${url}\n`],
]

describe('dedupe of records', () => {
  it('keeps the same as of the plain list', async () => {
    const plain = await urlsieve(['dedupe'], { input: `${urls.join('\n')}\n` })
    expect(plain.stdout.toString()).toBe(keptIndices.map((i) => `${urls[i]}\n`).join(''))
  })

  it.each(files)('%s, packed or not: rows are kept as they are', async (name, flags, header, row, kept) => {
    const text = header + urls.map(row).join('')
    const expected = header + keptIndices.map((i) => (kept ? kept(urls[i]!) : row(urls[i]!, i))).join('')
    writeFileSync(join(folder, name), text)
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text))
    // Unpacking is the same for all: rows of lines and of more than a line.
    const isPackedToo = isFull || ['a.csv', 'a.jsonl', 'a.warc'].includes(name)
    for (const path of isPackedToo ? [name, `${name}.gz`] : [name]) {
      const { stdout, stderr, code } = await urlsieve(['dedupe', path, ...flags], { cwd: folder })
      expect(stderr).toBe('')
      expect(code).toBe(0)
      expect(stdout.toString()).toBe(expected)
    }
  })

  it('of sitemaps and texts: the URLs', async () => {
    const plain = urls.map((url) => url.replaceAll('"', '%22'))
    const expected = keptIndices.map((i) => `${plain[i]}\n`).join('')
    const sitemap = plain.map((url) => `<url><loc>${url}</loc></url>`).join('\n')
    const ofSitemap = await urlsieve(['dedupe', '--format', 'sitemap'], { input: sitemap })
    expect(ofSitemap.stdout.toString()).toBe(expected)
    const text = plain.map((url, i) => `${i}. see <${url}> (or ${url}).`).join('\n')
    expect((await urlsieve(['dedupe', '--extract'], { input: text })).stdout.toString()).toBe(expected)
  })

  it('--repeated, --state and several files: one header, and what was seen in an earlier run', async () => {
    const [one, two] = ['one.csv', 'two.csv'].map((name) => join(folder, name)) as [string, string]
    writeFileSync(one, 'n,url\n1,https://a.example/\n2,https://b.example/\n')
    writeFileSync(two, 'n,url\n3,https://b.example/\n4,https://c.example/\n')
    const both = await urlsieve(['dedupe', '--field', 'url', one, two])
    expect(both.stdout.toString()).toBe(
      'n,url\n1,https://a.example/\n2,https://b.example/\n4,https://c.example/\n',
    )
    const repeats = await urlsieve(['dedupe', '--field', 'url', '--repeated', one, two])
    expect(repeats.stdout.toString()).toBe('n,url\n3,https://b.example/\n')
    const state = join(folder, 'seen')
    await urlsieve(['dedupe', '--field', 'url', '--state', state, one])
    const later = await urlsieve(['dedupe', '--field', 'url', '--state', state, two, '--stats'])
    expect(later.stdout.toString()).toBe('n,url\n4,https://c.example/\n')
    expect(JSON.parse(later.stderr)).toMatchObject({ lines: 2, new: 1, seen: 1, invalid: 0 })
  })

  it('cut and damaged: the rows before, and one line', async () => {
    const warc = warcRecord('https://a.example/') + warcRecord('https://b.example/').slice(0, -8)
    const cut = await urlsieve(['dedupe', '--format', 'warc'], { input: warc })
    expect(cut.stdout.toString()).toBe('https://a.example/\nhttps://b.example/\n')
    expect(cut.stderr).toMatch(/^urlsieve: not a WARC file: the last record is cut\n$/)
    expect(cut.code).toBe(3)
  })

  const own: [string[], RegExp][] = [
    [['--field', 'url'], /--field for stdin: expected --format csv, tsv or jsonl/],
    [['--format', 'csv', '--field', 'nothing'], /--field 'nothing': expected one of its columns a, b/],
    [['--format', 'csv', '--redis', 'redis://127.0.0.1:1'], /--format with --redis/],
  ]
  const alike: [string[], RegExp][] = [
    [['--format', 'warc', '--field', 'url'], /--field with --format warc/],
    [['--format', 'csv', '--keys'], /--format with --keys/],
    [['--extract', '--format', 'csv'], /--extract with --format/],
  ]
  it.each(cases(own, alike))('%j is refused in one line', async (flags, message) => {
    const { code, stderr, stdout } = await urlsieve(['dedupe', ...flags], { input: 'a,b\n1,2\n' })
    expect(code).toBeGreaterThan(1)
    expect(stderr).toMatch(/^urlsieve: [^\n]+\n$/)
    expect(stderr).toMatch(message)
    expect(stdout.length).toBe(0)
  })
})
