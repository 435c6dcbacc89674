// A site that does what it can against a crawler: bodies without end, bombs, loops, redirects to anywhere, answers that
// never come. It notes what it was asked for.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const MEGABYTE = 1024 * 1024
const link = (href: string) => `<a href="${href}">go</a>\n`
const filled = (unit: string, bytes = 2 * MEGABYTE) => unit.repeat(Math.ceil(bytes / unit.length))

/** Writes a piece again and again, as fast as it is read, until the reader has gone. */
function endless(response: ServerResponse, piece: string | Buffer): void {
  const more = () => {
    if (response.destroyed) return
    if (response.write(piece)) setImmediate(more)
    else response.once('drain', more)
  }
  more()
}

/** A byte now and then, for ever. */
function drip(socket: Socket | ServerResponse, byte: string): void {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(byte)), 50)
  timer.unref()
}

type Trap = (request: IncomingMessage, response: ServerResponse) => void

const html = (body: string, headers: Record<string, string> = {}): Trap => {
  return (_, response) =>
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body)
}
const packed = (encoding: string, write: (response: ServerResponse) => void): Trap => {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding })
    write(response)
  }
}
const moved = (to: string): Trap => {
  return (_, response) => response.writeHead(302, { location: to }).end()
}
const raw = (write: (socket: Socket) => void): Trap => {
  return ({ socket }) => write(socket)
}

// 16 MiB each, a thousandth of it packed.
const zeros = Buffer.alloc(16 * MEGABYTE, ' ')
const gzipMember = gzipSync(zeros)
const brotli = brotliCompressSync(Buffer.concat([Buffer.from(link('/found/br')), zeros, zeros]))

/** By path, without the query. `other`: the origin of another server, which is out of scope. */
function trapsWith(other: string): Record<string, Trap> {
  return {
    '/endless': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.write(link('/found/endless'))
      endless(response, '<p>more and more</p>'.repeat(3000))
    },
    '/gzip-bomb': packed('gzip', (response) => {
      response.write(gzipSync(link('/found/gzip')))
      endless(response, gzipMember)
    }),
    '/br-bomb': packed('br', (response) => response.end(brotli)),
    // A gzip header whose file name never ends: bytes on the wire, none unpacked.
    '/gzip-name': packed('gzip', (response) => {
      response.write(Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]))
      endless(response, Buffer.alloc(65_536, 'n'))
    }),
    '/gzip-broken': packed('gzip', (response) => response.end('this is not gzip at all')),
    '/encoding': packed('rot13', (response) => response.end(link('/never'))),
    '/encodings': packed('gzip, gzip, gzip, gzip', (response) => response.end(gzipSync('x'))),
    '/charset': html(link('/found/charset'), { 'content-type': 'text/html; charset=no-such-charset' }),
    '/type': html(link('/found/type'), { 'content-type': ';;;' }),
    '/nested': html(filled('<div>') + link('/found/nested')),
    '/closers': html(filled('<div><p>') + filled('</i></p>') + link('/found/closers')),
    '/attributes': html(`<a ${filled('x="y" z ')}>${link('/found/attributes')}`),
    '/entities': html(filled('&amp;&') + link('/found/entities')),
    '/comment': html(`<!--${filled('- --')}-->${link('/found/comment')}`),
    '/cdata': html(`<![CDATA[>${link('/found/cdata')}`),
    '/many': html(
      Array.from({ length: 120_000 }, (_, i) => `<a href=http://elsewhere.invalid/${i}>`).join(''),
    ),
    '/long': html(`<a href="/${'x'.repeat(100_000)}">${link('/found/long')}`),
    '/base': html(
      `<base href="http://elsewhere.invalid/${'b'.repeat(8000)}/">${'<a href=x>'.repeat(20_000)}`,
    ),
    '/self': moved('/self'),
    '/loop/a': moved('/loop/b'),
    '/loop/b': moved('/loop/a'),
    '/off': moved(`${other}/secret`),
    '/off-name': moved(`${other.replace('127.0.0.1', 'localhost')}/secret`),
    '/private': moved('http://169.254.169.254/latest/meta-data/'),
    '/private-name': moved('http://intranet.internal/'),
    '/file': moved('file:///etc/passwd'),
    '/javascript': moved('javascript:alert(1)'),
    '/data': moved('data:text/html,<a href=/never>'),
    '/no-url': moved('http://[::'),
    '/long-redirect': moved(`/${'x'.repeat(9000)}`),
    '/to-closed': moved('/closed/by-redirect'),
    '/to-found': moved('/found/redirect'),
    '/silent': () => {},
    '/drip': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.write(link('/found/drip'))
      drip(response, ' ')
    },
    '/drip-headers': raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-drip: ')
      drip(socket, 'x')
    }),
    '/many-continues': raw((socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n')),
    '/long-headers': raw((socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\nbody`)),
    '/bad-headers': raw((socket) => socket.end('HTTP/1.1 200 OK\r\nno colon here\r\n\r\nbody')),
    '/bad-status': raw((socket) => socket.end('HTTP/9.9 many words\r\n\r\n')),
    '/bad-length': raw((socket) =>
      socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5000\r\n\r\n${link('/found/length')}`,
      ),
    ),
    '/reset': raw((socket) => socket.resetAndDestroy()),
  }
}

/** What is not linked: pages that take for ever. */
export const SLOW_PATHS = ['/silent', '/drip', '/drip-headers', '/many-continues']

export interface HostileSite {
  readonly origin: string
  /** What was asked for, robots.txt too, in order. */
  readonly hits: string[]
  readonly paths: readonly string[]
  close(): Promise<void>
}

/** `robots`: how its robots.txt is answered. */
export async function hostileSite(other: string, robots: Trap): Promise<HostileSite> {
  const hits: string[] = []
  const traps = trapsWith(other)
  const linked = Object.keys(traps).filter((path) => path !== '/loop/b' && !SLOW_PATHS.includes(path))
  const paths = [...linked, '/chain/0', '/deep/', '/closed/link']
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    hits.push(path)
    response.on('error', () => {})
    const trap = traps[path]
    const next = /^\/chain\/(\d+)$/.exec(path)?.[1]
    if (path === '/robots.txt') robots(request, response)
    else if (trap) trap(request, response)
    else if (next) moved(`/chain/${Number(next) + 1}`)(request, response)
    else if (path === '/') html(paths.map(link).join(''))(request, response)
    else if (path.startsWith('/deep/')) html(link('a/') + link('./b/../a/'))(request, response)
    else html('<title>found</title>')(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hits,
    paths,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A robots.txt that closes a folder, is announced as 2 GB, and does not end. */
export const endlessRobots: Trap = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': String(2 * 1024 ** 3) })
  response.write('User-agent: *\nDisallow: /closed/\n')
  endless(response, `# ${'x'.repeat(65_000)}\n`)
}

export const robotsText = (text: string): Trap => {
  return (_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end(text)
}

export const robotsStatus = (status: number): Trap => {
  return (_, response) => response.writeHead(status).end()
}
