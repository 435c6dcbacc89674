// The filters, profiles and hashes that the server offers, for forms; and the key of a URL without a sieve.
import type { FastifyInstance } from 'fastify'
import { explainKey } from '../../canonical/explain.ts'
import type { FilterKind } from '../../filters/filter.ts'
import { filters, hashDescriptions, type ProfileName, profiles } from '../../index.ts'
import type { SieveRegistry } from '../registry.ts'
import { checkExplained } from '../url-limits.ts'
import { answers, keyQuestion, refusals } from './schemas.ts'

const known = (registry: SieveRegistry) => ({
  filters: registry.filters.map((name) => {
    const { does, source, errs, can, isResearch = false }: FilterKind = filters[name]
    return { name, does, source, errs, isResearch, can }
  }),
  profiles: Object.values(profiles).map(({ name, does, rules }) => ({
    name,
    does,
    rules: rules.map((rule) => ({ name: rule.name, does: rule.does, lossy: rule.lossy })),
  })),
  hashes: Object.entries(hashDescriptions).map(([name, does]) => ({ name, does })),
})

export function catalog(app: FastifyInstance, registry: SieveRegistry): void {
  const lists = known(registry)
  const list = (name: keyof typeof lists, component: string, summary: string) => {
    const schema = { summary, response: { 200: answers(component, 'All of them.'), ...refusals } }
    app.get(`/v1/${name}`, { schema }, () => ({ [name]: lists[name] }))
  }
  list('filters', 'Filters', 'The filters, what each is for and which way it errs')
  list('profiles', 'Profiles', 'The profiles and their rules')
  list('hashes', 'Hashes', 'The hash functions')

  const schema = {
    summary: 'The key of a URL and how it is derived, without a sieve',
    body: keyQuestion,
    response: { 200: answers('Key', 'The key, and what each rule did.'), ...refusals },
  }
  app.post<{ Body: { url: string; profile: ProfileName } }>('/v1/explain', { schema }, ({ body }) => {
    checkExplained(body.url)
    return { url: body.url, ...explainKey(profiles[body.profile], body.url) }
  })
}
