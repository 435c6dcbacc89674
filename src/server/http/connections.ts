// The connections of the HTTP server: how many there may be, what is said to those that do not speak HTTP, and when one
// whose body nobody reads is cut.
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { ServerInfo } from '../info.ts'
import type { HttpLimits } from './limits.ts'
import { PROBLEM_TYPE, Problem } from './problems.ts'

/** Connections past the limit that are told so; further ones are closed at once. */
const TOLD = 64
/** How long one past the limit, or one with a body nobody reads, stays. */
const LINGER_MS = 1000

export class Connections {
  readonly #limits: HttpLimits
  readonly #refused = new WeakSet<Socket>()
  /** What is being answered on a connection. */
  readonly #answering = new WeakMap<Socket, ServerResponse>()

  constructor(app: FastifyInstance, limits: HttpLimits, info: ServerInfo) {
    this.#limits = limits
    const server: Server = app.server
    server.maxConnections = limits.connections + TOLD
    server.on('connection', (socket: Socket) => {
      info.connections.http++
      socket.on('close', () => info.connections.http--)
      if (info.connections.http <= limits.connections) return
      info.refused++
      this.#refused.add(socket)
      linger(socket)
    })
    server.on('drop', () => info.refused++)
    app.addHook('onRequest', (request, reply, done) => {
      this.#answering.set(request.raw.socket, reply.raw)
      done(this.#refused.has(request.raw.socket) ? this.#tooMany() : undefined)
    })
    // An answer before the body's end (too large, no password): the rest is read and dropped, but not for long.
    app.addHook('onResponse', (request, _, done) => {
      const { raw } = request
      if (raw.complete === false) {
        raw.removeAllListeners('data').resume()
        linger(raw.socket, () => raw.complete)
      }
      done()
    })
  }

  /** For what is no request: an answer, unless one has begun already, and the end. */
  readonly onClientError = (error: NodeJS.ErrnoException, socket: Socket): void => {
    const answer = this.#answering.get(socket)
    const hasBegun = answer?.headersSent && !answer.writableFinished
    if (error.code === 'ECONNRESET' || !socket.writable || hasBegun) {
      socket.destroy()
      return
    }
    const { status, text } = this.#meaning(error.code)
    const headers = `content-type: ${PROBLEM_TYPE}\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close`
    socket.write(`HTTP/1.1 ${status} Refused\r\n${headers}\r\n\r\n${text}`)
    socket.destroySoon()
  }

  #meaning(code: string | undefined): Problem {
    const { headersMs, headerBytes } = this.#limits
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
      return new Problem(408, `no whole request within ${headersMs} ms`)
    if (code === 'HPE_HEADER_OVERFLOW')
      return new Problem(431, `headers of over ${headerBytes} bytes: send less there`)
    return new Problem(400, 'not a request as HTTP/1.1 has it')
  }

  #tooMany(): Problem {
    const detail = `over ${this.#limits.connections} connections: close some, or start the server with room for more`
    return new Problem(503, detail, { headers: { 'retry-after': '1', connection: 'close' } })
  }
}

// Cuts a connection soon, unless it is fine by then.
function linger(socket: Socket, isFine = () => false): void {
  setTimeout(() => isFine() || socket.destroy(), LINGER_MS).unref()
}
