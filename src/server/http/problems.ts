// Errors as application/problem+json (RFC 9457): the detail is one line with what was received, what was expected and what
// to do.
import { STATUS_CODES } from 'node:http'
import type { FastifyError } from 'fastify'
import { SieveError, type SieveErrorCode } from '../../errors.ts'
import { MOST_NAME_BYTES } from '../names.ts'

/** Longest name in a path that is decoded. */
export const MOST_NAME_LETTERS = 1024
export const PROBLEM_TYPE = 'application/problem+json'

/** An error with an HTTP status. `more`: further members of the answer. */
export class Problem extends Error {
  readonly status: number
  readonly more: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    detail: string,
    { more = {}, headers = {} }: { more?: Record<string, unknown>; headers?: Record<string, string> } = {},
  ) {
    super(detail)
    this.status = status
    this.more = more
    this.headers = headers
  }

  /** The body of the answer. */
  get text(): string {
    const title = STATUS_CODES[this.status] ?? 'Error'
    const type = `urn:urlsieve:problem:${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`
    return JSON.stringify({ type, title, status: this.status, detail: this.message, ...this.more })
  }
}

const SIEVE_STATUS: Readonly<Record<SieveErrorCode, number>> = {
  option: 400,
  memory: 507,
  full: 507,
  corrupt: 500,
  version: 500,
  locked: 409,
  disk: 507,
  network: 503,
}

/** Fastify's error codes as problems. */
const FRAMEWORK: Readonly<Record<string, (error: FastifyError) => Problem>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new Problem(415, "unknown content type: expected 'application/json', or 'text/plain' for lines"),
  FST_ERR_VALIDATION: (error) => new Problem(400, error.message),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    new Problem(
      414,
      `a name of more than ${MOST_NAME_LETTERS} characters in the path: expected at most ${MOST_NAME_BYTES} bytes`,
    ),
  FST_ERR_BAD_URL: () => new Problem(400, 'the path is not correctly encoded: expected %XX of UTF-8'),
}

export function verdictWords(verdicts: Uint8Array): ('new' | 'seen')[] {
  return Array.from(verdicts, (verdict) => (verdict === 1 ? 'new' : 'seen'))
}

/** An option as a request spells it. */
const inBody = (option: string) => `body/${option}`

/** An error as a problem; null for a defect of urlsieve, whose reason the client does not get. */
export function problemOf(error: unknown): Problem | null {
  if (error instanceof Problem) return error
  if (error instanceof SieveError) {
    const { code, option, answered } = error
    const more = {
      ...(option !== undefined && { option }),
      ...(answered && answered.length > 0 && { verdicts: verdictWords(answered) }),
    }
    return new Problem(SIEVE_STATUS[code], error.spell(inBody), { more: { code, ...more } })
  }
  const { code, statusCode, message } = error as FastifyError
  const known = code && FRAMEWORK[code]
  if (known) return known(error as FastifyError)
  if (statusCode && statusCode >= 400 && statusCode < 500) return new Problem(statusCode, message)
  return null
}

/** The answer while the sieves are being opened. */
export const loading = () =>
  new Problem(503, 'the server is opening its sieves: try again', { headers: { 'retry-after': '1' } })

/** The answer for a defect. */
export const DEFECT = new Problem(500, 'a defect of urlsieve: the server logged it; please report it')

interface Violation {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
}

/** What a keyword of a schema expects; its params are those of Ajv. */
const EXPECTED: Readonly<Record<string, (params: Violation['params']) => string>> = {
  type: ({ type }) => `expected to be ${[type].flat().join(' or ')}`,
  enum: ({ allowedValues }) => `expected one of ${(allowedValues as readonly unknown[]).join(', ')}`,
  minimum: ({ limit }) => `expected to be >= ${limit}`,
  maximum: ({ limit }) => `expected to be <= ${limit}`,
  exclusiveMinimum: ({ limit }) => `expected to be > ${limit}`,
  exclusiveMaximum: ({ limit }) => `expected to be < ${limit}`,
  minLength: ({ limit }) => `expected at least ${limit} characters`,
  required: ({ missingProperty }) => `'${missingProperty}' is missing`,
  additionalProperties: ({ additionalProperty }) => `'${additionalProperty}' is unknown`,
}

/** The first violation of a schema, in one line. */
export function violation(errors: readonly Violation[], part: string): Error {
  const { instancePath, keyword, message, params } = errors[0]!
  const expected = EXPECTED[keyword]?.(params) ?? message ?? 'invalid'
  return new Error(`${part}${instancePath}: ${expected}; see /openapi.json`)
}
