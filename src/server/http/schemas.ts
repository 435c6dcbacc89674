// The schemas of the API: they validate what comes, write what goes, and are /openapi.json.
import { profiles } from '../../canonical/profiles.ts'
import { limitOptions } from '../../options/limit-options.ts'
import type { SieveOption } from '../../options/option.ts'
import { filterOptions, sharedNames } from '../../sieve-options.ts'
import { faultKinds } from '../faults.ts'
import { serverHistoryNames, sieveHistoryNames, spans } from '../history.ts'
import { loadNames } from '../load-values.ts'
import { servedFilters } from '../sieve-spec.ts'
import { PROBLEM_TYPE } from './problems.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const number = { type: 'number' } as const
const count = { type: 'integer', minimum: 0 } as const
const maybe = { type: ['number', 'null'] } as const
const listOf = (items: object) => ({ type: 'array', items })
const ref = (name: string) => ({ $ref: `${name}#` })
const described = (schema: object, description: string) => ({ ...schema, description })

/** An object with these properties; those named in `optional` may be absent. */
function object(properties: Record<string, object>, optional: readonly string[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, required }
}

/** The same for what comes in: nothing else is allowed. */
const exactly = (properties: Record<string, object>, optional: readonly string[] = []) => ({
  ...object(properties, optional),
  additionalProperties: false,
})

const free = { type: 'object', additionalProperties: true } as const

/** The schema of each option of a sieve, by its name; one whose values depend on the filter takes those of all. */
function optionSchemas(options: readonly SieveOption[]): Record<string, object> {
  const schemas: Record<string, object> = {}
  for (const { name, kind, does } of options) {
    const before = schemas[name] as { enum?: readonly string[] } | undefined
    const { enum: names } = kind.schema as { enum?: readonly string[] }
    const all = names && { enum: [...new Set([...(before?.enum ?? []), ...names])] }
    schemas[name] ??= {}
    Object.assign(schemas[name], described(all ?? before ?? kind.schema, `${does}.`))
  }
  return schemas
}

const { windowUrls, windowMs, generations, ...otherSchemas } = optionSchemas(filterOptions)
const inWindow = { windowUrls: windowUrls!, windowMs: windowMs!, generations: generations! }
const specProperties = {
  ...optionSchemas(sharedNames),
  filter: described({ enum: servedFilters }, 'What remembers the keys; default fingerprint.'),
  ...otherSchemas,
  ...inWindow,
  ...optionSchemas(limitOptions),
  window: described(
    exactly(inWindow, Object.keys(inWindow)),
    'The options of the filter window, as earlier versions nest them.',
  ),
}

const spec = exactly(specProperties, Object.keys(specProperties))

const stats = object(
  {
    filter: text,
    profile: text,
    hash: text,
    urls: described(count, 'Distinct URLs marked; of a window, those it remembers.'),
    urlsEstimated: described(flag, 'After a merge of filters of bits: urls is an estimate.'),
    seen: count,
    invalid: described(count, 'Lines that are not URLs; compared unchanged.'),
    sizeBytes: count,
    bitsPerUrl: maybe,
    fill: number,
    expectedRate: described(
      maybe,
      'The chance that a new URL is answered "seen" now; null: it cannot be known.',
    ),
    promisedRate: maybe,
    noPromise: described(text, 'Why no rate is promised; absent where one is.'),
    pastCapacity: described(
      flag,
      'It holds more URLs than it was planned for: the promised rate no longer holds.',
    ),
    layers: listOf(object({ name: text, fill: number, distinct: number })),
    rates: { type: 'object', additionalProperties: number },
    store: object({
      path: text,
      durability: text,
      logBytes: count,
      snapshotBytes: count,
      snapshotting: flag,
      keepKeys: flag,
    }),
    dropped: described(
      { type: 'object', additionalProperties: count },
      'New URLs that limits by shape dropped, by limit; since the server started.',
    ),
  },
  ['urlsEstimated', 'noPromise', 'layers', 'rates', 'store', 'dropped'],
)

const meters = object({ adds: count, fresh: count, seen: count, asks: count })

