// Forms of single values.
import { expect, it } from 'vitest'
import { FORMS, FormReader } from '../../src/shapes/forms.ts'

const reader = new FormReader()
const formOf = (text: string, isFile = false) => {
  const bytes = new TextEncoder().encode(text)
  return FORMS[reader.read(bytes, 0, bytes.length, 0, isFile)]
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
  expect(reader.stem).toBe(5)
  expect(reader.end).toBe(10)
  expect(formOf('index.html', true)).toBe('word')
  expect(formOf('1.5', true)).toBe('version')
  expect(formOf('.htaccess', true)).toBe('name')
})

it('values of numbers, years and dates', () => {
  const numberIn = (text: string) => {
    formOf(text)
    return reader.value
  }
  expect(numberIn('42')).toBe(42)
  expect(numberIn('-42')).toBe(-42)
  expect(numberIn('1999')).toBe(1999)
  expect(numberIn('2024-5-7')).toBe(20240507)
  expect(numberIn('2024-05')).toBe(20240501)
})
