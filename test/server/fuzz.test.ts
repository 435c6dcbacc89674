// Mutated commands, 20,000 of them (URLSIEVE_FULL=1: a million): the parser finds the same in any cuts, the connection
// never fails, hangs or answers what is no reply, and the memory does not grow.
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { serverInfo } from '../../src/server/info.ts'
import { LocalRegistry } from '../../src/server/local-registry.ts'
import { commands, commandTables } from '../../src/server/resp/command-table.ts'
import { Connection } from '../../src/server/resp/connection.ts'
import type { ConnectionContext } from '../../src/server/resp/connection-context.ts'
import { dialects } from '../../src/server/resp/dialect.ts'
import { Dumps } from '../../src/server/resp/dumps.ts'
import { respLimits } from '../../src/server/resp/limits.ts'
import { Parser } from '../../src/server/resp/parser.ts'
import { ReadBuffer } from '../../src/server/resp/read-buffer.ts'
import { Statistics } from '../../src/server/resp/statistics.ts'
import { randomFrom } from '../support/random.mjs'
import { Decoder, encoded } from './raw.ts'

const INPUTS = process.env.URLSIEVE_FULL === '1' ? 1_000_000 : 20_000
const LIMITS = { ...respLimits, itemBytes: 2000, commandItems: 200, bufferedBytes: 20_000 }

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** As much of a socket as a connection touches. */
class Ear extends EventEmitter {
  readonly written: Buffer[] = []
  readonly remoteAddress = '127.0.0.1'
  readonly remotePort = 1
  readonly localAddress = '127.0.0.1'
  readonly localPort = 2
  writable = true
  writableLength = 0
  isPaused = false
  isOver = false
  setNoDelay(): void {}
  setKeepAlive(): void {}
  pause(): void {
    this.isPaused = true
  }
  resume(): void {
    this.isPaused = false
  }
  write(bytes: Buffer): boolean {
    this.written.push(Buffer.from(bytes))
    return true
  }
  end(): void {
    this.isOver = true
    this.writable = false
  }
  destroy(): void {
    this.end()
  }
}

const words = [
  'k',
  'n',
  's',
  'a',
  'https://example.com/',
  '0',
  '1',
  '2',
  '3',
  '0.01',
  '100',
  '-1',
  '1e9',
  'ITEMS',
  'NOCREATE',
  'NONSCALING',
  'EXPANSION',
  'CAPACITY',
  'ERROR',
  'FILTER',
  'blocked',
  'window',
  'prefix-layers',
  'multilayer',
  'WINDOW',
  '10',
  'URLS',
  '1000',
  'FPR',
  'MATCH',
  '*',
  'COUNT',
  'GET',
  'DOCS',
  'INFO',
  'LIST',
  'SETNAME',
  'AUTH',
  'NX',
  'LT',
  'SYNC',
  'ENCODING',
  'IDLETIME',
  'USAGE',
  'SAMPLES',
  'KILL',
  'ID',
  'TRACKING',
  'GETKEYS',
  'HISTOGRAM',
  'RESET',
  'SADD',
  '',
]
const vectors = [
  'MULTI\r\n',
  'EXEC\r\n',
  'WATCH k\r\n',
  'SELECT 1\r\n',
  'SELECT 0\r\n',
  'PING\r\n',
  'BF.ADD k "a b"\n',
  '*0\r\n',
  '*-1\r\n',
  '\r\n',
  "ECHO 'x\\'y'\r\n",
  'x"\n',
]

function makeInput(random: () => number): Buffer {
  const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)]!
  const names = [...commands.keys()].filter((name) => name !== 'QUIT')
  const parts: Buffer[] = []
  const length = 1 + Math.floor(random() * 5)
  for (let i = 0; i < length; i++) {
    const rest = Array.from({ length: Math.floor(random() * 6) }, () => pick(words))
    const command = encoded(pick(names), ...(random() < 0.7 ? [pick(['k', 'n', 's'])] : []), ...rest)
    parts.push(random() < 0.1 ? Buffer.from(pick(vectors)) : command)
    if (random() < 0.3) parts.push(command, command)
  }
  let input: Buffer = Buffer.concat(parts)
  for (let i = Math.floor(random() * 5); i > 0; i--) input = mutated(input, random)
  return input
}

