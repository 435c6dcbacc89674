// Many clients that all ask for the same at the same time: what each command and each route is asked for, as large as the
// limits allow to so many, by one, 50 or 500 connections that read their replies or leave them unread.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { commandTables } from '../../src/server/resp/command-table.ts'
import { encoded } from './raw.ts'

export interface Ask {
  readonly what: string
  readonly way: 'resp' | 'http'
  /** What one of `clients` connections sends. */
  bytes(clients: number): Buffer
}

/** Bytes that all clients together send, at most: within --max-buffered-all. */
const ALL_BYTES = 128 * 1024 ** 2
const MOST_ITEMS = 90_000
const MOST_ITEM_BYTES = 1024 ** 2
const MOST_URL_BYTES = 64 * 1024
const MOST_WORDS = 1020
/** Times that a short command is sent at once. */
const PIPELINED = 1000
const END = 'the-end'

const share = (clients: number) => Math.floor(ALL_BYTES / clients)
const urlOf = (i: number) => `https://example.com/some/page/${i}?b=2&a=1`
const urls = (clients: number) =>
  Array.from({ length: Math.min(MOST_ITEMS, Math.floor(share(clients) / 64)) }, (_, i) => urlOf(i))
const item = (clients: number) => 'x'.repeat(Math.min(MOST_ITEM_BYTES, share(clients)) - 100)
const longUrl = `https://example.com/?${'b=2&a=%7e1&'.repeat(MOST_URL_BYTES / 11 - 10)}`
const words = Array.from({ length: MOST_WORDS }, (_, i) => ['CLIENT', 'BF.INSERT', 'OBJECT', 'SCAN'][i % 4]!)
const names = Array.from({ length: MOST_WORDS }, (_, i) => `n${i}`)

type Words = readonly string[]
type WordsFor = (clients: number) => Words

/** Of the commands that take much; the others are asked with as few words as they take. */
const LARGEST: Readonly<Record<string, readonly WordsFor[]>> = {
  'BF.ADD': [(n) => ['bf', item(n)]],
  'BF.MADD': [(n) => ['bf', ...urls(n)]],
  'BF.EXISTS': [(n) => ['bf', item(n)]],
  'BF.MEXISTS': [(n) => ['bf', ...urls(n)]],
  'BF.INSERT': [(n) => ['bf', 'ITEMS', ...urls(n)]],
  'BF.CARD': [() => ['bf']],
  'BF.INFO': [() => ['bf']],
  'BF.DEBUG': [() => ['bf']],
  'BF.SCANDUMP': [() => ['bf', '0'], () => ['bf', '1']],
  'BF.LOADCHUNK': [(n) => ['copy', '1', item(n)]],
  'BF.LOAD': [(n) => ['copy', item(n)]],
  'SIEVE.CREATE': [() => ['odd', 'PROFILE', 'aggressive']],
  'SIEVE.ADD': ['odd', 'scrapy', 'crawlee'].flatMap((name): WordsFor[] => [
    () => [name, longUrl],
    (n) => [name, ...urls(n)],
  ]),
  'SIEVE.HAS': [() => ['odd', longUrl], (n) => ['odd', ...urls(n)]],
  'SIEVE.EXPLAIN': ['odd', 'scrapy', 'crawlee'].map(
    (name): WordsFor =>
      () => [name, longUrl],
  ),
  'SIEVE.UNDER': [() => ['under', longUrl]],
  'SIEVE.FORGET': [() => ['odd', longUrl], (n) => ['odd', ...urls(n)]],
  'SIEVE.STATS': [() => ['odd'], () => ['layers']],
  'SIEVE.SAVE': [() => ['odd']],
  SADD: [(n) => ['set', ...urls(n)]],
  SREM: [(n) => ['none', ...urls(n)]],
  SISMEMBER: [(n) => ['set', item(n)]],
  SMISMEMBER: [(n) => ['set', ...urls(n)]],
  SCARD: [() => ['set']],
  EXISTS: [urls],
  TOUCH: [urls],
  DEL: [urls],
  UNLINK: [urls],
  KEYS: [() => ['*'], () => ['*a*b*c*d*e*f*g*h*']],
  SCAN: [() => ['0', 'COUNT', '10000']],
  WATCH: [() => names],
  PING: [(n) => [item(n)]],
  ECHO: [(n) => [item(n)]],
  COMMAND: [
    () => [],
    () => ['INFO', ...words],
    () => ['DOCS'],
    () => ['DOCS', ...words],
    () => ['LIST'],
    (n) => ['GETKEYS', 'DEL', ...names.slice(0, n)],
  ],
  CLIENT: [() => ['LIST'], () => ['INFO']],
  CONFIG: [() => ['GET', '*']],
  INFO: [() => ['ALL']],
  SLOWLOG: [() => ['GET', '-1']],
  LATENCY: [() => ['HISTOGRAM']],
  MEMORY: [() => ['USAGE', 'layers']],
  OBJECT: [() => ['FREQ', 'bf']],
}