const sieve = object(
  {
    name: text,
    kind: described(
      { enum: ['sieve', 'bloom', 'set'] },
      'bloom: made by BF.*, set: by SADD; items untouched.',
    ),
    createdAt: { type: 'string', format: 'date-time' },
    expiresAt: described({ type: 'string', format: 'date-time' }, 'When it will be dropped (EXPIRE).'),
    can: object({ forget: flag, under: flag }),
    meters: described(ref('Meters'), 'Counts since the server started.'),
    stats: ref('Stats'),
    plan: described(free, 'Its planned size and promised rate.'),
    bloom: object({ capacity: count, errorRate: number, expansion: count }),
    limits: described(free, 'Its limits by shape.'),
  },
  ['expiresAt', 'plan', 'bloom', 'limits'],
)

const step = object({ rule: text, does: text, before: text, after: text, changed: flag, notes: listOf(text) })
const key = { url: text, key: text, isUrl: flag, steps: listOf(step) }
const verdict = described({ enum: ['new', 'seen'] }, 'A false "seen" is possible at the filter’s rate.')

const explanation = object(
  {
    ...key,
    verdict,
    layers: described(
      listOf(object({ name: text, of: text, verdict })),
      'Of multilayer and prefix-layers: the verdict of each layer for its part of the key.',
    ),
    decidedBy: described(text, 'The layer that made the verdict.'),
    drop: described(
      { type: ['object', 'null'], properties: { limit: text, reason: text, shape: text } },
      'Of a sieve with limits by shape: why a limit would drop it now.',
    ),
  },
  ['layers', 'decidedBy', 'drop'],
)

const fault = object(
  {
    kind: described({ enum: Object.keys(faultKinds) }, 'set-aside and past-capacity leave the server ready.'),
    sieve: described(text, 'The sieve it is about; absent when it is about all.'),
    message: text,
    since: { type: 'string', format: 'date-time' },
  },
  ['sieve'],
)

const connections = object({ resp: count, http: count })

const eachOf = (names: readonly string[], schema: object) =>
  object(Object.fromEntries(names.map((name) => [name, schema])))

const span = { enum: spans } as const

/** The course of some values over a span of time. */
const course = (names: readonly string[]) =>
  object({
    span,
    stepSeconds: number,
    times: described(listOf(number), 'Of the samples, in seconds since 1970.'),
    values: described(
      eachOf(names, listOf(maybe)),
      'One value per sample. Rates and percentiles are those of the step that ends with the sample, in seconds; null: nothing was measured.',
    ),
  })

const capacity = {
  sizeBytes: described(count, 'Of all sieves.'),
  limitBytes: described(count, 'The most that all sieves may take.'),
  storage: described(
    object(
      {
        kind: { enum: ['memory', 'folder', 'redis'] },
        place: described(text, 'The folder, or host and port of Redis.'),
        freeBytes: count,
        totalBytes: count,
      },
      ['place', 'freeBytes', 'totalBytes'],
    ),
    'Where the sieves are stored; in memory they are lost when the server stops.',
  ),
  hasShapes: described(flag, 'Shapes of recent URLs are collected (--shapes).'),
}
const mayLack = ['limitBytes', 'storage', 'hasShapes'] as const

const live = object(
  {
    at: { type: 'string', format: 'date-time' },
    uptimeSeconds: number,
    ...capacity,
    connections,
    load: described(eachOf(loadNames, maybe), 'Since the last event; percentiles are in seconds.'),
    faults: listOf(ref('Fault')),
    sieves: listOf(
      object(
        {
          name: text,
          kind: text,
          filter: text,
          profile: text,
          adds: count,
          fresh: count,
          seen: count,
          asks: count,
          urls: count,
          sizeBytes: count,
          fill: number,
          expectedRate: maybe,
          promisedRate: maybe,
          pastCapacity: flag,
          diskBytes: described(count, 'Of a stored sieve: log and snapshot.'),
          isSnapshotting: described(flag, 'Of a stored sieve: a snapshot is being written.'),
        },
        ['diskBytes', 'isSnapshotting'],
      ),
    ),
  },
  mayLack,
)

const counted = { count, share: number, error: described(count, 'The count is low by at most this.') }

const shapes = object(
  {
    since: described({ type: 'string', format: 'date-time' }, 'Absent: no URL was added yet.'),
    urls: described(count, 'URLs in the sample.'),
    invalid: described(count, 'Items that are not absolute URLs with a host.'),
    list: described(
      listOf(
        object({
          host: text,
          ...counted,
          shapes: listOf(
            object({
              shape: text,
              ...counted,
              distinct: maybe,
              examples: listOf(text),
              traps: listOf(object({ kind: text, reason: text })),
            }),
          ),
          others: described(count, 'URLs of other shapes.'),
        }),
      ),
      'The most frequent hosts, and the most frequent shapes of each.',
    ),
  },
  ['since'],
)

