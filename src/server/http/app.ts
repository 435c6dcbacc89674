// The Fastify application: body parsers, access checks, problems and all routes. It works without a socket.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import swagger from '@fastify/swagger'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Items } from '../../index.ts'
import { turns } from '../../store/pace.ts'
import { ServerHistory } from '../history.ts'
import type { ServerInfo } from '../info.ts'
import { Metrics } from '../metrics.ts'
import type { SieveRegistry } from '../registry.ts'
import { Bodies } from './bodies.ts'
import { catalog } from './catalog.ts'
import { Connections } from './connections.ts'
import { Guard, isOpenPath } from './guard.ts'
import { digestBody, notePart, repeatable } from './idempotency.ts'
import type { HttpLimits } from './limits.ts'
import { Live } from './live.ts'
import { LONG_BYTES, readLongList } from './long-list.ts'
import { hasReport, SAFE_HEADERS, servePage, serveReport } from './pages.ts'
import { plans } from './plans.ts'
import {
  DEFECT,
  loading,
  MOST_NAME_LETTERS,
  PROBLEM_TYPE,
  Problem,
  problemOf,
  violation,
} from './problems.ts'
import { RequestTurns } from './request-turns.ts'
import { components } from './schemas.ts'
import { service } from './service.ts'
import { sieves } from './sieves.ts'
import { joinItems, UrlLists } from './url-list.ts'
import { verdicts } from './verdicts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The URLs of a JSON body, read directly from its bytes; the body is then an empty list. */
    items: Items | null
  }
  interface FastifyContextConfig {
    takesItems?: boolean
  }
}

export interface HttpOptions {
  readonly host: string
  readonly port: number
  readonly password?: string
  readonly limits: HttpLimits
  readonly server: ServerInfo
  /** The built page; absent: no page. */
  readonly siteFolder?: string
  /** A report of `urlsieve lab`; absent: no report. */
  readonly reportFolder?: string
  /** For the page; absent: it begins now. */
  readonly history?: ServerHistory
  /** Called for a defect of urlsieve; the client gets a 500 without the reason. */
  readonly onDefect?: (error: unknown) => void
}

export interface HttpApp {
  readonly app: FastifyInstance
  /** Finishes running requests within `graceMs`. */
  close(): Promise<void>
}

/** Bytes a connection may buffer in each direction before it is paused: two reads. */
const STREAM_BYTES = 128 * 1024
/** Shorter answers are not counted with what is unread: a socket's own buffer takes them. */
const LONG_ANSWER_BYTES = 16 * 1024
const NO_URLS = Object.freeze({ urls: Object.freeze([]) })

