// What a page or its server states about links and about the page: each is obeyed or used unless it is ignored by its flag.

/** Signals by name, with what is done with them. */
export const pageSignals = {
  nofollow: 'follow links with rel=nofollow',
  metaRobots: 'follow the links of pages whose meta robots has nofollow, and do not report noindex',
  xRobotsTag: 'the same for the header X-Robots-Tag',
  canonical: 'do not follow or report canonical links',
  refresh: 'do not follow meta refresh',
  base: 'resolve links against the address of the page, not <base>',
  hreflang: 'do not follow links to pages in other languages (rel=alternate with hreflang)',
} as const

export type PageSignal = keyof typeof pageSignals

export interface Directives {
  readonly nofollow: boolean
  readonly noindex: boolean
}

/** Directives with a value after a colon: no names of crawlers. */
const WITH_VALUE = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview'])

/**
 * The directives of the values of meta robots or X-Robots-Tag. In a header, those behind `name:` hold for the crawler of that
 * name only, up to the next name.
 */
export function directivesOf(values: readonly string[], product: string): Directives {
  const found = new Set<string>()
  for (const value of values) {
    let isMine = true
    for (const part of value.toLowerCase().split(',')) {
      const colon = part.indexOf(':')
      const name = colon < 0 ? '' : part.slice(0, colon).trim()
      const isName = name !== '' && !WITH_VALUE.has(name)
      if (isName) isMine = name === product
      if (isMine) found.add((isName ? part.slice(colon + 1) : part).trim())
    }
  }
  const hasNone = found.has('none')
  return { nofollow: hasNone || found.has('nofollow'), noindex: hasNone || found.has('noindex') }
}

/** The address in the content of meta refresh (`5; url=/next`), as browsers read it; null: none. */
export function refreshTarget(content: string): string | null {
  const [, rest] = /^\s*[\d.]+\s*[;,]?\s*(.*)$/s.exec(content) ?? []
  if (rest === undefined || rest === '') return null
  const text = rest.replace(/^url\s*=\s*/i, '')
  const quote = text[0]
  if (quote !== '"' && quote !== "'") return text.trim()
  const end = text.indexOf(quote, 1)
  return text.slice(1, end < 0 ? text.length : end).trim()
}
