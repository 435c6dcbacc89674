// Commands with very many arguments: answered in parts, so that other clients are answered between them, or refused when they
// are executed in one step.
import { describe, expect, it } from 'vitest'
import type { Call, PlainCommand } from '../../src/server/resp/command.ts'
import { keyCommands } from '../../src/server/resp/key-commands.ts'
import { encoded } from './raw.ts'
import { fresh, served } from './serving.ts'
import { turnsOf } from './turns.ts'

const COUNT = 30_000
const many = (prefix: string) => Array.from({ length: COUNT }, (_, i) => `${prefix}${i}`)
const server = await served()

describe('very many names', () => {
  it.each(['EXISTS', 'TOUCH', 'DEL', 'UNLINK'])('%s: other clients are served meanwhile', async (word) => {
    // Each name takes 0.1 ms.
    const slow = () => {
      const end = performance.now() + 0.1
      while (performance.now() < end);
    }
    const registry = { get: slow, drop: async () => slow() }
    const call = { count: 1001, name: () => 'none', server: { registry } } as unknown as Call
    const command = keyCommands.find(({ name }) => name === word) as PlainCommand
    const { result, turns } = await turnsOf(() => command.run(call))
    expect(result).toBe(0)
    expect(turns).toBeGreaterThan(5)
  })

  it.each(
    [
      ['COMMAND', 'INFO'],
      ['COMMAND', 'DOCS'],
      ['COMMAND', 'GETKEYS', 'DEL'],
      ['CONFIG', 'GET'],
      ['INFO'],
      ['WATCH'],
    ].map((words) => ({ words })),
  )('$words: refused', async ({ words }) => {
    const client = await server.connect()
    expect(await client.ask(...words, ...many('x'))).toBe(
      `!ERR ${COUNT + words.length - 1} arguments for '${words[0]!.toLowerCase()}': expected at most 1024`,
    )
    expect(await client.ask('PING')).toBe('PONG')
  })
})

describe('very many items', () => {
  it('BF.INSERT and SIEVE.FORGET reply with one verdict for each', async () => {
    const client = await server.connect()
    const [bloom, sieve, urls] = [fresh(), fresh(), many('https://example.com/')]
    const sum = (replies: unknown) => (replies as number[]).reduce((all, one) => all + one, 0)
    const first = await client.ask('BF.INSERT', bloom, 'ITEMS', ...urls)
    expect([(first as unknown[]).length, sum(first)]).toEqual([COUNT, COUNT])
    expect(sum(await client.ask('BF.INSERT', bloom, 'ITEMS', ...urls))).toBe(0)
    await client.ask('SIEVE.CREATE', sieve)
    await client.ask('SIEVE.ADD', sieve, ...urls.slice(0, 100))
    expect(sum(await client.ask('SIEVE.FORGET', sieve, ...urls))).toBe(100)
  })

  it('are queued by MULTI as they were sent, inline commands too', async () => {
    const client = await server.connect()
    const name = fresh()
    client.write(Buffer.concat([encoded('MULTI'), encoded('SADD', name, ...many('m'))]))
    client.write(`SADD ${name} "a b" m1\r\nEXEC\r\n`)
    const replies = [await client.read(), await client.read(), await client.read(), await client.read()]
    expect(replies).toEqual(['OK', 'QUEUED', 'QUEUED', [COUNT, 1]])
  })
})
