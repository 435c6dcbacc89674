// The tables of options in the docs, and the doc comments of the options, are those that the descriptions give. After a change
// of an option: URLSIEVE_WRITE_DOCS=1 npx vitest run test/options/docs.test.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { libraryTable, optionDocs, optionTable } from './option-table.ts'

const BEGIN = '<!-- options: written by test/options/docs.test.ts -->\n'
const END = '<!-- /options -->\n'

it.each([
  ['filters.md', optionTable],
  ['library.md', libraryTable],
])('docs/%s has the options as they are described', (page, table) => {
  const path = new URL(`../../docs/${page}`, import.meta.url)
  const text = readFileSync(path, 'utf8')
  const from = text.indexOf(BEGIN) + BEGIN.length
  const to = text.indexOf(END)
  expect(from).toBeGreaterThan(BEGIN.length)
  expect(to).toBeGreaterThanOrEqual(from)
  if (process.env.URLSIEVE_WRITE_DOCS) {
    writeFileSync(path, `${text.slice(0, from)}\n${table()}\n${text.slice(to)}`)
    return
  }
  expect(text.slice(from, to), 'stale: see the first lines of this test').toBe(`\n${table()}\n`)
})

it('the options have the doc comments that they are described by', () => {
  const path = new URL('../../src/options/option-docs.ts', import.meta.url)
  if (process.env.URLSIEVE_WRITE_DOCS) writeFileSync(path, optionDocs())
  else expect(readFileSync(path, 'utf8'), 'stale: see the first lines of this test').toBe(optionDocs())
})
