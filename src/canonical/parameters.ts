// The parameters of a query, as the server's form decoder names them (WHATWG URL, application/x-www-form-urlencoded),
// kept in the spelling they came in.

import { replaceEscapes } from './escapes.ts'
import { replaceParts } from './parts.ts'

// Escapes of bytes that UTF-8 has to be made of again.
const beyondAscii = /%[89a-f][0-9a-f]/i

/** The decoded name of `name=value`. */
export function parameterName(parameter: string): string {
  const end = parameter.indexOf('=')
  const name = end < 0 ? parameter : parameter.slice(0, end)
  const spaced = name.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  if (!beyondAscii.test(spaced)) return replaceEscapes(spaced, (byte) => String.fromCharCode(byte))
  for (const decoded of new URLSearchParams(`?${name}`).keys()) return decoded
  return ''
}

/** The query's parameters as written; empty ones (`a&&b`) are none. */
export function parametersOf(query: string): string[] {
  return query
    .slice(1)
    .split('&')
    .filter((parameter) => parameter !== '')
}

/** The key without the parameters whose name is unwanted; a query that loses its last one goes with its `?`. */
export function dropParameters(key: string, unwanted: (name: string) => boolean): string {
  if (!key.includes('?')) return key
  return replaceParts(key, ({ query }) => {
    const all = parametersOf(query)
    const kept = all.filter((parameter) => !unwanted(parameterName(parameter)))
    if (kept.length === all.length) return {}
    return { query: kept.length > 0 ? `?${kept.join('&')}` : '' }
  })
}

/** The key without empty parameters, and without the `=` of those that have no value. */
export function dropEmptyParameters(key: string): string {
  if (!key.includes('?')) return key
  return replaceParts(key, ({ query }) => {
    if (query.length < 2) return {}
    const all = parametersOf(query).map((parameter) =>
      parameter.indexOf('=') === parameter.length - 1 ? parameter.slice(0, -1) : parameter,
    )
    const kept = all.filter((parameter) => parameter !== '')
    return { query: kept.length > 0 ? `?${kept.join('&')}` : '' }
  })
}

/** The key with its parameters in the order of their names; those of one name keep their order. */
export function sortParameters(key: string): string {
  if (!key.includes('?')) return key
  return replaceParts(key, ({ query }) => {
    if (query === '') return {}
    const named = parametersOf(query).map((parameter) => ({ parameter, name: parameterName(parameter) }))
    named.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    return { query: `?${named.map(({ parameter }) => parameter).join('&')}` }
  })
}

/** The key with its query decoded and written again as a browser submits a form. */
export function formParameters(key: string): string {
  if (!key.includes('?')) return key
  return replaceParts(key, ({ query }) => {
    const form = new URLSearchParams(query).toString()
    return { query: form === '' ? '' : `?${form}` }
  })
}
