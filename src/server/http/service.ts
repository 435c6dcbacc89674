// Routes about the server itself: health, readiness, metrics, the OpenAPI description and the live feed.
import type { FastifyInstance } from 'fastify'
import { turns } from '../../store/pace.ts'
import { type FaultKind, faultKinds, faultLine } from '../faults.ts'
import type { ServerHistory, Span } from '../history.ts'
import type { ServerInfo } from '../info.ts'
import type { Metrics } from '../metrics.ts'
import type { SieveRegistry } from '../registry.ts'
import type { Guard } from './guard.ts'
import { capacityOf, type Live } from './live.ts'
import { SAFE_HEADERS } from './pages.ts'
import { loading, Problem } from './problems.ts'
import { answers, answersIn, ref, refusals, spanInQuery, text } from './schemas.ts'

export interface Service {
  readonly registry: SieveRegistry
  readonly info: ServerInfo
  readonly live: Live
  readonly history: ServerHistory
  readonly metrics: Metrics
  readonly guard: Guard
  /** False once the server is stopping. */
  isOpen(): boolean
  hasReport(): boolean
}

/** What clients without the password may see: kinds of faults, but no names or paths. */
function kindLines(counts: Readonly<Record<FaultKind, number>>): string[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${kind}: ${faultKinds[kind as FaultKind].does} (${count})`)
}

export function service(
  app: FastifyInstance,
  { registry, info, live, history, metrics, guard, isOpen, hasReport }: Service,
): void {
  const open = { security: [] }
  const fine = { 200: answersIn('Yes.', { 'text/plain': text }), ...refusals }

  app.get(
    '/healthz',
    { schema: { summary: 'Is the process running?', ...open, response: fine } },
    (_, reply) => reply.type('text/plain').send('ok\n'),
  )
  app.get(
    '/readyz',
    { schema: { summary: 'Is the server ready for requests?', ...open, response: fine } },
    (request, reply) => {
      if (!isOpen()) throw new Problem(503, 'the server is stopping: use another one, or try later')
      if (registry.isLoading) throw loading()
      const { faults } = registry
      const isTrusted = guard.isTrusted(request.headers)
      const lines = isTrusted ? faults.list().map(faultLine) : kindLines(faults.counts())
      if (faults.isReady) {
        return reply.type('text/plain').send(['ready', ...lines].map((line) => `${line}\n`).join(''))
      }
      const more = { faults: isTrusted ? faults.list() : lines }
      throw new Problem(503, `not ready: ${lines.join('; ')}`, { more })
    },
  )

  const metricsText = answersIn('In the text format of Prometheus.', { 'text/plain': text })
  app.get(
    '/metrics',
    { schema: { summary: 'Metrics for Prometheus', response: { 200: metricsText, ...refusals } } },
    async (_, reply) => {
      const text = await metrics.text()
      await turns.wait() // others wait for the same text
      return reply.type(metrics.contentType).send(text)
    },
  )

  let described: Buffer | undefined
  app.get(
    '/openapi.json',
    {
      schema: {
        summary: 'This description',
        response: {
          200: { description: 'OpenAPI 3.1.', type: 'object', additionalProperties: true },
          ...refusals,
        },
      },
    },
    (_, reply) => {
      described ??= Buffer.from(JSON.stringify(app.swagger()))
      return reply.type('application/json; charset=utf-8').send(described)
    },
  )

  app.get(
    '/v1/server',
    {
      schema: {
        summary: 'Version, start, memory, storage and faults of the server',
        response: { 200: answers('Server', 'The server.'), ...refusals },
      },
    },
    async () => ({
      version: info.version,
      startedAt: info.startedAt.toISOString(),
      ...(await capacityOf(registry)),
      connections: info.connections,
      faults: registry.faults.list(),
      report: hasReport(),
    }),
  )

  app.get<{ Querystring: { span: Span } }>(
    '/v1/history',
    {
      schema: {
        summary: 'Load, latency, errors and memory of the server over the last hour or day',
        querystring: spanInQuery,
        response: { 200: answers('ServerHistory', 'Oldest first.'), ...refusals },
      },
    },
    ({ query }) => history.read(query.span),
  )

  app.get(
    '/v1/live',
    {
      exposeHeadRoute: false,
      schema: {
        summary: 'All sieves, once a second, as server-sent events',
        response: { 200: answersIn('Each event’s data.', { 'text/event-stream': ref('Live') }), ...refusals },
      },
    },
    (_, reply) => {
      live.checkListeners()
      reply.hijack()
      live.listen(reply.raw, SAFE_HEADERS)
    },
  )
}
