// /openapi.json: a whole OpenAPI 3.1 document of exactly the routes there are, made from the schemas that validate.
import { afterEach, expect, test } from 'vitest'
import { application, defects } from './served.ts'

const { app, registry } = await application()
afterEach(() => expect(defects).toEqual([]))

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape, looked at piece by piece
type Json = any

const document: Json = (await app.inject('/openapi.json')).json()

const ROUTES = [
  'GET /healthz',
  'GET /metrics',
  'GET /openapi.json',
  'GET /readyz',
  'POST /v1/explain',
  'GET /v1/filters',
  'GET /v1/hashes',
  'GET /v1/history',
  'GET /v1/live',
  'POST /v1/plan',
  'GET /v1/profiles',
  'GET /v1/server',
  'GET /v1/sieves',
  'DELETE /v1/sieves/{name}',
  'GET /v1/sieves/{name}',
  'PUT /v1/sieves/{name}',
  'POST /v1/sieves/{name}/add',
  'GET /v1/sieves/{name}/explain',
  'POST /v1/sieves/{name}/forget',
  'POST /v1/sieves/{name}/has',
  'GET /v1/sieves/{name}/history',
  'POST /v1/sieves/{name}/save',
  'GET /v1/sieves/{name}/shapes',
  'GET /v1/sieves/{name}/under',
]

const operations: [string, string, Json][] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item as Json).map(
    ([method, operation]) => [method.toUpperCase(), path, operation] as [string, string, Json],
  ),
)

/** Every object within, with its place. */
function* objects(value: Json, at = '#'): Generator<[string, Json]> {
  if (typeof value !== 'object' || value === null) return
  yield [at, value]
  for (const [key, part] of Object.entries(value)) yield* objects(part, `${at}/${key}`)
}

test('it is OpenAPI 3.1 with a title and a version', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'urlsieve', version: '1.2.3' } })
  expect(
    Object.keys(document).every((key) =>
      ['openapi', 'info', 'components', 'paths', 'security', 'servers', 'tags'].includes(key),
    ),
  ).toBe(true)
})

test('every route is there, and every one that is there is a route', async () => {
  expect(operations.map(([method, path]) => `${method} ${path}`).sort()).toEqual([...ROUTES].sort())
  for (const [method, path] of operations) {
    expect(app.hasRoute({ method: method as 'GET', url: path.replace('{name}', ':name') })).toBe(true)
  }
  const listed = app.printRoutes({ commonPrefix: false }).match(/\((?:GET|PUT|POST|DELETE)[^)]*\)/g)!
  const methods = listed.flatMap((group) => group.match(/GET|PUT|POST|DELETE/g)!)
  expect(methods.length).toBe(ROUTES.length)
})

test('every operation has a summary, its parameters, and answers that are described', () => {
  for (const [method, path, operation] of operations) {
    const where = `${method} ${path}`
    expect(operation.summary, where).toMatch(/\S/)
    const inPath = path.match(/\{(\w+)\}/g) ?? []
    const parameters = (operation.parameters ?? []).filter((parameter: Json) => parameter.in === 'path')
    expect(
      parameters.map((parameter: Json) => `{${parameter.name}}`),
      where,
    ).toEqual(inPath)
    for (const parameter of operation.parameters ?? []) {
      expect(['path', 'query', 'header'], where).toContain(parameter.in)
      if (parameter.in === 'path') expect(parameter.required).toBe(true)
      expect(parameter.schema, where).toBeTypeOf('object')
    }
    expect(operation.requestBody !== undefined, where).toBe(
      ['PUT', 'POST'].includes(method) && !path.endsWith('/save'),
    )
    const codes = Object.keys(operation.responses)
    expect(codes, where).toEqual(expect.arrayContaining(['4XX', '5XX']))
    expect(
      codes.some((code) => /^20[014]$/.test(code)),
      where,
    ).toBe(true)
    for (const [code, response] of Object.entries<Json>(operation.responses)) {
      expect(response.description, `${where} ${code}`).toMatch(/\S/)
      if (/^[45]/.test(code)) expect(Object.keys(response.content)).toEqual(['application/problem+json'])
    }
  }
})

test('every $ref is found, and every component is used', () => {
  const used = new Set<string>()
  for (const [at, object] of objects(document)) {
    if (typeof object.$ref !== 'string') continue
    const target = object.$ref
      .replace(/^#\//, '')
      .split('/')
      .reduce((value: Json, key: string) => value?.[key], document)
    expect(target, `${object.$ref} at ${at}`).toBeTypeOf('object')
    used.add(object.$ref.replace('#/components/schemas/', ''))
  }
  expect([...used].sort()).toEqual(Object.keys(document.components.schemas).sort())
})

test('schemas are JSON Schema as 3.1 has it: known types, required ones defined, nothing of 3.0', () => {
  const types = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']
  for (const [at, schema] of objects(document.components.schemas, '#/components/schemas')) {
    expect(schema, at).not.toHaveProperty('nullable')
    expect(schema, at).not.toHaveProperty('$id')
    if (typeof schema.type === 'string' || Array.isArray(schema.type)) {
      for (const type of [schema.type].flat()) expect(types, at).toContain(type)
    }
    if (Array.isArray(schema.required))
      expect(Object.keys(schema.properties), at).toEqual(expect.arrayContaining(schema.required))
    if (schema.type === 'array') expect(schema.items, at).toBeTypeOf('object')
  }
})

test('lines and lists are both described', () => {
  const { requestBody, responses } = document.paths['/v1/sieves/{name}/add'].post
  expect(requestBody.content).toMatchObject({
    'application/json': { schema: { $ref: '#/components/schemas/Urls' } },
    'text/plain': { schema: { type: 'string' } },
  })
  expect(Object.keys(responses[200].content)).toEqual([
    'application/json',
    'text/plain',
    'application/x-ndjson',
  ])
})

test('what the document allows is what is taken: its enums and bounds are those of the answers', async () => {
  const { properties } = document.components.schemas.SieveSpec
  for (const filter of properties.filter.enum) {
    const payload = {
      filter,
      ...(!['fingerprint', 'window', 'scalable'].includes(filter) && { expectedUrls: 100 }),
      ...(filter === 'window' && { window: { windowUrls: 100 } }),
    }
    const made = await app.inject({ method: 'PUT', url: `/v1/sieves/${filter}`, payload })
    expect([filter, made.statusCode]).toEqual([filter, 201])
  }
  expect(registry.list().length).toBe(properties.filter.enum.length)
})

test('the password is in the document where there is one', async () => {
  const { app: locked } = await application({ password: 'x' })
  const { security, paths } = (
    await locked.inject({ url: '/openapi.json', headers: { authorization: 'Bearer x' } })
  ).json()
  expect(security).toEqual([{ bearer: [] }, { basic: [] }])
  expect(paths['/healthz'].get.security).toEqual([])
  expect(document).not.toHaveProperty('security')
})