function mutated(input: Buffer, random: () => number): Buffer {
  const at = Math.floor(random() * (input.length + 1))
  const to = Math.min(input.length, at + Math.floor(random() * 8))
  const [before, after] = [input.subarray(0, at), input.subarray(at)]
  const telling = Buffer.from('*$:-+\r\n0123456789"\'\\\0\xff ', 'latin1')
  const byte = random() < 0.7 ? telling[Math.floor(random() * telling.length)]! : Math.floor(random() * 256)
  switch (Math.floor(random() * 5)) {
    case 0:
      return Buffer.concat([before, Buffer.from([byte]), after])
    case 1:
      return Buffer.concat([before, input.subarray(to)])
    case 2:
      return Buffer.concat([before, Buffer.from([byte]), input.subarray(at + 1)])
    case 3:
      return Buffer.concat([before, input.subarray(at, to), after])
    default:
      return Buffer.from(before)
  }
}

const cutsOf = (input: Buffer, random: () => number) =>
  Array.from(input, (_, i) => i).filter(() => random() < 4 / input.length)

function parsed(input: Buffer, cuts: readonly number[]): string {
  const parser = new Parser(LIMITS)
  const found: string[] = []
  let from = 0
  for (const cut of [...cuts, input.length]) {
    const left = parser.bytes.subarray(parser.at, parser.size)
    parser.bytes = Buffer.concat([left, input.subarray(from, cut)])
    parser.at = 0
    parser.size = parser.bytes.length
    from = cut
    for (let next = parser.next(); next !== 'more'; next = parser.next()) {
      if (next === 'error') return [...found, `error ${parser.error}`].join('\n')
      for (let i = 0; i < parser.count; i++) found.push(parser.argument(i).toString('hex'))
      found.push('.')
      parser.pass()
    }
  }
  return found.join('\n')
}

it(`${INPUTS} mutated inputs`, { timeout: 3_600_000 }, async () => {
  const random = randomFrom(20_261_115)
  const defects: unknown[] = []
  const open = () => LocalRegistry.open({ memoryBytes: 48 * 1024 ** 2, mostSieves: 12 })
  let registry = await open()
  const dumps = new Dumps(LIMITS.itemBytes, 1024 ** 2)
  const clients = new Set<Connection>()
  const readBuffer = new ReadBuffer()
  const contextOf = (): ConnectionContext => ({
    registry,
    info: serverInfo('fuzz'),
    limits: LIMITS,
    password: undefined,
    dumps,
    clients,
    isDurable: false,
    allowsFlush: true,
    dialect: dialects.redis,
    commands: commandTables.redis,
    statistics: new Statistics(),
    port: 0,
    readBuffer,
    heldBytes: 0,
    sendLater: (connection) => connection.send(),
    left: (connection) => clients.delete(connection),
    cut: () => {},
    tooMuchUnread: () => {},
    failed: (error) => defects.push(error),
  })
  let context = contextOf()
  let replies = 0
  let early = 0
  for (let i = 0; i < INPUTS; i++) {
    const input = makeInput(random)
    const cuts = cutsOf(input, random)
    expect(parsed(input, cuts)).toBe(parsed(input, []))

    const ear = new Ear()
    clients.add(new Connection(i, ear as unknown as Socket, context))
    let from = 0
    for (const cut of [...cuts, input.length]) {
      const end = performance.now() + 5000
      while (ear.isPaused && !ear.isOver) {
        if (performance.now() > end) expect.fail(`it hangs: ${JSON.stringify(input.toString('latin1'))}`)
        await new Promise(setImmediate)
      }
      ear.emit('data', Buffer.from(input.subarray(from, cut)))
      from = cut
    }
    while (ear.isPaused && !ear.isOver) await new Promise(setImmediate)
    ear.emit('end')
    ear.emit('close')
    const decoder = new Decoder()
    for (const bytes of ear.written) decoder.push(bytes)
    while (decoder.next()) replies++
    if (decoder.left > 0) expect.fail(`no reply at the end: ${JSON.stringify(input.toString('latin1'))}`)
    if (defects.length > 0)
      expect.fail(`${JSON.stringify(input.toString('latin1'))}: ${(defects[0] as Error).stack}`)
    expect(ear.isOver).toBe(true)

    if (i % 500 === 499) {
      await registry.close()
      registry = await open()
      context = contextOf()
      if (i < INPUTS / 4) continue
      collect()
      const { heapUsed, arrayBuffers, external } = process.memoryUsage()
      early ||= heapUsed + external + arrayBuffers
      expect(heapUsed + external + arrayBuffers).toBeLessThan(early + 64 * 1024 ** 2)
    }
  }
  expect(clients.size).toBe(0)
  expect(replies).toBeGreaterThan(INPUTS)
  dumps.close()
})
