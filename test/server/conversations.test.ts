// The conversation files: request and reply bytes of every command, in RESP2 and RESP3 and in both dialects. What Debian's
// redis-server has was recorded from it (URLSIEVE_CONVERSATIONS=write records again), and this server answers the same.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { commandTables } from '../../src/server/resp/command-table.ts'
import { type DialectName, dialectNames } from '../../src/server/resp/dialect.ts'
import { startNode, whyNoRedis } from '../redis/servers.ts'
import { type Conversation, conversations, type Step } from './conversations.ts'
import { encoded, Raw } from './raw.ts'
import { type Served, served } from './serving.ts'

const isWriting = process.env.URLSIEVE_CONVERSATIONS === 'write'

/** The words of a line; \x00 is a byte. */
const wordsOf = (line: string) =>
  line.split(' ').map((word) =>
    Buffer.from(
      word.replaceAll(/\\x(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      'latin1',
    ),
  )

const shown = (bytes: Buffer) =>
  bytes
    .toString('latin1')
    .replaceAll('\\', '\\\\')
    .replaceAll('\r', '\\r')
    .replaceAll('\n', '\\n')
    .replaceAll(/[^ -~]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)

const stepOf = (step: string | Step): Step => (typeof step === 'string' ? { line: step } : step)

const fileOf = ({ command, dialect }: Conversation) =>
  new URL(`conversations/${dialect ? `${dialect}-` : ''}${command.toLowerCase()}.txt`, import.meta.url)

/** Sends all steps on one connection, after FLUSHALL, to redis-server only those that it has; returns the bytes of each reply. */
async function converse(
  port: number,
  version: 2 | 3,
  steps: readonly Step[],
  isTheirs = false,
): Promise<Buffer[]> {
  const client = await Raw.connect(port)
  await client.ask('FLUSHALL')
  if (version === 3) await client.ask('HELLO', '3')
  const replies: Buffer[] = []
  for (const { line, isOwn = false } of steps) {
    if (isTheirs && isOwn) {
      replies.push(Buffer.alloc(0))
      continue
    }
    client.write(encoded(...wordsOf(line)))
    replies.push(Buffer.from(await client.readBytes()))
  }
  client.close()
  return replies
}

/** Commands that see what was done before on the same server. */
const ALONE = new Set(['INFO', 'CONFIG', 'SLOWLOG', 'LATENCY', 'CLIENT'])
const shared = new Map<DialectName, Promise<Served>>()

async function ownReplies(
  conversation: Conversation,
  dialect: DialectName,
  version: 2 | 3,
): Promise<Buffer[]> {
  const isAlone = ALONE.has(conversation.command)
  if (!shared.has(dialect)) shared.set(dialect, served({ dialect }))
  const server = await (isAlone ? served({ dialect }) : shared.get(dialect)!)
  const replies = await converse(server.listener.port, version, conversation.steps.map(stepOf))
  if (isAlone) await server.close()
  return replies
}

/** A request and its reply, or the pattern of its reply after `~`. */
const linesOf = ({ line, pattern }: Step, reply: Buffer) =>
  `> ${line}\n${pattern === undefined ? `< ${shown(reply)}` : `~ ${pattern}`}\n`

async function textOf(conversation: Conversation, port: number | undefined): Promise<string> {
  const steps = conversation.steps.map(stepOf)
  let text = ''
  for (const version of [2, 3] as const) {
    const own = await ownReplies(conversation, conversation.dialect ?? 'redis', version)
    const isTheirs = conversation.from === 'redis' && port !== undefined
    const theirs = isTheirs ? await converse(port, version, steps, true) : own
    const source = conversation.from === 'redis' ? 'redis-server 7.0' : 'urlsieve'
    text += `# RESP${version}, recorded from ${source}\n`
    for (const [i, step] of steps.entries()) text += linesOf(step, step.isOwn ? own[i]! : theirs[i]!)
  }
  return text
}

describe('conversations', () => {
  it.runIf(isWriting)('are recorded', async () => {
    if (whyNoRedis) throw new Error(whyNoRedis)
    const node = await startNode()
    for (const one of conversations) writeFileSync(fileOf(one), await textOf(one, node.port))
    await node.kill()
  })

  it('there is one for each command of each dialect', () => {
    for (const dialect of dialectNames) {
      const told = conversations.filter((one) => (one.dialect ?? dialect) === dialect)
      expect(new Set(told.map(({ command }) => command))).toEqual(
        new Set([...commandTables[dialect].keys(), 'not-supported']),
      )
    }
  })

  describe.each(dialectNames)('dialect %s', (dialect) => {
    it.each(conversations.filter((one) => (one.dialect ?? dialect) === dialect))('$command', async (one) => {
      expect(existsSync(fileOf(one))).toBe(true)
      const lines = readFileSync(fileOf(one), 'utf8').split('\n')
      const steps = one.steps.map(stepOf)
      for (const version of [2, 3] as const) {
        const from = lines.findIndex((line) => line.startsWith(`# RESP${version}`)) + 1
        const replies = await ownReplies(one, dialect, version)
        for (const [i, { line }] of steps.entries()) {
          const what = `RESP${version}: ${line}`
          expect(lines[from + 2 * i], what).toBe(`> ${line}`)
          const wanted = lines[from + 2 * i + 1]!
          if (wanted.startsWith('~ ')) {
            expect(replies[i]!.toString('latin1'), what).toMatch(
              new RegExp(`^${wanted.slice(2)}\\r\\n$`, 's'),
            )
          } else expect(`< ${shown(replies[i]!)}`, what).toBe(wanted)
        }
      }
    })
  })
})
