// What is asked of the server itself: is it alive, is it ready, its figures, its description, and the live feed.
import type { FastifyInstance } from 'fastify'
import type { House } from '../house.ts'
import type { ServerInfo } from '../info.ts'
import type { Metrics } from '../metrics.ts'
import type { Live } from './live.ts'
import { SAFE_HEADERS } from './pages.ts'
import { Problem } from './problems.ts'
import { answers, answersIn, ref, refusals, text } from './schemas.ts'

export interface Service {
  readonly house: House
  readonly info: ServerInfo
  readonly live: Live
  readonly metrics: Metrics
  /** False once it is stopping. */
  isOpen(): boolean
  hasReport(): boolean
}

export function service(
  app: FastifyInstance,
  { house, info, live, metrics, isOpen, hasReport }: Service,
): void {
  const open = { security: [] }
  const fine = { 200: answersIn('It is.', { 'text/plain': text }), ...refusals }

  app.get('/healthz', { schema: { summary: 'Is it alive?', ...open, response: fine } }, (_, reply) =>
    reply.type('text/plain').send('ok\n'),
  )
  app.get('/readyz', { schema: { summary: 'May it be asked?', ...open, response: fine } }, (_, reply) => {
    if (!isOpen()) throw new Problem(503, 'the server is stopping: ask another, or later')
    return reply.type('text/plain').send('ready\n')
  })

  const figures = answersIn('In the text format of Prometheus.', { 'text/plain': text })
  app.get(
    '/metrics',
    { schema: { summary: 'Figures for Prometheus', response: { 200: figures, ...refusals } } },
    async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()),
  )

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
    () => app.swagger(),
  )

  app.get(
    '/v1/server',
    { schema: { summary: 'The server', response: { 200: answers('Server', 'What it is.'), ...refusals } } },
    () => ({
      version: info.version,
      startedAt: info.startedAt.toISOString(),
      sizeBytes: house.sizeBytes,
      connections: info.connections,
      report: hasReport(),
    }),
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
      live.checkRoom()
      reply.hijack()
      live.listen(reply.raw, SAFE_HEADERS)
    },
  )
}
