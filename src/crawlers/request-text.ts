// A Crawlee request as one line of text and back: what differs from a plain GET of its URL, as JSON.
import type { Request, RequestOptions } from '@crawlee/core'

import { SieveError } from '../errors.ts'

type RequestClass = typeof Request

/** A request, and what a sieve is asked for it. */
export interface AskedRequest {
  readonly request: Request
  readonly asked: string
}

/**
 * What a sieve is asked for: the URL, of which its profile makes the key. A request with a unique key of its own (given, or
 * of its method and payload) is asked for under that, in a form that no profile takes for a URL.
 */
export function askedFor(request: Request, Class: RequestClass): AskedRequest {
  const { url, uniqueKey } = request
  const isPlain = uniqueKey === Class.computeUniqueKey({ url, method: 'GET' })
  return { request, asked: isPlain ? url : ownKey(uniqueKey) }
}

const ownKey = (uniqueKey: string) => `(key) ${uniqueKey}`

/** What a request is written down as. */
export function textOf({ request, asked }: AskedRequest): string {
  const { url, uniqueKey, method, payload, noRetry, retryCount, errorMessages, headers, userData } = request
  return JSON.stringify({
    url,
    ...(asked !== url && { uniqueKey }),
    ...(method !== 'GET' && { method }),
    ...(payload !== undefined && { payload }),
    ...(noRetry && { noRetry }),
    ...(retryCount > 0 && { retryCount }),
    ...(errorMessages.length > 0 && { errorMessages }),
    ...(Object.keys(headers ?? {}).length > 0 && { headers }),
    ...(JSON.stringify(userData) !== '{}' && { userData }),
  })
}

/** One line for a text of a frontier that is none of ours. */
export const noRequest = (text: string) =>
  new SieveError('corrupt', `the frontier holds what is no request: ${JSON.stringify(text.slice(0, 60))}`)

export function requestOf(text: string, Class: RequestClass): Request {
  try {
    return new Class(JSON.parse(text) as RequestOptions)
  } catch {
    throw noRequest(text)
  }
}

/** What a sieve is asked for the request written down so. */
export function askedIn(text: string): string {
  let saved: { url?: unknown; uniqueKey?: unknown } | null
  try {
    saved = JSON.parse(text) as typeof saved
  } catch {
    throw noRequest(text)
  }
  const { url, uniqueKey } = saved ?? {}
  if (typeof url !== 'string' || !['string', 'undefined'].includes(typeof uniqueKey)) throw noRequest(text)
  return uniqueKey === undefined ? url : ownKey(uniqueKey as string)
}
