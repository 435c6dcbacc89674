// Commands and subcommands that Debian's redis-server has take as many arguments here as there.
import { expect, it } from 'vitest'
import { commandTables } from '../../src/server/resp/command-table.ts'
import { startNode, whyNoRedis } from '../redis/servers.ts'
import { served } from './serving.ts'

/** Where Redis takes arguments that are of no use here. */
const DIFFERENT = new Set(['quit', 'command|list'])

type Row = [name: string, arity: number, ...rest: unknown[]]

it.skipIf(whyNoRedis)('every command and subcommand has the arity of Redis', async () => {
  const node = await startNode()
  const commands = [...commandTables.redis.values()]
  const rows = (await node.ask('COMMAND', 'INFO', ...commands.map(({ name }) => name))) as (Row | null)[]
  const theirs = new Map<string, number>()
  for (const row of rows) {
    if (!row) continue
    theirs.set(row[0], row[1])
    for (const [name, arity] of row[9] as Row[]) theirs.set(name, arity)
  }
  await node.kill()
  const ours = new Map<string, number>()
  for (const command of commands) {
    const subcommands = 'subcommands' in command ? (command.subcommands ?? []) : []
    for (const { name, arity } of [command, ...subcommands]) ours.set(name.toLowerCase(), arity)
  }
  const both = [...ours.keys()].filter((name) => theirs.has(name) && !DIFFERENT.has(name))
  expect(both.length).toBeGreaterThan(50)
  const pick = (from: Map<string, number>) => Object.fromEntries(both.map((name) => [name, from.get(name)]))
  expect(pick(ours)).toEqual(pick(theirs))
})

it('CLIENT KILL without arguments ends nobody', async () => {
  const server = await served()
  const [one, other] = [await server.connect(), await server.connect()]
  await other.ask('PING')
  expect(await one.ask('CLIENT', 'KILL')).toMatch(/^!ERR wrong number of arguments for 'client\|kill'/)
  expect(await other.ask('PING')).toBe('PONG')
})
