// Bare hosts: read as https URLs, printed as they came.
import { expect, it } from 'vitest'
import { withScheme } from '../../src/canonical/bare-hosts.ts'
import { expectQuiet, urlsieve } from '../e2e/command.ts'

it.each([
  ['example.com', 'https://example.com'],
  ['Example.com/a?b#c', 'https://Example.com/a?b#c'],
  ['example.com:8080/a', 'https://example.com:8080/a'],
  ['//example.com/a', 'https://example.com/a'],
  ['localhost:3000', 'https://localhost:3000'],
  ['127.0.0.1/a', 'https://127.0.0.1/a'],
  ['[::1]:80/', 'https://[::1]:80/'],
  ['example.com./a', 'https://example.com./a'],
  ['bücher.example', 'https://bücher.example'],
  ['a.example/?u=https://b.example/', 'https://a.example/?u=https://b.example/'],
  ['example.com\r', 'https://example.com\r'],
])('%j is a host', (line, url) => {
  expect(withScheme(line)).toBe(url)
})

it.each([
  ['https://example.com/'],
  ['mailto:a@example.com'],
  ['/a/b.html'],
  ['intranet/a'],
  ['3.14'],
  ['a b.example'],
  [''],
  ['a..example'],
  ['user@example.com'],
  ['tel:1.2'],
  [`${'a.'.repeat(200)}x`],
])('%j is not', (line) => {
  expect(withScheme(line)).toBe(line)
})

it('long hostile lines take little time', () => {
  for (const piece of ['a.', 'a', '1.', '[:'])
    expect(withScheme(piece.repeat(1_000_000))).toHaveLength(1_000_000 * piece.length)
})

it('the same answer as of URLs, lines as they came', async () => {
  const hosts = [
    'example.com/a',
    'https://example.com/a',
    'EXAMPLE.com/a#x',
    'other.example',
    '//other.example/',
    'no',
  ]
  const input = hosts.map((line) => `${line}\n`).join('')
  const ended = await urlsieve(['dedupe', '--bare-hosts', '--stats'], { input })
  expect(ended.stdout.toString()).toBe('example.com/a\nother.example\nno\n')
  expect(JSON.parse(ended.stderr)).toMatchObject({ lines: 6, new: 3, invalid: 1 })
  const csv = await urlsieve(['dedupe', '--bare-hosts', '--format', 'csv', '--count'], {
    input: 'id,url\n1,example.com\n2,https://example.com/\n',
  })
  expectQuiet(csv)
  expect(csv.stdout.toString()).toBe('        id,url\n      2 1,example.com\n')
})
