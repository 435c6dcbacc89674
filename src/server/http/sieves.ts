// The sieves of a server over HTTP: list, create, show, drop; explain, under, forget, save. An add does not create a sieve:
// with a mistyped name every URL would be new.
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { filterKind } from '../../filters/registry.ts'
import { chooseHash } from '../../hashes.ts'
import { filters, SieveError } from '../../index.ts'
import { planSieve } from '../../sieve-options.ts'
import { expiryDate } from '../expiry.ts'
import { asideOf } from '../faults.ts'
import type { ServerHistory, Span } from '../history.ts'
import { forEachSieve } from '../parts.ts'
import type { ServedSieve, SieveRegistry, SieveSpec } from '../registry.ts'
import { limitsOf, optionsOf, servedFilters } from '../sieve-spec.ts'
import { checkExplained, checkUrlBytes } from '../url-limits.ts'
import { Problem, problemOf } from './problems.ts'
import {
  answers,
  folderInQuery,
  nameInPath,
  ref,
  refusals,
  repeatableRequest,
  spanInQuery,
  urlInQuery,
} from './schemas.ts'
import type { UrlLists } from './url-list.ts'

interface Named {
  Params: { name: string }
}

/** The sieve of that name; throws a Problem when there is none. */
export function requireSieve(registry: SieveRegistry, name: string): ServedSieve {
  const sieve = registry.get(name)
  if (sieve) return sieve
  const aside = asideOf(registry.faults, name)
  if (aside) throw new Problem(503, aside)
  throw new Problem(404, `no sieve '${name}': create it with PUT /v1/sieves/${encodeURIComponent(name)}`)
}

async function describe(sieve: ServedSieve): Promise<object> {
  const { name, kind, createdAt, expiresAt, meters, plan, bloom, limits } = sieve
  return {
    name,
    kind,
    createdAt: createdAt.toISOString(),
    ...(expiresAt !== undefined && { expiresAt: expiryDate(expiresAt).toISOString() }),
    can: { forget: sieve.forget !== undefined, under: sieve.under !== undefined },
    meters,
    stats: await sieve.stats(),
    ...(plan && { plan }),
    ...(bloom && { bloom }),
    ...(limits && { limits }),
  }
}

/** Whether a sieve was created with equivalent options. */
async function isLike(sieve: ServedSieve, spec: SieveSpec): Promise<boolean> {
  const options = optionsOf(spec)
  const { profile, hash } = await sieve.stats()
  return (
    sieve.kind === 'sieve' &&
    profile === (spec.profile ?? 'web') &&
    hash === chooseHash(spec.hash).names.join(',') &&
    isDeepStrictEqual(sieve.limits ?? null, limitsOf(spec)) &&
    isDeepStrictEqual(sieve.plan, planSieve(filterKind(options.filter ?? 'fingerprint'), options))
  )
}

const FORGETTING = servedFilters.filter((name) => filters[name].can.delete).join(', ')
const ANSWERING = servedFilters.filter((name) => filters[name].can.under).join(', ')

async function cannot(sieve: ServedSieve, what: string, filterNames: string): Promise<Problem> {
  const { filter } = await sieve.stats()
  const detail = `'${sieve.name}' has the filter ${filter}, which cannot ${what}: expected ${filterNames}`
  return new Problem(409, detail)
}

