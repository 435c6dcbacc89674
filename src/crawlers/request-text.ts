// A Crawlee request as one line of text: JSON of what differs from a plain GET of its URL.
import { createHash } from 'node:crypto'
import type { Request, RequestOptions } from '@crawlee/core'

import { SieveError } from '../errors.ts'

type RequestClass = typeof Request

/** A request and what the sieve marks for it. */
export interface KeyedRequest {
  readonly request: Request
  readonly key: string
}

/**
 * What the sieve marks: the URL, which its profile canonicalises. For a request with a unique key of its own (given, or
 * computed from method and payload) that key, in a form that is not a URL in any profile.
 */
export function withKey(request: Request, Class: RequestClass): KeyedRequest {
  const { url, uniqueKey } = request
  const isPlain = uniqueKey === Class.computeUniqueKey({ url, method: 'GET' })
  return { request, key: isPlain ? url : ownKey(uniqueKey) }
}

/** A unique key as the sieve marks it. */
export const ownKey = (uniqueKey: string) => `(key) ${uniqueKey}`

/** The id that Crawlee's own queue computes from a unique key: 15 characters of a SHA-256 in base64. */
export const requestId = (uniqueKey: string) =>
  createHash('sha256').update(uniqueKey).digest('base64').replace(/[+/=]/g, '').slice(0, 15)

/** Whether Crawlee can fetch it: an absolute URL with http or https. */
export const isFetchable = (url: unknown): url is string =>
  typeof url === 'string' && /^\s*https?:/i.test(url) && URL.canParse(url)

/** The text of a request. */
export function textOf({ request, key }: KeyedRequest): string {
  const { url, uniqueKey, method, payload, noRetry, retryCount, errorMessages, headers, userData } = request
  return JSON.stringify({
    url,
    ...(key !== url && { uniqueKey }),
    ...(method !== 'GET' && { method }),
    ...(payload !== undefined && { payload }),
    ...(noRetry && { noRetry }),
    ...(retryCount > 0 && { retryCount }),
    ...(errorMessages.length > 0 && { errorMessages }),
    ...(Object.keys(headers ?? {}).length > 0 && { headers }),
    ...(JSON.stringify(userData) !== '{}' && { userData }),
  })
}

/** The error for a text in a frontier that is not a request. */
export const notARequest = (text: string) =>
  new SieveError(
    'corrupt',
    `the frontier contains a text that is not a request: ${JSON.stringify(text.slice(0, 60))}`,
  )

export function requestOf(text: string, Class: RequestClass): Request {
  try {
    return new Class(JSON.parse(text) as RequestOptions)
  } catch {
    throw notARequest(text)
  }
}

/** What the sieve marks for the request of a text. */
export function keyInText(text: string): string {
  let saved: { url?: unknown; uniqueKey?: unknown } | null
  try {
    saved = JSON.parse(text) as typeof saved
  } catch {
    throw notARequest(text)
  }
  const { url, uniqueKey } = saved ?? {}
  if (typeof url !== 'string' || !['string', 'undefined'].includes(typeof uniqueKey)) throw notARequest(text)
  return uniqueKey === undefined ? url : ownKey(uniqueKey as string)
}
