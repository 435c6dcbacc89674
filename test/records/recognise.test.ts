// What inputs look like: each format by its first bytes, and lists of plain URLs, whatever is in them, never another one.
import { describe, expect, it } from 'vitest'
import { recognise } from '../../src/records/recognise.ts'
import { randomFrom } from '../support/random.mjs'

const looksLike = (text: string, path = '-') => {
  const looks = recognise(Buffer.from(text), path)
  if (looks === null) return null
  const { name: _, ...rest } = looks
  return rest
}
const times = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => `${line(i)}\n`).join('')
const url = (i: number) => `https://example.com/${i}`

describe('formats', () => {
  it('CSV and TSV: the column with the URLs', () => {
    expect(looksLike('id,url,title\n1,https://a.example/,x\n')).toEqual({ format: 'csv', field: 'url' })
    expect(looksLike('id,page\n1,"https://a.example/?a,b"\n')).toEqual({ format: 'csv', field: 'page' })
    expect(looksLike('page,status\nhttps://a.example/,200\n')).toEqual({ format: 'csv', field: 'page' })
    expect(looksLike(times(9, (i) => `${i},${url(i)}`))).toEqual({ format: 'csv', field: '2' })
    expect(looksLike(times(9, (i) => `"${url(i)}",x`))).toEqual({ format: 'csv', field: '1' })
    expect(
      looksLike(
        times(9, (i) => `${url(i)},x`),
        'a.csv.gz',
      ),
    ).toEqual({ format: 'csv', field: '1' })
    expect(looksLike('id,name\n1,x\n', 'a.csv')).toEqual({ format: 'csv', columns: ['id', 'name'] })
    expect(looksLike('id,a column\n1,https://a.example/\n')).toEqual({
      format: 'csv',
      columns: ['id', 'a column'],
    })
    expect(looksLike('\ufeffurl,note\nhttps://a.example/,"two\nlines"\n')).toEqual({
      format: 'csv',
      field: 'url',
    })
    expect(looksLike('id\turl\n1\thttps://a.example/\n')).toEqual({ format: 'tsv', field: 'url' })
    expect(looksLike(times(9, (i) => `${url(i)}\tdigest`))).toEqual({ format: 'tsv', field: '1' })
    expect(looksLike('id\turl\tnote\n1\thttps://a.example/\t\n')).toEqual({ format: 'tsv', field: 'url' })
  })

  it('JSON lines: the path of the URLs', () => {
    const line = (i: number) => JSON.stringify({ i, ref: { href: url(0) }, request: { url: url(i) } })
    expect(looksLike(times(3, line))).toEqual({ format: 'jsonl', field: '.ref.href' })
    expect(looksLike(line(1))).toEqual({ format: 'jsonl', field: '.ref.href' })
    expect(looksLike(times(3, (i) => JSON.stringify({ a: url(i), url: url(i) })))).toEqual({
      format: 'jsonl',
      field: '.url',
    })
    expect(looksLike('{"a":1}\n{"a":2}\n')).toEqual({ format: 'jsonl', columns: ['a'] })
  })

  it('archives, sitemaps, Parquet, and what has URLs among other text', () => {
    expect(looksLike('WARC/1.0\r\nWARC-Type: warcinfo\r\n')).toEqual({ format: 'warc' })
    expect(looksLike(' CDX N b a m s k r M S V g\n')).toEqual({ format: 'cdx' })
    const cdx = (i: number) =>
      `com,example)/ 20240101000000 http://example.com/${i} text/html 200 X - - 1 2 f`
    expect(looksLike(times(3, cdx))).toEqual({ format: 'cdx' })
    const cdxj = (i: number) => `com,example)/ 20240101000000 ${JSON.stringify({ url: url(i) })}`
    expect(looksLike(times(3, cdxj))).toEqual({ format: 'cdxj' })
    expect(looksLike('<?xml version="1.0"?>\n<urlset xmlns="x"><url><loc>')).toEqual({ format: 'sitemap' })
    expect(looksLike('PAR1\0\0')).toEqual({ format: 'parquet' })
    for (const text of [
      '<!DOCTYPE html><html><a href="https://a.example/">',
      '[\n  {"url": "https://a.example/"}\n]\n',
      times(5, (i) => `127.0.0.1 - - "GET ${url(i)} HTTP/1.1" 200`),
      times(5, (i) => `${i};${url(i)}`),
    ]) {
      expect(looksLike(text), text).toEqual({ format: 'text' })
    }
  })

  it('one URL per line', () => {
    expect(looksLike(times(5, url))).toEqual({ format: 'lines' })
    expect(looksLike('')).toBe(null)
    expect(looksLike('\0\xff\n')).toBe(null)
  })
})

