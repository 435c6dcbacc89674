// Many clients that all ask for the same at the same time: what each command and each route is asked for, as large as the
// limits allow to so many, by one, 50 or 500 connections that read their replies or leave them unread.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { commandTables } from '../../src/server/resp/command-table.ts'
import { MOST_EXPLAINED_BYTES, MOST_URL_BYTES } from '../../src/server/url-limits.ts'
import { encoded } from './raw.ts'

export interface Ask {
  readonly what: string
  readonly way: 'resp' | 'http'
  /** What one of `clients` connections sends. */
  bytes(clients: number, size: Size): Buffer
}

export interface Size {
  /** Bytes that all clients together send, at most. */
  readonly allBytes: number
  /** Times that a client sends a short command, by the number of clients. */
  readonly times: (clients: number) => number
}

/** Within --max-buffered-all. */
export const LARGE: Size = { allBytes: 128 * 1024 ** 2, times: (clients) => 1000 / Math.sqrt(clients) }
export const SMALL: Size = { allBytes: 512 * 1024, times: () => 3 }

const MOST_ITEMS = 90_000
const MOST_ITEM_BYTES = 1024 ** 2
const MOST_WORDS = 1020
const END = 'the-end'

const urlOf = (i: number) => `https://example.com/some/page/${i}?b=2&a=1`
/** `share`: bytes that this client may send. */
const urls = (share: number) =>
  Array.from({ length: Math.min(MOST_ITEMS, Math.floor(share / 64)) }, (_, i) => urlOf(i))
const item = (share: number) => 'x'.repeat(Math.min(MOST_ITEM_BYTES, share) - 100)
const longUrl = `https://example.com/?${'b=2&a=%7e1&'.repeat(MOST_URL_BYTES / 11 - 10)}`
/** As long as a URL may be, or a share of what all may send. */
const url = (share: number, most = MOST_URL_BYTES) => longUrl.slice(0, Math.min(share, most))
const words = Array.from({ length: MOST_WORDS }, (_, i) => ['CLIENT', 'BF.INSERT', 'OBJECT', 'SCAN'][i % 4]!)
const names = Array.from({ length: MOST_WORDS }, (_, i) => `n${i}`)

type Words = readonly string[]
type WordsFor = (share: number) => Words

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
    (n) => [name, url(n)],
    (n) => [name, ...urls(n)],
  ]),
  'SIEVE.HAS': [(n) => ['odd', url(n)], (n) => ['odd', ...urls(n)]],
  'SIEVE.EXPLAIN': ['odd', 'scrapy', 'crawlee'].map(
    (name): WordsFor =>
      () => [name, longUrl],
  ),
  'SIEVE.UNDER': [(n) => ['under', url(n)]],
  'SIEVE.FORGET': [(n) => ['odd', url(n)], (n) => ['odd', ...urls(n)]],
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
    () => ['GETKEYS', 'DEL', ...names],
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

const line = (...all: Words) => lineOf(all)

// Too many words to be arguments of a function.
function lineOf(all: Words): Buffer {
  if (all.length < 1000) return encoded(...all)
  return Buffer.from(
    `*${all.length}\r\n${all.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
  )
}

function commandAsks(): Ask[] {
  const tables = Object.values(commandTables)
  const commands = new Map(tables.flatMap((table) => [...table]))
  return [...commands.values()]
    .filter(({ name }) => !LEFT_OUT.has(name))
    .flatMap(({ name, arity }) => {
      const least = Array.from({ length: Math.abs(arity) - 1 }, () => '1')
      return (LARGEST[name] ?? [() => least]).map((wordsFor, i): Ask => {
        const second = wordsFor(1000)[name === 'COMMAND' || i > 0 ? 0 : -1]
        return {
          what: [name, second !== undefined && second.length < 20 ? second : '', i > 0 ? i : '']
            .join(' ')
            .trim(),
          way: 'resp',
          bytes(clients, { allBytes, times: timesOf }) {
            const one = lineOf([name, ...wordsFor(Math.floor(allBytes / clients))])
            const times = one.length > 1000 ? 1 : Math.ceil(timesOf(clients))
            return Buffer.concat(Array.from({ length: times }, () => one))
          },
        }
      })
    })
}

const transaction = (what: string, count: number, ...command: Words): Ask => ({
  what,
  way: 'resp',
  bytes: (clients, { times }) =>
    Buffer.concat([
      line('MULTI'),
      ...Array.from({ length: Math.ceil((count * times(clients)) / 1000) }, () => line(...command)),
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

const http = (method: string, path: string, body?: (share: number) => string, type?: string): Ask => ({
  what: `${method} ${path.slice(0, 40)}${type ? ' lines' : ''}`,
  way: 'http',
  bytes: (clients, { allBytes }) => request(method, path, body?.(Math.floor(allBytes / clients)), type),
})

const asJson = (share: number) => JSON.stringify({ urls: urls(share) })
const asLines = (share: number) =>
  Array.from({ length: Math.min(300_000, Math.floor(share / 64)) }, (_, i) => urlOf(i)).join('\n')
const inQuery = encodeURIComponent(longUrl.slice(0, 5000))

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
  http('POST', '/v1/explain', (n) =>
    JSON.stringify({ url: url(n, MOST_EXPLAINED_BYTES), profile: 'aggressive' }),
  ),
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

  send(ask: Ask, size: Size, isRead: boolean): Promise<unknown> {
    const bytes = ask.bytes(this.#sockets.length, size)
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
