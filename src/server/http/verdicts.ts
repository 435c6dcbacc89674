// add and has: a list of URLs as JSON, or lines as text, streamed in both directions. A batch is one call of the sieve. URLs
// stay marked when the answer is lost: a second request gets "seen".
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Items, SieveError } from '../../index.ts'
import { countAdds } from '../meters.ts'
import type { ServedSieve, SieveRegistry } from '../registry.ts'
import type { HttpOptions } from './app.ts'
import { type LineAnswer, LineExchange } from './lines.ts'
import { SAFE_HEADERS } from './pages.ts'
import { Problem, problemOf } from './problems.ts'
import { answersIn, keepInQuery, nameInPath, ref, refusals, repeatableRequest, text } from './schemas.ts'
import { requireSieve } from './sieves.ts'
import type { UrlLists } from './url-list.ts'

interface Question {
  Params: { name: string }
  Querystring: { keep: 'new' | 'seen' }
  Body: { urls: string[] } | string | undefined
}

/** Returns verdicts (1 new, 0 seen) and updates the sieve's counts. */
type Ask = (sieve: ServedSieve, items: Items) => Promise<Uint8Array>

const add: Ask = async (sieve, items) => {
  try {
    const verdicts = await sieve.add({ ...items, isKept: true })
    countAdds(sieve.meters, verdicts)
    return verdicts
  } catch (error) {
    if (error instanceof SieveError && error.answered) countAdds(sieve.meters, error.answered)
    throw error
  }
}

const has: Ask = async (sieve, items) => {
  const isSeen = await sieve.has({ ...items, isKept: true })
  sieve.meters.asks += isSeen.length
  return isSeen.map((seen) => 1 - seen)
}

const WORDS = [Buffer.from('"seen",'), Buffer.from('"new",')] as const
const LONGEST = WORDS[0].length
const FRAME_BYTES = 80

/** The JSON answer, written as bytes: faster than JSON.stringify for a long list. */
function encodeVerdicts(verdicts: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(verdicts.length * LONGEST + FRAME_BYTES)
  let fresh = 0
  let at = out.write('{"verdicts":[', 'latin1')
  for (let i = 0; i < verdicts.length; i++) {
    const verdict = verdicts[i]! as 0 | 1
    fresh += verdict
    const word = WORDS[verdict]
    for (let j = 0; j < word.length; j++) out[at++] = word[j]!
  }
  if (verdicts.length > 0) at-- // the last comma
  at += out.write(`],"new":${fresh},"seen":${verdicts.length - fresh}}`, at, 'latin1')
  return out.subarray(0, at)
}

/** A stream of lines may outlast its sieve: a new one of the same name has not seen the first lines. */
const dropped = (name: string) =>
  new Problem(410, `the sieve '${name}' was dropped during the request: send all lines again`)

/** The form of the answer to lines, by the Accept header. */
function answerFor({ headers, query }: FastifyRequest<Question>): LineAnswer {
  const accept = headers.accept ?? '*/*'
  if (/application\/x-ndjson/i.test(accept)) return { as: 'ndjson' }
  if (/application\/json/i.test(accept)) return { as: 'counts' }
  if (/text\/(plain|\*)|\*\/\*/i.test(accept)) return { as: 'text', keep: query.keep }
  throw new Problem(406, `Accept '${accept}': expected text/plain, application/x-ndjson or application/json`)
}

export function verdicts(
  app: FastifyInstance,
  registry: SieveRegistry,
  { limits, onDefect, server }: Pick<HttpOptions, 'limits' | 'onDefect' | 'server'>,
  lists: UrlLists,
): void {
  const route = (verb: string, ask: Ask, summary: string, isRepeatable = false) => {
    const schema = {
      summary,
      params: nameInPath,
      querystring: keepInQuery,
      ...(isRepeatable && repeatableRequest),
      body: { content: { 'application/json': { schema: ref('Urls') }, 'text/plain': { schema: text } } },
      response: {
        200: answersIn('One verdict per URL, in order; for lines, the lines kept.', {
          'application/json': { anyOf: [ref('Verdicts'), ref('Counts')] },
          'text/plain': text,
          'application/x-ndjson': ref('LineVerdict'),
        }),
        ...refusals,
      },
    }
    app.post<Question>(
      `/v1/sieves/:name/${verb}`,
      { schema, config: { takesItems: true, isRepeatable } },
      async (request, reply) => {
        const sieve = requireSieve(registry, request.params.name)
        if (typeof request.body === 'string') return exchange(request, reply, sieve, ask)
        // Without a content type there is no body to validate.
        if (!request.body)
          throw new Problem(400, 'no body: expected {"urls": […]} as JSON, or lines as text/plain')
        const items = request.items ?? lists.encode(request.body.urls)
        return reply.type('application/json').send(encodeVerdicts(await ask(sieve, items)))
      },
    )
  }

  const exchange = async (
    request: FastifyRequest<Question>,
    reply: FastifyReply,
    sieve: ServedSieve,
    ask: Ask,
  ) => {
    const answer = answerFor(request)
    const retract = (items: Items) => sieve.remove!({ ...items, isKept: true })
    const lines = new LineExchange(
      request.raw,
      reply.raw,
      limits,
      answer,
      SAFE_HEADERS,
      server.unread,
      ask === add && sieve.remove ? retract : undefined,
    )
    const late = await lines.run((items) => {
      if (registry.get(sieve.name) !== sieve) throw dropped(sieve.name)
      return ask(sieve, items)
    })
    if (late !== null && !problemOf(late)) onDefect?.(late)
    return reply.hijack()
  }

  route('add', add, 'Marks URLs: which are new?', true)
  route('has', has, 'Queries URLs and marks nothing: which are new?')
}
