// Forms of single values.
import { expect, it } from 'vitest'
import { FORMS } from '../../src/shapes/forms.ts'
import { UrlTokens } from '../../src/shapes/url-tokens.ts'

const encoder = new TextEncoder()
const tokens = UrlTokens.shared()
const formOf = (text: string, isFile = false) => FORMS[tokens.formOf(encoder.encode(text), isFile)]

/** Reads a URL with one segment. */
function readSegment(text: string): void {
  const url = encoder.encode(`https://a.example/${text}`)
  const start = tokens.put(url)
  expect(tokens.read(start, start + url.length)).toBe(true)
  expect(tokens.segments).toBe(1)
}

it.each([
  ['', 'empty'],
  ['about', 'word'],
  ['About', 'word'],
  ['item12', 'name'],
  ['about-us', 'name'],
  ['a%20b', 'text'],
  ['ü', 'text'],
  ['~eppstein', 'text'],
  ['7', 'number'],
  ['-3', 'number'],
  ['123456789012345678901234567890', 'number'],
  ['2024', 'year'],
  ['1850', 'number'],
  ['20240517', 'date'],
  ['20241399', 'number'],
  ['2024-05-17', 'date'],
  ['2024-5-7', 'date'],
  ['2024-05', 'date'],
  ['2024-0517', 'name'],
  ['2024-13', 'name'],
  ['2024-1-32', 'name'],
  ['555-1234', 'name'],
  ['123e4567-e89b-12d3-a456-426614174000', 'uuid'],
  ['d41d8cd98f00b204e9800998ecf8427e', 'hash'],
  ['deadbeefcafe', 'word'],
  ['a94a8fe5ccb1', 'hash'],
  ['Zm9vYmFyMTIzNDU2Nzg5', 'token'],
  ['en', 'locale'],
  ['en-US', 'locale'],
  ['pt_BR', 'locale'],
  ['xx', 'word'],
  ['v1.2.3', 'version'],
  ['2.0-rc1', 'version'],
  ['how-to-cook-rice', 'slug'],
])('%j is a %s', (text, form) => {
  expect(formOf(text)).toBe(form)
})

it('the extension of a file is left out', () => {
  expect(formOf('12345.html', true)).toBe('number')
  readSegment('12345.html')
  expect(tokens.stems[0]! - tokens.starts[0]!).toBe(5)
  expect(tokens.ends[0]! - tokens.starts[0]!).toBe(10)
  expect(formOf('index.html', true)).toBe('word')
  expect(formOf('1.5', true)).toBe('version')
  expect(formOf('.htaccess', true)).toBe('name')
})

it('values of numbers, years and dates', () => {
  const numberIn = (text: string) => {
    readSegment(text)
    return tokens.values[0]
  }
  expect(numberIn('42')).toBe(42)
  expect(numberIn('-42')).toBe(-42)
  expect(numberIn('1999')).toBe(1999)
  expect(numberIn('2024-5-7')).toBe(20240507)
  expect(numberIn('2024-05')).toBe(20240501)
})
