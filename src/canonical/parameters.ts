// The parameters of a query, as the server's form decoder names them (WHATWG URL, application/x-www-form-urlencoded),
// kept in the spelling they came in.

import { decodeUtf8Escapes, replaceEscapes } from './escapes.ts'
import { replaceParts } from './parts.ts'

// Escapes of bytes that UTF-8 has to be made of again.
const beyondAscii = /%[89a-f][0-9a-f]/i

/** The decoded name of `name=value`. */
export function parameterName(parameter: string): string {
  const end = parameter.indexOf('=')
  return decodeForm(end < 0 ? parameter : parameter.slice(0, end))
}

// What URLSearchParams makes of a name or a value, without the exception that it throws and catches for each one whose
// bytes are not UTF-8: for a long query of such parameters that takes most of a second.
function decodeForm(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  if (beyondAscii.test(spaced)) return decodeUtf8Escapes(spaced)
  return replaceEscapes(spaced, (byte) => String.fromCharCode(byte))
}

function parameterValue(parameter: string): string {
  const end = parameter.indexOf('=')
  return end < 0 ? '' : decodeForm(parameter.slice(end + 1))
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
    const parameters = beyondAscii.test(query)
      ? parametersOf(query).map((parameter) => [parameterName(parameter), parameterValue(parameter)])
      : query
    const form = new URLSearchParams(parameters).toString()
    return { query: form === '' ? '' : `?${form}` }
  })
}
