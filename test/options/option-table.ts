// The table of options in docs/filters.md, from the descriptions of the options.

import { filterKinds } from '../../src/filters/registry.ts'
import { type SieveOption, usage } from '../../src/options/option.ts'
import { filterOptions, sharedNames } from '../../src/sieve-options.ts'

const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``

/** Names of the filters that take an option; the baselines, which take only sizes, are not listed one by one. */
function takers({ name }: SieveOption): string {
  const kinds = filterKinds.filter(({ options }) => options.some((option) => option.name === name))
  if (kinds.length === filterKinds.length) return 'all'
  const fixed = filterKinds.filter(({ can }) => !can.grow)
  if (kinds.length === fixed.length && kinds.every((kind) => fixed.includes(kind)))
    return 'those of a fixed size'
  return kinds.map((kind) => code(kind.name)).join(', ')
}

export function optionTable(): string {
  const rows = new Map<string, string[]>()
  const add = (option: SieveOption, filters: string) => {
    if (rows.has(option.name)) return
    const { name, kind, does, word } = option
    const named = filterOptions.filter((one) => one.name === name).map((one) => one.default)
    const defaults = new Set([option.default, ...named].filter((value) => value !== undefined))
    const cells = [
      code(name),
      code(usage(option)),
      code(word),
      kind.label,
      [...defaults].join(' or '),
      filters,
      does,
    ]
    rows.set(name, cells)
  }
  for (const option of sharedNames) add(option, 'all')
  for (const option of filterOptions) add(option, takers(option))
  const head = ['option', 'flag', 'word of SIEVE.CREATE', 'value', 'default', 'filters', 'what it sets']
  const all = [head, head.map(() => '---'), ...rows.values()]
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] === '---' ? 3 : row[i]!.length))))
  const line = (row: string[]) =>
    `| ${row.map((cell, i) => (cell === '---' ? '-'.repeat(widths[i]!) : cell.padEnd(widths[i]!))).join(' | ')} |`
  return `${all.map(line).join('\n')}\n`
}
