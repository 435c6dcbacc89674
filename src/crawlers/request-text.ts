// A Crawlee request as one line of text and back: what differs from a plain GET of its URL, as JSON.
import type { Request, RequestOptions } from '@crawlee/core'

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

export function requestOf(text: string, Class: RequestClass): Request {
  return new Class(JSON.parse(text) as RequestOptions)
}

/** What a sieve is asked for the request written down so. */
export function askedIn(text: string): string {
  const { url, uniqueKey } = JSON.parse(text) as { url: string; uniqueKey?: string }
  return uniqueKey === undefined ? url : ownKey(uniqueKey)
}
