// Readers of records: the same rows and URLs however the input is cut.
import { describe, expect, it } from 'vitest'
import type { RecordReader, StreamFormat } from '../../src/records/format.ts'
import { formatOfName } from '../../src/records/format.ts'
import { LineReader } from '../../src/records/line-reader.ts'
import { readerOf } from '../../src/records/reader.ts'
import { wholeRecord } from '../../src/records/whole-record.ts'
import { randomFrom } from '../support/random.mjs'

interface Read {
  readonly header: string
  readonly rows: string[]
  readonly urls: string[]
  readonly without: number
}

function readAll(reader: RecordReader, chunks: readonly Uint8Array[]): Read {
  const rows: string[] = []
  const urls: string[] = []
  let without = 0
  for (const batch of [...chunks.map((chunk) => reader.push(chunk)), reader.end()]) {
    let from = 0
    for (const end of batch.ends) {
      rows.push(Buffer.from(batch.rows.subarray(from, end)).toString())
      from = end
    }
    expect(from).toBe(batch.rows.length)
    const lines = Buffer.from(batch.urls).toString().split('\n').slice(0, -1)
    expect(lines).toHaveLength(batch.ends.length)
    urls.push(...lines)
    without += batch.without
  }
  return { header: Buffer.from(reader.header ?? []).toString(), rows, urls, without }
}

/** Whole, byte by byte and in random cuts: always the same. */
function read(format: StreamFormat, text: string | Buffer, field?: string): Read {
  const bytes = Buffer.from(text as string)
  const whole = readAll(readerOf(format, field), [bytes])
  expect(
    readAll(
      readerOf(format, field),
      Array.from(bytes, (byte) => Buffer.of(byte)),
    ),
  ).toEqual(whole)
  const random = randomFrom(7)
  for (let i = 0; i < 20; i++) {
    const chunks: Buffer[] = []
    for (let at = 0; at < bytes.length; ) {
      const end = at + 1 + Math.floor(random() * 40)
      chunks.push(bytes.subarray(at, end))
      at = end
    }
    expect(readAll(readerOf(format, field), chunks)).toEqual(whole)
  }
  return whole
}

describe('CSV and TSV', () => {
  it('the column by its name; quoted fields hold commas, newlines and quotes', () => {
    const text =
      'id,URL,note\n1,https://a.example/,x\n2,"https://b.example/?q=1,2","say ""hi""\nthere"\r\n3,https://c.example/,'
    expect(read('csv', text)).toEqual({
      header: 'id,URL,note\n',
      rows: [
        '1,https://a.example/,x\n',
        '2,"https://b.example/?q=1,2","say ""hi""\nthere"\r\n',
        '3,https://c.example/,\n',
      ],
      urls: ['https://a.example/', 'https://b.example/?q=1,2', 'https://c.example/'],
      without: 0,
    })
    const notes = readAll(readerOf('csv', 'note', { isAnyText: true }), [Buffer.from(text)])
    expect(notes).toMatchObject({ urls: ['x', 'say "hi"there', ''], without: 1 })
  })

  it('the column by its number: there is no header', () => {
    const { header, urls } = read('tsv', 'a\thttps://a.example/\nb\thttps://b.example/\n', '2')
    expect(header).toBe('')
    expect(urls).toEqual(['https://a.example/', 'https://b.example/'])
  })

  it('rows without a URL are told apart as a whole, and counted', () => {
    const fields = ['', 'N/A', '/a', 'a.html', 'see: below', '-', 'http://[', 'https://b.example/\xff']
    const text = fields.map((field, i) => `${field},${i}\n${field},"${i}\n"\n`).join('')
    const { rows, urls, without } = read('csv', Buffer.from(`url,n\nhttps://a.example/,1\n${text}`, 'latin1'))
    expect(without).toBe(2 * fields.length)
    expect(rows).toHaveLength(without + 1)
    expect(new Set(urls).size).toBe(rows.length)
    expect(urls[0]).toBe('https://a.example/')
    const twice = read('csv', `url\n${'N/A\n'.repeat(2)}`)
    expect(new Set(twice.urls).size).toBe(1)
  })

  it('no profile takes a whole row for a URL, or changes it', () => {
    for (const record of ['https://a.example/,', 'a#b', 'a?b=1&a=2', ' a', 'ÿ', 'a\nb', 'a␤b', 'ab']) {
      const line = Buffer.from(wholeRecord(Buffer.from(record)), 'latin1')
      expect(() => new TextDecoder('utf-8', { fatal: true }).decode(line)).toThrow()
      expect(line.includes(10)).toBe(false)
    }
    expect(wholeRecord(Buffer.from('a\nb'))).not.toBe(wholeRecord(Buffer.from('a␤b')))
    expect(wholeRecord(Buffer.from([0xe4]))).not.toBe(wholeRecord(Buffer.from('ä')))
  })

  it('a column that is not there is refused with those that are', () => {
    expect(() => readerOf('csv', 'adress').push(Buffer.from('id,name\n1,2\n'))).toThrow(
      "--field 'adress': expected one of its columns id, name, or a number from 1",
    )
    expect(() => readerOf('csv').push(Buffer.from('id,name\n1,2\n'))).toThrow(
      '--field is not given: expected one of',
    )
  })
})