const problem = described(
  {
    ...object({ type: text, title: text, status: { type: 'integer' }, detail: text }),
    additionalProperties: true,
  },
  'RFC 9457: the detail is one line with what was got, what was expected and what to do.',
)

/** By name, as they stand in the document's components. */
export const components: Readonly<Record<string, object>> = {
  SieveSpec: spec,
  Stats: stats,
  Meters: meters,
  Fault: fault,
  Sieve: sieve,
  SievePlan: object(
    {
      plan: described(free, 'Its planned size and promised rate.'),
      memoryBytes: described(count, 'All memory of the sieve, with what it takes besides its filter.'),
      availableBytes: described(count, 'Memory that is left for sieves.'),
    },
    ['availableBytes'],
  ),
  Sieves: object({ sieves: listOf(ref('Sieve')) }),
  Urls: exactly({ urls: described(listOf(text), 'As many and as long as the server’s limits allow.') }),
  Verdicts: object({
    verdicts: described(listOf(verdict), 'One for each URL, in order.'),
    new: count,
    seen: count,
  }),
  Counts: object({ lines: count, new: count, seen: count }),
  LineVerdict: object({ url: text, verdict }),
  Explanation: explanation,
  Key: object(key),
  Under: object({ folder: text, seen: described(flag, 'False is certain; true errs at the filter’s rate.') }),
  Forgotten: object({ forgotten: described(listOf(flag), 'Whether each was remembered.'), count }),
  Filters: object({
    filters: listOf(
      object({
        name: text,
        does: text,
        source: text,
        errs: text,
        isResearch: described(flag, 'A paper’s filter as published, for comparison with the others.'),
        can: object({ delete: flag, grow: flag, under: flag }),
      }),
    ),
  }),
  Profiles: object({
    profiles: listOf(
      object({ name: text, does: text, rules: listOf(object({ name: text, does: text, lossy: flag })) }),
    ),
  }),
  Hashes: object({ hashes: listOf(object({ name: text, does: text })) }),
  Server: object(
    {
      version: text,
      startedAt: { type: 'string', format: 'date-time' },
      ...capacity,
      connections,
      faults: described(listOf(ref('Fault')), 'What is wrong now.'),
      report: described(flag, 'Whether there is a report of the lab at /report/.'),
    },
    mayLack,
  ),
  Live: live,
  ServerHistory: course(serverHistoryNames),
  SieveHistory: course(sieveHistoryNames),
  SieveShapes: shapes,
  Problem: problem,
}

/** A response of a component, with what it means. */
export const answers = (name: string, description: string) => ({ description, ...ref(name) })

/** A response in other types than JSON, or in several. */
export const answersIn = (description: string, types: Record<string, object>) => ({
  description,
  content: Object.fromEntries(Object.entries(types).map(([type, schema]) => [type, { schema }])),
})

const problems = (description: string) => answersIn(description, { [PROBLEM_TYPE]: ref('Problem') })

/** What every route may answer besides. */
export const refusals = {
  '4xx': problems('The request is invalid.'),
  '5xx': problems('The server cannot do it, or not now.'),
}

/** Of a route whose answer is kept for a request that is sent again. */
export const repeatableRequest = {
  headers: {
    type: 'object',
    properties: {
      'idempotency-key': described(
        { type: 'string', minLength: 1, maxLength: 255 },
        'Sent again within 60 s, the same request executes nothing and gets the first answer.',
      ),
    },
  },
}

export const nameInPath = exactly({ name: described({ type: 'string', minLength: 1 }, 'Name of a sieve.') })
export const urlInQuery = exactly({ url: text })
export const folderInQuery = exactly({
  folder: described(text, 'A host or folder, such as example.com/blog/.'),
})
export const keepInQuery = exactly(
  {
    keep: described(
      { enum: ['new', 'seen'], default: 'new' },
      'Of a body of lines: which lines come back as text.',
    ),
  },
  ['keep'],
)
export const spanInQuery = exactly(
  {
    span: described({ ...span, default: 'hour' }, 'An hour in steps of 10 s, or a day in steps of 4 min.'),
  },
  ['span'],
)
export const keyQuestion = exactly({ url: text, profile: { enum: Object.keys(profiles), default: 'web' } }, [
  'profile',
])
export { ref, text }
