// The table of options in docs/filters.md is the one that the descriptions give. After a change of an option:
// URLSIEVE_WRITE_DOCS=1 npx vitest run test/options/docs.test.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { optionTable } from './option-table.ts'

const path = new URL('../../docs/filters.md', import.meta.url)
const BEGIN = '<!-- options: written by test/options/docs.test.ts -->\n'
const END = '<!-- /options -->\n'

it('docs/filters.md has the options as they are described', () => {
  const text = readFileSync(path, 'utf8')
  const from = text.indexOf(BEGIN) + BEGIN.length
  const to = text.indexOf(END)
  expect(from).toBeGreaterThan(BEGIN.length)
  expect(to).toBeGreaterThanOrEqual(from)
  if (process.env.URLSIEVE_WRITE_DOCS) {
    writeFileSync(path, `${text.slice(0, from)}\n${optionTable()}\n${text.slice(to)}`)
    return
  }
  expect(text.slice(from, to), 'stale: see the first lines of this test').toBe(`\n${optionTable()}\n`)
})