/** They end the connection, or everything; FLUSHALL has a row of its own. */
const LEFT_OUT = new Set(['QUIT', 'FLUSHALL', 'FLUSHDB', 'SHUTDOWN', 'AUTH'])

const line = (...all: Words) => encoded(...all)

function commandAsks(): Ask[] {
  const tables = Object.values(commandTables)
  const commands = new Map(tables.flatMap((table) => [...table]))
  return [...commands.values()]
    .filter(({ name }) => !LEFT_OUT.has(name))
    .flatMap(({ name, arity }) => {
      const least = Array.from({ length: Math.abs(arity) - 1 }, () => '1')
      return (LARGEST[name] ?? [() => least]).map((wordsFor, i): Ask => {
        const second = wordsFor(1)[name === 'COMMAND' || i > 0 ? 0 : -1]
        return {
          what: [name, second !== undefined && second.length < 20 ? second : '', i > 0 ? i : '']
            .join(' ')
            .trim(),
          way: 'resp',
          bytes(clients) {
            const one = line(name, ...wordsFor(clients))
            const times = one.length > 1000 ? 1 : Math.ceil(PIPELINED / Math.sqrt(clients))
            return Buffer.concat(Array.from({ length: times }, () => one))
          },
        }
      })
    })
}

const transaction = (what: string, count: number, ...command: Words): Ask => ({
  what,
  way: 'resp',
  bytes: (clients) =>
    Buffer.concat([
      line('MULTI'),
      ...Array.from({ length: Math.ceil(count / Math.sqrt(clients)) }, () => line(...command)),
      line('EXEC'),
    ]),
})