describe('lists of URLs with what other formats have', () => {
  const random = randomFrom(3)
  const pieces = [
    ',',
    ',,',
    ';',
    '|',
    '%09',
    '{"a":1}',
    '[1,2]',
    '"',
    "'",
    '<loc>',
    ' ',
    ' 2024 ',
    '&url=',
    '?u=https://b.example/',
  ]
  const odd = (i: number) => {
    let text = url(i)
    for (let n = Math.floor(random() * 6); n > 0; n--)
      text += pieces[Math.floor(random() * pieces.length)]! + n
    return text
  }
  const lists: readonly (readonly [name: string, text: string])[] = [
    ['a comma in each', times(50, (i) => `${url(i)},b`)],
    ['two commas in each', times(50, (i) => `${url(i)},b,c`)],
    ['URLs within URLs', times(50, (i) => `https://web.example/save,${url(i)}`)],
    ['a remark before them', `# links, today\n${times(50, (i) => `${url(i)},b`)}`],
    ['a blank line before them', `\n${times(50, url)}`],
    ['JSON in the query', times(50, (i) => `${url(i)}?q={"url":"https://b.example/","i":${i}}`)],
    ['tabs in some', times(50, (i) => (i % 3 ? url(i) : `${url(i)}\tx`))],
    ['quotes', times(50, (i) => `${url(i)}?q="a,b"`)],
    ['schemes', times(50, (i) => `${['ftp', 'HTTP', 'x-a'][i % 3]}://a.example/${i},b`)],
    ['one URL', 'https://a.example/?a,b'],
    ['one URL with a tab', 'https://a.example/\tb\n'],
    ['carriage returns', times(50, (i) => `${url(i)}\r`)],
    ...Array.from({ length: 200 }, (_, i) => [`random ${i}`, times(1 + (i % 60), odd)] as const),
  ]
  it.each(lists.slice(0, 12))('%s', (_, text) => {
    expect(looksLike(text)?.format).toBe('lines')
  })

  it('of random pieces', () => {
    for (const [name, text] of lists)
      expect(looksLike(text)?.format ?? 'lines', `${name}: ${text}`).toBe('lines')
  })

  it('without a scheme: nothing', () => {
    for (const line of [
      (i: number) => `example.com/${i},b`,
      (i: number) => `/go?to=https://b.example/${i}`,
      (i: number) => `example.com/?u=https://b.example/${i}`,
      (i: number) => `{${i}}`,
    ]) {
      expect(looksLike(times(50, line))).toBe(null)
    }
  })
})

it('whatever the bytes, one look ends soon', () => {
  const random = randomFrom(8)
  const alphabet = 'a,"\t\n{}[]<: /h!'
  for (let round = 0; round < 300; round++) {
    const length = Math.floor(random() * 3000)
    const text = Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('')
    recognise(Buffer.from(text), round % 2 ? 'a.csv' : '-')
  }
  for (const text of [
    '"'.repeat(100_000),
    '{"a":'.repeat(20_000),
    '<'.repeat(100_000),
    'a 2024 {'.repeat(9000),
  ])
    recognise(Buffer.from(`${text}\n`), '-')
})