export function sieves(
  app: FastifyInstance,
  registry: SieveRegistry,
  lists: UrlLists,
  history: ServerHistory,
): void {
  const one = answers('Sieve', 'The sieve.')
  const named = { params: nameInPath }
  const changing = { ...named, ...repeatableRequest }
  const config = { isRepeatable: true }

  app.get(
    '/v1/sieves',
    { schema: { summary: 'All sieves', response: { 200: answers('Sieves', 'All of them.'), ...refusals } } },
    async () => ({ sieves: await forEachSieve(registry, describe) }),
  )

  app.get<Named>(
    '/v1/sieves/:name',
    { schema: { summary: 'A sieve: plan, stats and counts', ...named, response: { 200: one, ...refusals } } },
    ({ params }) => describe(requireSieve(registry, params.name)),
  )

  app.put<Named & { Body: SieveSpec }>(
    '/v1/sieves/:name',
    {
      // Without a body: the defaults.
      preValidation: async (request) => {
        request.body ??= {}
      },
      config,
      schema: {
        summary: 'Creates a sieve',
        ...changing,
        body: ref('SieveSpec'),
        response: {
          200: answers('Sieve', 'It exists, created with the same options.'),
          201: answers('Sieve', 'It was created.'),
          ...refusals,
        },
      },
    },
    async ({ params: { name }, body }, reply) => {
      const conflict = () =>
        new Problem(409, `'${name}' exists with other options: drop it first, or choose another name`)
      const aside = asideOf(registry.faults, name)
      if (aside !== undefined) throw new Problem(409, aside)
      const before = registry.get(name)
      if (before) {
        if (!(await isLike(before, body))) throw conflict()
        return describe(before)
      }
      try {
        const made = await registry.create(name, body)
        return reply.code(201).send(await describe(made))
      } catch (error) {
        const other = registry.get(name)
        if (!(error instanceof SieveError) || error.code !== 'option' || !other) throw error
        // Another request created it first.
        if (!(await isLike(other, body))) throw conflict()
        return describe(other)
      }
    },
  )

  app.delete<Named>(
    '/v1/sieves/:name',
    {
      config,
      schema: {
        summary: 'Drops a sieve and everything it remembers',
        ...changing,
        response: { 204: { description: 'It was dropped.', type: 'null' }, ...refusals },
      },
    },
    async ({ params: { name } }, reply) => {
      if (!(await registry.drop(name))) requireSieve(registry, name)
      return reply.code(204).send()
    },
  )

  app.get<Named & { Querystring: { url: string } }>(
    '/v1/sieves/:name/explain',
    {
      schema: {
        summary: 'The key of a URL, how it is derived, and the verdict an add would get',
        ...named,
        querystring: urlInQuery,
        response: { 200: answers('Explanation', 'Marks nothing.'), ...refusals },
      },
    },
    ({ params, query: { url } }) => {
      checkExplained(url)
      return requireSieve(registry, params.name).explain(url)
    },
  )

  app.get<Named & { Querystring: { folder: string } }>(
    '/v1/sieves/:name/under',
    {
      schema: {
        summary: 'Whether anything was seen under a host or folder',
        ...named,
        querystring: folderInQuery,
        response: { 200: answers('Under', 'Errs towards true.'), ...refusals },
      },
    },
    async ({ params, query: { folder } }) => {
      checkUrlBytes(Buffer.byteLength(folder))
      const sieve = requireSieve(registry, params.name)
      if (!sieve.under) throw await cannot(sieve, 'answer what is under a folder', ANSWERING)
      return { folder, seen: await sieve.under(folder) }
    },
  )

  app.get<Named & { Querystring: { span: Span } }>(
    '/v1/sieves/:name/history',
    {
      schema: {
        summary: 'Adds, queries, memory and expected rate of a sieve over the last hour or day',
        ...named,
        querystring: spanInQuery,
        response: { 200: answers('SieveHistory', 'Oldest first.'), ...refusals },
      },
    },
    ({ params, query }) => history.read(query.span, requireSieve(registry, params.name)),
  )

  app.get<Named>(
    '/v1/sieves/:name/shapes',
    {
      schema: {
        summary: 'The shapes of a sample of the URLs that were added to a sieve in the last minutes',
        ...named,
        response: { 200: answers('SieveShapes', 'The most frequent first.'), ...refusals },
      },
    },
    ({ params }) => {
      const sieve = requireSieve(registry, params.name)
      const off = 'shapes of recent URLs are not collected: start the server with --shapes'
      if (!registry.shapes) throw new Problem(409, off)
      const found = registry.shapes.report(sieve)
      return found ? { ...found, since: found.since.toISOString() } : { urls: 0, invalid: 0, list: [] }
    },
  )

  app.post<Named & { Body: { urls: string[] } }>(
    '/v1/sieves/:name/forget',
    {
      config,
      schema: {
        summary: 'Forgets URLs',
        ...changing,
        body: ref('Urls'),
        response: { 200: answers('Forgotten', 'Whether each was remembered.'), ...refusals },
      },
    },
    async ({ params, body: { urls } }) => {
      lists.check(urls)
      const sieve = requireSieve(registry, params.name)
      if (!sieve.forget) throw await cannot(sieve, 'forget', FORGETTING)
      const toBooleans = (answers: Uint8Array) => Array.from(answers, (was) => was === 1)
      try {
        const forgotten = toBooleans(await sieve.forget(urls))
        return { forgotten, count: forgotten.filter(Boolean).length }
      } catch (error) {
        const { answered } = error as { answered?: Uint8Array }
        const problem = problemOf(error)
        if (!answered || !problem) throw error
        const { code } = problem.more
        throw new Problem(problem.status, problem.message, {
          more: { code, forgotten: toBooleans(answered) },
        })
      }
    },
  )

  app.post<Named>(
    '/v1/sieves/:name/save',
    {
      config,
      schema: {
        summary: 'Writes a sieve to disk; does nothing for one in memory',
        ...changing,
        response: { 200: one, ...refusals },
      },
    },
    async ({ params }) => {
      const sieve = requireSieve(registry, params.name)
      await sieve.save()
      return describe(sieve)
    },
  )
}