it('JSON lines: a path, however deep', () => {
  const text =
    '{"request":{"url":"https://a.example/\\u00e4"}}\n{"request":{}}\nno json\n{"request":{"url":7}}'
  const { rows, urls, without } = read('jsonl', text, '.request.url')
  const whole = (row: string) => Buffer.from(wholeRecord(Buffer.from(row)), 'latin1').toString()
  expect(rows).toHaveLength(4)
  expect(urls[0]).toBe('https://a.example/ä')
  expect(urls.slice(1)).toEqual(['{"request":{}}', 'no json', '{"request":{"url":7}}'].map(whole))
  expect(without).toBe(3)
  expect(read('jsonl', '{"url":"https://b.example/"}\n').urls).toEqual(['https://b.example/'])
})

it('CDX with and without its header, and CDXJ', () => {
  const line = 'com,example)/ 20240101000000 http://example.com/ text/html 200 HASH - - 1 2 f.warc.gz'
  expect(read('cdx', `${line}\n`).urls).toEqual(['http://example.com/'])
  const { header, urls } = read('cdx', ` CDX b a k\n20240101 http://example.org/ HASH\n`)
  expect(header).toBe(' CDX b a k\n')
  expect(urls).toEqual(['http://example.org/'])
  expect(read('cdxj', 'com,example)/ 2024 {"url": "https://example.com/", "digest": "x"}\n').urls).toEqual([
    'https://example.com/',
  ])
  expect(read('cdx', 'com,example)/ 2024 {"url": "https://example.com/", "digest": "x"}\n').urls).toEqual([
    'https://example.com/',
  ])
})

it('a field that no row has is told with what there is', () => {
  const lackOf = (format: StreamFormat, field: string | undefined, text: string) => {
    const reader = readerOf(format, field)
    reader.push(Buffer.from(text))
    return reader.lacks
  }
  expect(lackOf('csv', '99', 'a,b\nc,d\n')).toBe('a number from 1 to 2')
  expect(lackOf('csv', '2', 'a,b\nc\n')).toBe(null)
  expect(lackOf('jsonl', 'nope', '{"a":1,"b":{}}\n')).toBe(
    'the path of a text in its records, which have a, b',
  )
  expect(lackOf('jsonl', 'a', '{"b":1}\n{"a":null}\n')).toBe(null)
  expect(lackOf('jsonl', 'a', 'no json\n')).toBe('lines of JSON')
})

it('lines, ended by a newline or NUL', () => {
  const read = (separator: 'newline' | 'nul', text: string) => {
    const whole = readAll(new LineReader(separator), [Buffer.from(text)])
    const bytes = Array.from(Buffer.from(text), (byte) => Buffer.of(byte))
    expect(readAll(new LineReader(separator), bytes)).toEqual(whole)
    return whole
  }
  expect(read('newline', 'a\n\nb').rows).toEqual(['a\n', '\n', 'b\n'])
  const { rows, urls } = read('nul', 'a\nb\0\0c')
  expect(rows).toEqual(['a\nb\0', '\0', 'c\0'])
  expect(urls).toEqual(['a\0b', '', 'c'])
  const long = new LineReader('newline')
  const part = Buffer.alloc(64 * 1024 ** 2, 'x')
  expect(Buffer.from(long.push(Buffer.concat([Buffer.from('a\n'), part])).rows).toString()).toBe('a\n')
  for (let i = 0; i < 4; i++) expect(long.push(part).ends).toEqual([])
  expect(() => long.push(part)).toThrow('a line of more than 256 MiB')
})

