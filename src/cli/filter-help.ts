// `urlsieve help filters`: every filter in one line; `urlsieve help filters multilayer`: what it is, which way it errs, its
// options and an example. All of it follows from the filters' own descriptions.
import type { AnyKind } from '../filters/filter.ts'
import { filterKind, filterKinds } from '../filters/registry.ts'
import { type SieveOption, usage } from '../options/option.ts'
import { bySpelling } from '../options/spelling.ts'
import { Output } from './output.ts'
import { table } from './table.ts'

/** Sizes for the example of a filter that has a fixed size. */
const EXAMPLE_SIZES = ['--urls 10M', '--fpr 1e-6']

export function printFilterHelp(name: string | undefined): void {
  new Output().print(name === undefined ? overview() : detail(filterKind(name)))
}

function overview(): string {
  const rows = filterKinds.map(({ name, does, options }) => [name, does, ownFlags(options).join(' ') || '-'])
  return (
    'Filters: what remembers the keys of a sieve.\n\n' +
    `${table(['filter', 'what it is', 'options of its own'], rows)}\n` +
    'Options, defaults and an example of one filter: urlsieve help filters <name>\n' +
    'Sizes side by side: urlsieve plan --urls 10M\n\n' +
    `Example:\n  ${exampleOf(filterKind('multilayer'))}\n`
  )
}

function detail(kind: AnyKind): string {
  const rows = [...bySpelling(kind.options, ({ flag }) => flag).values()].map((options) => [
    usage(options[0]!),
    options.map(({ does }) => does).join('; or '),
    options.map((option) => option.default).find((value) => value !== undefined) ?? '-',
  ])
  return (
    `${kind.name}: ${kind.does} (${kind.source}).\n` +
    `Errs ${kind.errs}.\n\n` +
    `${table(['option', 'what it sets', 'default'], rows)}\n` +
    `Example:\n  ${exampleOf(kind)}\n`
  )
}

const SIZES = ['--urls', '--fpr', '--memory', '--bits', '--hashes']

const ownFlags = (options: readonly SieveOption[]) =>
  [...new Set(options.map(({ flag }) => flag))].filter((flag) => !SIZES.includes(flag))

/** A command line that shows the options of a filter. */
export function exampleOf({ name, can, options }: AnyKind): string {
  const sizes = can.grow ? [] : EXAMPLE_SIZES
  const own = options.filter(({ example }) => example !== undefined)
  const flags = own.map(({ flag, example }) => `${flag} ${example}`)
  return ['urlsieve dedupe links.txt --filter', name, ...sizes, ...flags].join(' ')
}
