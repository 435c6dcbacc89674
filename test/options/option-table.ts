// The tables of options in docs/filters.md and docs/library.md, and the doc comments of the options, from their descriptions.

import { filterKinds } from '../../src/filters/registry.ts'
import { type SieveOption, usage } from '../../src/options/option.ts'
import { filterOptions, sharedNames } from '../../src/sieve-options.ts'

const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``

/** Names of the filters that take an option; the baselines, which take only sizes, are not listed one by one. */
function takers({ name }: SieveOption): string {
  if (sharedNames.some((option) => option.name === name)) return 'all'
  const kinds = filterKinds.filter(({ options }) => options.some((option) => option.name === name))
  if (kinds.length === filterKinds.length) return 'all'
  const fixed = filterKinds.filter(({ can }) => !can.grow)
  if (kinds.length === fixed.length && kinds.every((kind) => fixed.includes(kind)))
    return 'those of a fixed size'
  return kinds.map((kind) => code(kind.name)).join(', ')
}

/** The options of filters, one for each name. */
const distinct = [...new Map(filterOptions.toReversed().map((option) => [option.name, option])).values()]
const ownOptions = filterOptions.filter((option) => distinct.includes(option))

/** The defaults of an option, which may differ between filters. */
function defaultsOf({ name }: SieveOption): string {
  const all = [...sharedNames, ...filterOptions].filter((option) => option.name === name)
  return [...new Set(all.flatMap((option) => option.default ?? []))].join(' or ')
}

/** What the library takes for the options that have a page of their own. */
const PAGES: Record<string, string> = {
  filter: '[a name](filters.md)',
  profile: '[a name](profiles.md), or a list of rules',
  hash: 'one of `hashNames`, or a list of them',
}

/** The values of an option, which may differ between filters. */
function valuesOf({ name, kind }: SieveOption): string {
  const all = filterOptions.filter((option) => option.name === name).map((option) => option.kind.valid)
  return PAGES[name] ?? [...new Set([kind.valid, ...all])].join('; ')
}

type Column = readonly [head: string, cell: (option: SieveOption) => string]

function tableOf(columns: readonly Column[]): string {
  const rows = [...sharedNames, ...ownOptions].map((option) => columns.map(([, cell]) => cell(option)))
  const head = columns.map(([name]) => name)
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]!.length)))
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return `${[head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n')}\n`
}

/** For docs/filters.md: how each edge spells an option. */
export const optionTable = (): string =>
  tableOf([
    ['option', ({ name }) => code(name)],
    ['flag', (option) => code(usage(option))],
    ['word of SIEVE.CREATE', ({ word }) => code(word)],
    ['value', ({ kind }) => kind.label],
    ['default', defaultsOf],
    ['filters', takers],
    ['what it sets', ({ does }) => does],
  ])

/** For docs/library.md. */
export const libraryTable = (): string =>
  tableOf([
    ['option', ({ name }) => code(name)],
    ['values', valuesOf],
    ['default', defaultsOf],
    ['filters', takers],
    ['what it sets', ({ does }) => does],
  ])

/** The file src/options/option-docs.ts. */
export function optionDocs(): string {
  const members = ownOptions.map((option) => {
    const defaults = defaultsOf(option)
    const does = `${option.does[0]!.toUpperCase()}${option.does.slice(1)}.`
    return `  /** ${does}${defaults && ` Default: ${defaults}.`} */\n  readonly ${option.name}?: unknown\n`
  })
  return `// The doc comments of the options, for editors. Written from the descriptions by test/options/docs.test.ts.
export interface OptionDocs {
${members.join('')}}
`
}
