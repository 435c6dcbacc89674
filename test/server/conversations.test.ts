// The conversation files: request (`>`) and reply bytes (`<`, or `~` and a pattern) of every command, in RESP2 and RESP3 and in
// both dialects; valkey-x.txt and redis-x.txt are for one of them. The replies of commands that Debian's redis-server has were
// recorded from it, except to requests marked `!>`; this server answers the same. After a change of requests, below RESP2:
//   URLSIEVE_CONVERSATIONS=write npx vitest run test/server/conversations.test.ts
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { commandTables } from '../../src/server/resp/command-table.ts'
import { type DialectName, dialectNames } from '../../src/server/resp/dialect.ts'
import { startNode, whyNoRedis } from '../redis/servers.ts'
import { encoded, Raw } from './raw.ts'
import { type Served, served } from './serving.ts'

interface Step {
  readonly line: string
  /** redis-server does not get it. */
  readonly isOwn: boolean
  /** The reply, or its pattern. */
  readonly reply: string
}

interface Conversation {
  readonly file: string
  readonly command: string
  /** Undefined: of both. */
  readonly dialect: DialectName | undefined
  readonly isFromRedis: boolean
  readonly steps: Readonly<Record<Version, readonly Step[]>>
}

type Version = 2 | 3
const VERSIONS: readonly Version[] = [2, 3]
const folder = new URL('conversations/', import.meta.url)

function stepsOf(text: string, version: Version): Step[] {
  const part = text.split(/^# RESP/m).find((one) => one.startsWith(String(version)))
  return Array.from((part ?? '').matchAll(/^(!?)> (.*)\n([<~] .*)$/gm), ([, own, line, reply]) => ({
    line: line!,
    isOwn: own === '!',
    reply: reply!,
  }))
}

const conversations = readdirSync(folder).map((file): Conversation => {
  const text = readFileSync(new URL(file, folder), 'utf8')
  const [, dialect, command] = /^(?:(redis|valkey)-)?(.*)\.txt$/.exec(file)!
  return {
    file,
    command: command!.toUpperCase(),
    dialect: dialect as DialectName | undefined,
    isFromRedis: text.includes('recorded from redis-server'),
    steps: { 2: stepsOf(text, 2), 3: stepsOf(text, 3) },
  }
})

const ofDialect = (name: DialectName) => conversations.filter(({ dialect = name }) => dialect === name)

/** The words of a line; \x00 is a byte. */
const wordsOf = (line: string) =>
  line.split(' ').map((word) => {
    const text = word.replaceAll(/\\x(..)/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    return Buffer.from(text, 'latin1')
  })

const shown = (bytes: Buffer) =>
  bytes
    .toString('latin1')
    .replaceAll('\\', '\\\\')
    .replaceAll('\r', '\\r')
    .replaceAll('\n', '\\n')
    .replaceAll(/[^ -~]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)

/** Sends the steps on one connection, after FLUSHALL; returns the bytes of each reply. */
async function converse(port: number, version: Version, steps: readonly Step[]): Promise<Buffer[]> {
  const client = await Raw.connect(port)
  await client.ask('FLUSHALL')
  if (version === 3) await client.ask('HELLO', '3')
  const replies: Buffer[] = []
  for (const { line } of steps) {
    client.write(encoded(...wordsOf(line)))
    replies.push(Buffer.from(await client.readBytes()))
  }
  client.close()
  return replies
}

/** Commands that see what was done before on the same server. */
const ALONE = new Set(['INFO', 'CONFIG', 'SLOWLOG', 'LATENCY', 'CLIENT'])
const shared = new Map<DialectName, Promise<Served>>()

async function ownReplies(one: Conversation, dialect: DialectName, version: Version): Promise<Buffer[]> {
  const isAlone = ALONE.has(one.command)
  if (!shared.has(dialect)) shared.set(dialect, served({ dialect }))
  const server = await (isAlone ? served({ dialect }) : shared.get(dialect)!)
  const replies = await converse(server.listener.port, version, one.steps[version])
  if (isAlone) await server.close()
  return replies
}

/** The text of a file, recorded again. */
async function record(given: Conversation, port: number): Promise<string> {
  const { isFromRedis, steps: all, dialect = 'redis' } = given
  const steps = all[2]
  const one = { ...given, steps: { 2: steps, 3: steps } }
  const source = isFromRedis ? 'redis-server 7.0; !> from urlsieve' : 'urlsieve'
  let text = `# recorded from ${source}\n`
  for (const version of VERSIONS) {
    const own = await ownReplies(one, dialect, version)
    const theirSteps = steps.filter(({ isOwn }) => !isOwn)
    const theirs = isFromRedis ? await converse(port, version, theirSteps) : []
    text += `# RESP${version}\n`
    for (const [i, { line, isOwn, reply }] of steps.entries()) {
      const bytes = isFromRedis && !isOwn ? theirs.shift()! : own[i]!
      const wanted = reply.startsWith('~') ? reply : `< ${shown(bytes)}`
      text += `${isOwn ? '!' : ''}> ${line}\n${wanted}\n`
    }
  }
  return text
}

if (process.env.URLSIEVE_CONVERSATIONS === 'write') {
  it('conversations are recorded', async () => {
    if (whyNoRedis) throw new Error(whyNoRedis)
    const node = await startNode()
    for (const one of conversations) writeFileSync(new URL(one.file, folder), await record(one, node.port))
    await node.kill()
  })
} else {
  describe.each(dialectNames)('dialect %s', (dialect) => {
    it('has a conversation for each command', () => {
      expect(new Set(ofDialect(dialect).map(({ command }) => command))).toEqual(
        new Set([...commandTables[dialect].keys(), 'NOT-SUPPORTED']),
      )
    })

    it.each(ofDialect(dialect))('$file', async (one) => {
      expect(one.steps[3].map(({ line }) => line)).toEqual(one.steps[2].map(({ line }) => line))
      for (const version of VERSIONS) {
        const steps = one.steps[version]
        expect(steps).not.toEqual([])
        const replies = await ownReplies(one, dialect, version)
        for (const [i, { line, reply }] of steps.entries()) {
          const what = `RESP${version}: ${line}`
          if (reply.startsWith('~')) {
            const pattern = new RegExp(`^${reply.slice(2)}\\r\\n$`, 's')
            expect(replies[i]!.toString('latin1'), what).toMatch(pattern)
          } else expect(`< ${shown(replies[i]!)}`, what).toBe(reply)
        }
      }
    })
  })
}