export async function makeApp(registry: SieveRegistry, options: HttpOptions): Promise<HttpApp> {
  const { limits, server: info } = options
  let isOpen = true
  let connections: Connections | undefined
  const app = fastify({
    bodyLimit: limits.jsonBytes,
    connectionTimeout: limits.idleMs,
    keepAliveTimeout: limits.keepAliveMs,
    return503OnClosing: false,
    routerOptions: { maxParamLength: MOST_NAME_LETTERS },
    http: {
      maxHeaderSize: limits.headerBytes,
      highWaterMark: STREAM_BYTES,
      headersTimeout: limits.headersMs,
      requestTimeout: 0,
      connectionsCheckingInterval: Math.max(20, Math.min(1000, limits.headersMs / 4)),
    },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
    schemaErrorFormatter: violation,
    clientErrorHandler: (error, socket) => connections?.onClientError(error, socket),
    frameworkErrors: (error, _, reply) => refuse(error, reply as FastifyReply),
  })

  const refuse = (error: unknown, reply: FastifyReply) => {
    const problem = problemOf(error)
    if (!problem) options.onDefect?.(error)
    const { status, text, headers } = problem ?? DEFECT
    if (problem) notePart(reply, problem)
    // Closing while the body still arrives would lose the answer; Connections ends such a connection later.
    reply.removeHeader('connection')
    reply
      .code(status)
      .headers({ ...SAFE_HEADERS, ...headers })
      .type(PROBLEM_TYPE)
      .send(text)
  }

  const guard = new Guard(options.host, options.password)
  connections = new Connections(app, limits, info, guard)
  app.decorateRequest('items', null)
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(SAFE_HEADERS)
    const path = request.routeOptions.url ?? ''
    const refusal = twice(request.raw) ?? guard.refusal(path, request.headers) ?? encoded(request.headers)
    const isRefused = refusal === null && registry.isLoading && path.startsWith('/v1/sieves')
    done(isRefused ? loading() : (refusal ?? undefined))
  })
  const requestTurns = new RequestTurns()
  app.addHook('onRequest', (request, _, done) => {
    requestTurns.take(request.raw, isOpenPath(request.routeOptions.url ?? ''), done)
  })
  app.addHook('onSend', (_, reply, payload, done) => {
    const bytes = typeof payload === 'string' || payload instanceof Uint8Array ? payload.length : 0
    if (bytes > LONG_ANSWER_BYTES) info.unread.wrote(reply.raw, bytes)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const isStream = request.routeOptions.url === '/v1/live' || typeof request.body === 'string'
    if (!isStream) info.latencies.http.observe(reply.elapsedTime / 1000)
    info.answered.http++
    if (reply.statusCode >= 400) info.errors.http++
    if (!isOpen) app.server.closeIdleConnections()
    done()
  })
  app.setErrorHandler((error, _, reply) => refuse(error, reply))
  app.setNotFoundHandler((request, reply) => {
    refuse(new Problem(404, `nothing at ${request.method} ${request.url}: see /openapi.json`), reply)
  })

  repeatable(app, info.repeated)
  const lists = new UrlLists(limits)
  const bodies = new Bodies(limits)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const body = await bodies.read(payload, Number(request.headers['content-length'] ?? 0))
    await digestBody(request, body)
    if (!turns.mayBegin(() => false)) await turns.wait()
    const { takesItems = false } = request.routeOptions.config
    if (takesItems) {
      request.items = lists.read(body)
      if (request.items) return NO_URLS
    }
    if (body.length <= LONG_BYTES) return parseJson(body)
    const urls: string[] = []
    const parts: Items[] = []
    await readLongList(body, (some, before) => {
      if (takesItems) parts.push(lists.encode(some, before))
      else for (const url of some) urls.push(url)
    })
    if (!takesItems) return { urls }
    request.items = joinItems(parts)
    return NO_URLS
  })
  // The stream is read by the route; for the schema the body is a text.
  app.addContentTypeParser('text/plain', (_, __, done) => done(null, ''))

  for (const [name, schema] of Object.entries(components)) app.addSchema({ $id: name, ...schema })
  await app.register(swagger, description(info.version, options.password !== undefined))

  const live = new Live(registry, info, limits.listeners, (error) => options.onDefect?.(error))
  const metrics = new Metrics(registry, info, () => live.listeners)
  const history = options.history ?? new ServerHistory(registry, info)
  history.start((error) => options.onDefect?.(error))
  sieves(app, registry, lists, history)
  verdicts(app, registry, options, lists)
  catalog(app, registry)
  plans(app, registry)
  const { siteFolder, reportFolder } = options
  service(app, {
    registry,
    info,
    live,
    history,
    metrics,
    guard,
    isOpen: () => isOpen,
    hasReport: () => hasReport(reportFolder),
  })
  if (reportFolder !== undefined) serveReport(app, reportFolder)
  if (siteFolder !== undefined) servePage(app, siteFolder)
  await app.ready()

  return {
    app,
    async close() {
      isOpen = false
      live.close()
      metrics.close()
      history.close()
      const cut = setTimeout(() => app.server.closeAllConnections(), limits.graceMs)
      await app.close()
      clearTimeout(cut)
    },
  }
}

// Compressed bytes would be marked as if they were lines.
function encoded({ 'content-encoding': encoding = 'identity' }: IncomingHttpHeaders): Problem | null {
  if (encoding.toLowerCase() === 'identity') return null
  return new Problem(415, `Content-Encoding '${encoding}': expected a body that is not compressed`)
}

/** Headers that decide what a request may do: of two, a proxy may have checked the other one. */
const SINGLE = [
  'host',
  'authorization',
  'origin',
  'sec-fetch-site',
  'content-type',
  'content-encoding',
  'idempotency-key',
]

function twice({ rawHeaders }: IncomingMessage): Problem | null {
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (!SINGLE.includes(name)) continue
    if (seen.has(name)) return new Problem(400, `two headers '${name}': expected one`)
    seen.add(name)
  }
  return null
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined
  try {
    return JSON.parse(decoder.decode(body))
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : 'not UTF-8'
    throw new Problem(400, `the body is not JSON (${why}): expected an object as in /openapi.json`)
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function description(version: string, isLocked: boolean) {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'urlsieve',
        version,
        description:
          'Have I seen this URL? A false "seen" is possible at the filter’s rate; a false "new" is not.',
      },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          basic: { type: 'http', scheme: 'basic', description: 'Any user.' },
        },
      },
      ...(isLocked && { security: [{ bearer: [] }, { basic: [] }] }),
    },
    convertConstToEnum: false,
    refResolver: { buildLocalReference: (schema: { $id?: unknown }) => String(schema.$id) },
  } as const
}
