// POST /v1/plan: the memory and rate of a sieve with some options, by the plan that creating it would follow. Creates nothing.
import type { FastifyInstance } from 'fastify'
import { filterKind } from '../../filters/registry.ts'
import { planSieve } from '../../sieve-options.ts'
import type { SieveRegistry, SieveSpec } from '../registry.ts'
import { optionsOf, plannedBytes } from '../sieve-spec.ts'
import { Problem } from './problems.ts'
import { answers, ref, refusals } from './schemas.ts'

export function plans(app: FastifyInstance, registry: SieveRegistry): void {
  const schema = {
    summary: 'The memory and rate of a sieve with these options; creates nothing',
    body: ref('SieveSpec'),
    response: { 200: answers('SievePlan', 'As it would be created.'), ...refusals },
  }
  app.post<{ Body: SieveSpec }>('/v1/plan', { schema }, ({ body }) => {
    if (registry.isShared) throw new Problem(409, 'sieves on Redis grow as needed: there is no size to plan')
    const options = optionsOf(body)
    const plan = planSieve(filterKind(options.filter ?? 'fingerprint'), options)
    const { sizeBytes, limitBytes } = registry
    return {
      plan,
      memoryBytes: plannedBytes(options),
      ...(limitBytes !== undefined && { availableBytes: Math.max(0, limitBytes - sizeBytes) }),
    }
  })
}
