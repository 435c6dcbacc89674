// The tables of filters in README and docs are written from the registry, between `<!-- filters -->` and
// `<!-- /filters -->`. When one is stale:
//   URLSIEVE_DOCS=write npx vitest run test/filter-tables.test.ts
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { AnyKind } from '../src/filters/filter.ts'
import { allKinds } from '../src/filters/registry.ts'

const IS_WRITING = process.env.URLSIEVE_DOCS === 'write'
const root = fileURLToPath(new URL('..', import.meta.url))
const MARKED = /(<!-- filters -->\n)[\s\S]*?(\n<!-- \/filters -->)/
const SIZE = { expectedUrls: 1_000_000, falsePositiveRate: 1e-6 }

function rowOf(kind: AnyKind): string[] {
  const { name, does, can, errs, source } = kind
  const able = [
    ...('create' in kind ? [] : ['no add']),
    ...Object.keys(can).filter((verb) => can[verb as keyof typeof can]),
  ]
  const bits = kind.plan(SIZE).bitsPerUrl!
  const atRate = kind.noPromise ? 'no rate' : bits.toFixed(bits < 100 ? 1 : 0)
  return [`\`${name}\``, does, atRate, able.join(', ') || '–', errs, source]
}

function table(): string {
  const head = ['filter', 'what it is', 'bits per URL at 1e-6', 'can', 'errs', 'from']
  const rows = allKinds.map(rowOf)
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

const documents = ['README.md', ...readdirSync(`${root}docs`).map((name) => `docs/${name}`)].filter((path) =>
  path.endsWith('.md'),
)
const marked = documents.filter((path) => MARKED.test(readFileSync(root + path, 'utf8')))

it('docs/filters.md has the table', () => {
  expect(marked).toContain('docs/filters.md')
})

it.each(marked)('the table of filters in %s is what the registry says', (path) => {
  const text = readFileSync(root + path, 'utf8')
  const expected = text.replace(MARKED, (_, open: string, close: string) => `${open}\n${table()}\n${close}`)
  if (IS_WRITING) writeFileSync(root + path, expected)
  else
    expect(text === expected, 'stale: URLSIEVE_DOCS=write npx vitest run test/filter-tables.test.ts').toBe(
      true,
    )
})
