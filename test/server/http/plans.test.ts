// /v1/plan: what a sieve would take, exactly as it is then created, and what it refuses.
import { afterEach, expect, test } from 'vitest'
import type { FilterKind } from '../../../src/filters/filter.ts'
import { filters } from '../../../src/index.ts'
import { servedFilters } from '../../../src/server/sieve-spec.ts'
import { application, defects } from './served.ts'

const { app, registry } = await application()
afterEach(() => expect(defects).toEqual([]))

const post = async (payload: object) => {
  const answer = await app.inject({ method: 'POST', url: '/v1/plan', payload })
  return { status: answer.statusCode, body: answer.json() }
}

test.each(servedFilters)('%s: the plan of the command, and of the sieve that is created', async (filter) => {
  const spec = filter === 'window' ? { windowUrls: 1000 } : { expectedUrls: 1000, falsePositiveRate: 0.001 }
  const { status, body } = await post({ filter, ...spec })
  expect(status).toBe(200)
  const { noPromise, ...plan } = body.plan
  expect(plan).toEqual(JSON.parse(JSON.stringify(filters[filter].plan(spec))))
  expect(noPromise).toBe((filters[filter] as FilterKind).noPromise)
  expect(registry.get(filter)).toBeUndefined()
  const made = await app.inject({ method: 'PUT', url: `/v1/sieves/${filter}`, payload: { filter, ...spec } })
  expect(body.plan).toEqual(made.json().plan)
  expect(body.memoryBytes).toBeGreaterThan(body.plan.sizeBytes)
  await registry.drop(filter)
})

test('memory that is left is stated where there is a limit', async () => {
  const spec = { filter: 'blocked', expectedUrls: 1e6, falsePositiveRate: 1e-4 }
  const { body } = await post(spec)
  expect(body).not.toHaveProperty('availableBytes')
  Object.assign(registry, { limitBytes: 1e6 })
  expect((await post(spec)).body.availableBytes).toBe(1e6 - registry.sizeBytes)
})

test('invalid options are refused in one line; on Redis there is nothing to plan', async () => {
  expect(await post({ filter: 'classic' })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('fixed size') },
  })
  expect(await post({ filter: 'linear' })).toMatchObject({ status: 400 })
  expect((await post({ filter: 'classic', expectedUrls: null })).status).toBe(400)
  Object.assign(registry, { isShared: true })
  expect((await post({})).status).toBe(409)
})
