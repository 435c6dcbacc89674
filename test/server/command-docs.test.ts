// The tables of commands in docs/server.md are written from their descriptions, between `<!-- commands GROUP -->` and
// `<!-- /commands -->`. When one is stale:
//   URLSIEVE_DOCS=write npx vitest run test/server/command-docs.test.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Command, Group } from '../../src/server/resp/command.ts'
import { commands, commandTables } from '../../src/server/resp/command-table.ts'
import { shapeOf, shownSyntax } from '../../src/server/resp/syntax.ts'
import { unsupported } from '../../src/server/resp/unsupported.ts'

const path = new URL('../../docs/server.md', import.meta.url)
const MARKED = /(<!-- commands ([a-z -]+) -->\n)[\s\S]*?(\n<!-- \/commands -->)/g

const all = [...new Set([...commands.values(), ...commandTables.valkey.values()])]

/** Each command, or its subcommands. Of a command that both dialects have, that of redis. */
function listed(group: string): Command[] {
  const isValkey = group === 'valkey'
  return all
    .filter((one) => {
      const isOwn =
        commandTables.valkey.get(one.name) === one && commands.get(one.name)?.syntax !== one.syntax
      return isValkey ? isOwn : one.group === (group as Group) && commands.get(one.name) === one
    })
    .flatMap((one): readonly Command[] => ('subcommands' in one && one.subcommands) || [one])
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

function tableOf(group: string): string {
  if (group === 'not supported') {
    const rows = unsupported.map(([names, reason]) => [
      names
        .split(' ')
        .map((name) => `\`${name}\``)
        .join(', '),
      reason,
    ])
    return table(['commands', 'why not'], rows)
  }
  const rows = listed(group).map(({ name, syntax, does, returns }) => {
    const usage = `${name.replace('|', ' ')} ${shownSyntax(syntax)}`.trim()
    return [`\`${usage.replaceAll('|', '\\|')}\``, does, returns]
  })
  return table(['command', 'what it does', 'reply'], rows)
}

it('docs/server.md has the tables', () => {
  const text = readFileSync(path, 'utf8')
  const groups = Array.from(text.matchAll(MARKED), ([, , group]) => group)
  const wanted = new Set([...all.map(({ group }) => group), 'valkey', 'not supported'])
  expect(new Set(groups)).toEqual(wanted)
  const written = text.replaceAll(MARKED, (_, begin: string, group: string, end: string) => {
    return `${begin}\n${tableOf(group)}\n${end}`
  })
  if (process.env.URLSIEVE_DOCS === 'write') writeFileSync(path, written)
  else expect(text).toBe(written)
})

it('arity, keys and arguments follow from the syntax', () => {
  const shape = (syntax: string) => {
    const { arity, keys } = shapeOf(syntax)
    return [arity, keys.first, keys.last]
  }
  expect(shape('')).toEqual([1, 0, 0])
  expect(shape('[message]')).toEqual([-1, 0, 0])
  expect(shape('key [key ...]')).toEqual([-2, 1, -1])
  expect(shape('key newkey')).toEqual([3, 1, 2])
  expect(shape('key seconds:integer [NX | XX | GT | LT]')).toEqual([-3, 1, 1])
  expect(shape('key [CAPACITY n:integer] [NONSCALING] ITEMS item [item ...]')).toEqual([-4, 1, 1])
  expect(shape('<LIB-NAME libname | LIB-VER libver>')).toEqual([3, 0, 0])
  expect(shape('parameter value [parameter value ...]')).toEqual([-3, 0, 0])
  expect(shapeOf('key', 2).keys).toEqual({ first: 2, last: 2 })
  expect(shapeOf('[ASYNC | SYNC]').args).toMatchObject([
    { type: 'oneof', isOptional: true, parts: [{ token: 'ASYNC' }, { token: 'SYNC' }] },
  ])
})
