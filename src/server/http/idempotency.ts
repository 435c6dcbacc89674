// The header Idempotency-Key: a request that changes a sieve and is sent again with the same key gets the first answer.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { digestOf, type Kept, type RepeatedCalls } from '../repeated-calls.ts'
import { Problem } from './problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a body that came with a key. */
    digest: string
    /** The call to which the answer of this request belongs. */
    call: string | null
    /** An error came after a part was done: its answer is kept. */
    isPartlyDone: boolean
  }
  interface FastifyContextConfig {
    isRepeatable?: boolean
  }
}

const HEADER = 'idempotency-key'
/** Memory of an answer: of one URL, and of the rest. */
const URL_BYTES = 8
const ANSWER_BYTES = 2048
const MOST_LETTERS = 255

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string | Uint8Array<ArrayBuffer>
}

function keyOf({ headers, routeOptions }: FastifyRequest): string | undefined {
  const key = headers[HEADER] as string | undefined
  if (key === undefined || !routeOptions.config.isRepeatable) return undefined
  if (key.length > 0 && key.length <= MOST_LETTERS) return key
  throw new Problem(400, `an Idempotency-Key of ${key.length} characters: expected 1 to ${MOST_LETTERS}`)
}

/** Digests the body of a request that has a key. */
export async function digestBody(request: FastifyRequest, body: Uint8Array): Promise<void> {
  if (keyOf(request) !== undefined) request.digest = await digestOf(body)
}

export function repeatable(app: FastifyInstance, calls: RepeatedCalls): void {
  app.decorateRequest('digest', '')
  app.decorateRequest('call', null)
  app.decorateRequest('isPartlyDone', false)

  // At once for what has no key: a pipeline of requests must not run ahead of its answers.
  app.addHook('preHandler', (request, reply, done) => {
    if (request.headers[HEADER] === undefined) done()
    else begin(calls, request, reply).then((isAnswered) => isAnswered || done(), done)
  })

  app.addHook('onSend', (request, reply, payload, done) => {
    const { call } = request
    request.call = null
    if (call !== null) calls.end(call, keptOf(request, reply, payload))
    done(null, payload)
  })
}

// True: the answer was kept, and is sent.
async function begin(calls: RepeatedCalls, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const key = keyOf(request)
  if (key === undefined) return false
  if (typeof request.body === 'string') {
    throw new Problem(400, 'Idempotency-Key with lines: expected {"urls": […]} as JSON, whose answer is kept')
  }
  const { method, url, headers, items, body } = request
  // Per credential: nobody gets the answer of another one by guessing a key.
  const name = `http ${await digestOf(Buffer.from(headers.authorization ?? ''))} ${key}`
  const digest = await digestOf(Buffer.from(`${method} ${url}`), Buffer.from(request.digest))
  const urls = items?.starts.length ?? (body as { urls?: string[] } | null)?.urls?.length ?? 0
  const begun = await calls.begin(name, digest, urls * URL_BYTES + ANSWER_BYTES)
  if (begun === 'new') {
    request.call = name
    return false
  }
  if (begun === 'other') {
    throw new Problem(
      422,
      'this Idempotency-Key was used for another request within the last minute: use a new one',
    )
  }
  if (begun === 'full') {
    const detail = `the answers of the last minute take ${calls.mostBytes} bytes (--max-kept-answers): try again`
    throw new Problem(503, detail, { headers: { 'retry-after': '1' } })
  }
  const { status, type, body: answer } = begun.answer as Answer
  reply.code(status).header('idempotency-replayed', 'true')
  if (type !== '') reply.type(type)
  reply.send(typeof answer === 'string' ? answer : Buffer.from(answer.buffer))
  return true
}

// Null: nothing was changed.
function keptOf(request: FastifyRequest, reply: FastifyReply, payload: unknown): Kept | null {
  const { statusCode: status } = reply
  if (status >= 400 && !request.isPartlyDone) return null
  // In memory of its own: a part of a larger buffer would keep all of it.
  const body = payload instanceof Uint8Array ? new Uint8Array(payload) : String(payload ?? '')
  const answer: Answer = { status, type: String(reply.getHeader('content-type') ?? ''), body }
  return { answer, bytes: Buffer.byteLength(body) }
}

/** Notes whether an error came after a part of its request was done. */
export function notePart(reply: FastifyReply, { more }: Problem): void {
  reply.request.isPartlyDone = 'verdicts' in more || 'forgotten' in more
}
