// The connections of the HTTP server: their number, the answer to requests that are not HTTP, and the end of those whose
// body is not read.
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { ServerInfo } from '../info.ts'
import { TLS_HANDSHAKE } from '../resp/parser.ts'
import type { Guard } from './guard.ts'
import type { HttpLimits } from './limits.ts'
import { PROBLEM_TYPE, Problem } from './problems.ts'

/** Connections past the limit that get an answer; further ones are closed immediately. */
const ANSWERED = 64
/** How long a connection past the limit, or with an unread body, stays open. */
const LINGER_MS = 1000

interface ClientError extends NodeJS.ErrnoException {
  /** The bytes received, as a Buffer. */
  readonly rawPacket?: unknown
}

export class Connections {
  readonly #limits: HttpLimits
  readonly #refused = new WeakSet<Socket>()
  /** The current response of each connection. */
  readonly #answering = new WeakMap<Socket, ServerResponse>()

  /** Without a right password so far, the oldest first. */
  readonly #strangers = new Set<Socket>()

  constructor(app: FastifyInstance, limits: HttpLimits, info: ServerInfo, guard: Guard) {
    this.#limits = limits
    const server: Server = app.server
    server.maxConnections = limits.connections + ANSWERED
    server.on('connection', (socket: Socket) => {
      info.connections.http++
      socket.on('close', () => {
        info.connections.http--
        this.#strangers.delete(socket)
      })
      if (!guard.isTrusted({})) this.#strangers.add(socket)
      if (info.connections.http <= limits.connections) return
      info.refused++
      if (this.#endStranger(socket)) return
      this.#refused.add(socket)
      linger(socket)
    })
    server.on('drop', () => info.refused++)
    app.addHook('onRequest', (request, reply, done) => {
      if (guard.isTrusted(request.headers)) this.#strangers.delete(request.raw.socket)
      this.#answering.set(request.raw.socket, reply.raw)
      done(this.#refused.has(request.raw.socket) ? this.#tooMany() : undefined)
    })
    // After an answer before the body's end (too large, no password) the rest is read and discarded for LINGER_MS.
    app.addHook('onResponse', (request, _, done) => {
      const { raw } = request
      if (raw.complete === false) {
        raw.removeAllListeners('data').resume()
        linger(raw.socket, () => raw.complete)
      }
      done()
    })
  }

  /** Answers what is not an HTTP request, unless an answer has begun, and closes the connection. */
  readonly onClientError = (error: ClientError, socket: Socket): void => {
    const answer = this.#answering.get(socket)
    const hasBegun = answer?.headersSent && !answer.writableFinished
    if (error.code === 'ECONNRESET' || !socket.writable || hasBegun) {
      socket.destroy()
      return
    }
    const { status, text } = this.#problemOf(error)
    const headers = `content-type: ${PROBLEM_TYPE}\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close`
    socket.write(`HTTP/1.1 ${status} Refused\r\n${headers}\r\n\r\n${text}`)
    socket.destroySoon()
  }

  // Ends the oldest connection without a password in favour of this one. False: there is none.
  #endStranger(socket: Socket): boolean {
    const [oldest] = this.#strangers
    if (oldest === undefined || oldest === socket) return false
    this.#strangers.delete(oldest)
    oldest.destroy()
    return true
  }

  #problemOf({ code, rawPacket }: ClientError): Problem {
    const { headersMs, headerBytes } = this.#limits
    if (rawPacket instanceof Buffer && rawPacket[0] === TLS_HANDSHAKE)
      return new Problem(400, 'this looks like TLS: expected http://, or a proxy that ends TLS')
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
      return new Problem(408, `the request was incomplete after ${headersMs} ms`)
    if (code === 'HPE_HEADER_OVERFLOW')
      return new Problem(431, `headers of more than ${headerBytes} bytes: send shorter ones`)
    return new Problem(400, 'not an HTTP/1.1 request')
  }

  #tooMany(): Problem {
    const detail = `more than ${this.#limits.connections} connections: close some, or raise --max-connections`
    return new Problem(503, detail, { headers: { 'retry-after': '1', connection: 'close' } })
  }
}

// Closes a connection after LINGER_MS unless `isFine` by then.
function linger(socket: Socket, isFine = () => false): void {
  setTimeout(() => isFine() || socket.destroy(), LINGER_MS).unref()
}