describe('WARC', () => {
  const record = (type: string, url: string, body: string) =>
    `WARC/1.0\r\nWARC-Type: ${type}\r\n${url && `WARC-Target-URI: ${url}\r\n`}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}\r\n\r\n`
  const text =
    record('warcinfo', '', 'software: test') +
    record('request', 'https://a.example/', 'GET /') +
    record('response', 'https://a.example/', 'HTTP/1.1 200 OK\r\n\r\nWARC/1.0\r\n\r\nno header') +
    record('revisit', '<https://b.example/>', '') +
    record('resource', 'https://c.example/ä', 'ä')

  it('targets of responses, resources and revisits', () => {
    expect(read('warc', text).urls).toEqual([
      'https://a.example/',
      'https://b.example/',
      'https://c.example/ä',
    ])
  })

  it('that is cut or damaged is an error after what was whole', () => {
    const reader = readerOf('warc')
    expect(Buffer.from(reader.push(Buffer.from(text.slice(0, -5))).urls).toString()).toMatch(/c\.example/)
    expect(() => reader.end()).toThrow('not a WARC file: the last')
    const damaged = readerOf('warc')
    expect(Buffer.from(damaged.push(Buffer.from(`${text}no header\r\n\r\n`)).urls).toString()).toMatch(
      /c\.example/,
    )
    expect(() => damaged.end()).toThrow('expected WARC/1.0')
    expect(() => readerOf('warc').push(Buffer.from('hello\r\n\r\n'))).toThrow('expected WARC/1.0')
    expect(() => readerOf('warc').push(Buffer.alloc(70_000, 'x'))).toThrow(
      'a header of more than 65536 bytes',
    )
  })
})

it('sitemaps: the addresses, with entities and CDATA', () => {
  const text = `<?xml version="1.0"?><urlset><url><loc>https://a.example/?a=1&amp;b=2</loc><lastmod>2024</lastmod></url>
<url><loc>
  https://b.example/&#228; </loc></url><url><loc><![CDATA[https://c.example/]]></loc></url></urlset>`
  expect(read('sitemap', text).urls).toEqual([
    'https://a.example/?a=1&b=2',
    'https://b.example/ä',
    'https://c.example/',
  ])
})

it('text: URLs among words', () => {
  const text =
    'See https://a.example/x, or (http://b.example/y_(z)). <a href="HTTPS://c.example/">c</a> ftp://no.example/ https://d.example'
  expect(read('text', text).urls).toEqual([
    'https://a.example/x',
    'http://b.example/y_(z)',
    'HTTPS://c.example/',
    'https://d.example',
  ])
})

it('the format follows from a name', () => {
  expect(formatOfName('a/links.CSV.gz')).toBe('csv')
  expect(formatOfName('crawl.warc.gz')).toBe('warc')
  expect(formatOfName('links.txt')).toBe(null)
})

it('long hostile inputs take linear time and little memory', () => {
  for (const [format, text] of [
    ['csv', `url\n"${'a""'.repeat(300_000)}`],
    ['csv', `url\n"${'""\n'.repeat(300_000)}`],
    ['sitemap', '<loc>'.repeat(200_000)],
    ['text', `https://a.example/${')'.repeat(300_000)}`],
    ['text', 'h'.repeat(1_000_000)],
  ] as const) {
    const reader = readerOf(format)
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += 65_536) reader.push(bytes.subarray(at, at + 65_536))
    reader.end()
  }
}, 20_000)

it('a quoted field that never ends is an error, not all of the memory', () => {
  const reader = readerOf('csv')
  const chunk = Buffer.alloc(4 * 1024 * 1024, 'a')
  reader.push(Buffer.from('url\n"'))
  expect(() => {
    for (let i = 0; i < 6; i++) reader.push(chunk)
  }).toThrow('a row of more than 16 MiB')
})
