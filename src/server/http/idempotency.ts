// The header Idempotency-Key: a request that changes a sieve and is sent again with the same key gets the first answer.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { digestOf, type RepeatedCalls } from '../repeated-calls.ts'
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

  app.addHook('preHandler', async (request, reply) => {
    const key = keyOf(request)
    if (key === undefined) return
    if (typeof request.body === 'string') {
      throw new Problem(
        400,
        'Idempotency-Key with lines: expected {"urls": […]} as JSON, whose answer is kept',
      )
    }
    const { method, url, headers, items, body } = request
    // Per credential: nobody gets the answer of another one by guessing a key.
    const name = `http ${await digestOf(Buffer.from(headers.authorization ?? ''))} ${key}`
    const digest = await digestOf(Buffer.from(`${method} ${url}`), Buffer.from(request.digest))
    const urls = items?.starts.length ?? (body as { urls?: string[] } | null)?.urls?.length ?? 0
    const begun = await calls.begin(name, digest, urls * URL_BYTES + ANSWER_BYTES)
    if (begun === 'new') {
      request.call = name
    } else if (begun === 'other') {
      throw new Problem(
        422,
        'this Idempotency-Key was used for another request within the last minute: use a new one',
      )
    } else if (begun === 'full') {
      const detail = `the answers of the last minute take ${calls.mostBytes} bytes (--max-kept-answers): try again`
      throw new Problem(503, detail, { headers: { 'retry-after': '1' } })
    } else {
      const { status, type, body: answer } = begun.answer as Answer
      reply.code(status).header('idempotency-replayed', 'true')
      if (type !== '') reply.type(type)
      return reply.send(typeof answer === 'string' ? answer : Buffer.from(answer.buffer))
    }
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const { call } = request
    if (call === null) return
    request.call = null
    const { statusCode: status } = reply
    // In memory of its own: a part of a larger buffer would keep all of it.
    const body = payload instanceof Uint8Array ? new Uint8Array(payload) : String(payload ?? '')
    const answer: Answer = { status, type: String(reply.getHeader('content-type') ?? ''), body }
    const isKept = status < 400 || request.isPartlyDone
    calls.end(call, isKept ? { answer, bytes: Buffer.byteLength(body) } : null)
  })
}

/** Notes whether an error came after a part of its request was done. */
export function notePart(reply: FastifyReply, { more }: Problem): void {
  reply.request.isPartlyDone = 'verdicts' in more || 'forgotten' in more
}