function request(method: string, path: string, body = '', type = 'application/json'): Buffer {
  const head = [
    `${method} ${path} HTTP/1.1`,
    'host: localhost',
    'connection: close',
    ...(body === '' ? [] : [`content-type: ${type}`, `content-length: ${Buffer.byteLength(body)}`]),
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

const http = (method: string, path: string, body?: (clients: number) => string, type?: string): Ask => ({
  what: `${method} ${path.slice(0, 40)}${type ? ' lines' : ''}`,
  way: 'http',
  bytes: (clients) => request(method, path, body?.(clients), type),
})

const asJson = (clients: number) => JSON.stringify({ urls: urls(clients) })
const asLines = (clients: number) =>
  Array.from({ length: Math.min(300_000, Math.floor(share(clients) / 64)) }, (_, i) => urlOf(i)).join('\n')
const inQuery = encodeURIComponent(longUrl.slice(0, 9000))

/** Each route of the server but /v1/live, whose listeners stay. */
export const routes: readonly Ask[] = [
  ...[
    '/healthz',
    '/readyz',
    '/metrics',
    '/openapi.json',
    '/',
    '/v1/server',
    '/v1/sieves',
    '/v1/sieves/odd',
  ].map((path) => http('GET', path)),
  ...['/v1/filters', '/v1/profiles', '/v1/hashes', '/v1/history', '/v1/sieves/odd/history'].map((path) =>
    http('GET', path),
  ),
  http('GET', '/v1/sieves/odd/shapes'),
  http('GET', `/v1/sieves/odd/explain?url=${inQuery}`),
  http('GET', `/v1/sieves/under/under?folder=${inQuery}`),
  http('PUT', '/v1/sieves/odd', () => '{"profile":"aggressive"}'),
  http('DELETE', '/v1/sieves/none'),
  http('POST', '/v1/explain', () => JSON.stringify({ url: longUrl.slice(0, 16_000), profile: 'aggressive' })),
  http('POST', '/v1/plan', () => '{"filter":"multilayer","expectedUrls":100000000}'),
  http('POST', '/v1/sieves/odd/save'),
  ...['add', 'has', 'forget'].map((verb) => http('POST', `/v1/sieves/odd/${verb}`, asJson)),
  http('POST', '/v1/sieves/odd/add', asLines, 'text/plain'),
  http('POST', '/v1/sieves/odd/has', asLines, 'text/plain'),
]

export const asks: readonly Ask[] = [
  ...commandAsks(),
  transaction('MULTI of 2,000 KEYS', 2000, 'KEYS', '*'),
  transaction('MULTI of 20,000 KEYS', 20_000, 'KEYS', '*'),
  transaction('MULTI of 3,000 COMMAND DOCS', 3000, 'COMMAND', 'DOCS'),
  ...routes,
]

/** The sieves that are asked. `scale`: URLs that the large ones are made for. */
export const setup = (scale: number, others: number): readonly Words[] => [
  ['BF.RESERVE', 'bf', '0.0001', String(scale)],
  ['SIEVE.CREATE', 'odd', 'PROFILE', 'aggressive'],
  ['SIEVE.CREATE', 'scrapy', 'PROFILE', 'scrapy'],
  ['SIEVE.CREATE', 'crawlee', 'PROFILE', 'crawlee'],
  ['SIEVE.CREATE', 'under', 'FILTER', 'prefix-layers', 'EXPECTED', String(scale)],
  ['SIEVE.CREATE', 'layers', 'FILTER', 'multilayer', 'EXPECTED', String(scale)],
  ['SADD', 'set', 'x'],
  ...Array.from({ length: others }, (_, i) => ['SIEVE.CREATE', `n${i}`]),
]

export interface Ports {
  readonly port: number
  readonly httpPort: number
}

/** Connections that ask at once; each resolves when it has all its replies, or was disconnected. */
export class Crowd {
  readonly #sockets: readonly Socket[]

  private constructor(sockets: readonly Socket[]) {
    this.#sockets = sockets
  }

  static async open({ port, httpPort }: Ports, way: Ask['way'], clients: number): Promise<Crowd> {
    const sockets: Socket[] = []
    for (let i = 0; i < clients; i++) {
      const socket = connect({ port: way === 'resp' ? port : httpPort, host: '127.0.0.1', noDelay: true })
      socket.on('error', () => {})
      sockets.push(socket)
      await once(socket, 'connect')
    }
    return new Crowd(sockets)
  }

  send(ask: Ask, isRead: boolean): Promise<unknown> {
    const bytes = ask.bytes(this.#sockets.length)
    const all = ask.way === 'resp' ? Buffer.concat([bytes, line('RESET'), line('ECHO', END)]) : bytes
    return Promise.all(
      this.#sockets.map((socket) => {
        if (!isRead) socket.pause()
        socket.write(all)
        return isRead ? lastOf(socket, ask.way) : undefined
      }),
    )
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

function lastOf(socket: Socket, way: Ask['way']): Promise<void> {
  const last = `${END}\r\n`
  let tail = ''
  return new Promise((resolve) => {
    socket.on('close', () => resolve())
    socket.on('data', (chunk: Buffer) => {
      if (way === 'http') return
      tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - last.length))).slice(-last.length)
      if (tail === last) resolve()
    })
  })
}
