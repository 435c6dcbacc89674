// Spellings of a path that mostly name the same page. Each sees the path of a key that has an authority.

import { isSlash, trimEnd } from './ends.ts'

const indexName = /^(?:index|default)\.(?:[sx]?html?|php\d?|phtml|aspx?|jspx?|cfm|cgi|do|pl)$/i

/** The path without the index page, or pages, at its end: `/a/index.html` is `/a/`. */
export function dropIndex(path: string): string {
  let end = path.length
  while (true) {
    const bare = trimEnd(path.slice(0, end), isSlash)
    const slash = bare.lastIndexOf('/')
    // The longest name is shorter than 16 characters.
    if (slash < 0 || bare.length - slash > 16 || !indexName.test(bare.slice(slash + 1))) break
    end = slash
  }
  return end === path.length ? path : `${path.slice(0, end)}/`
}

export const dropTrailingSlashes = (path: string): string => trimEnd(path, isSlash)

export const joinSlashes = (path: string): string => path.replace(/\/{2,}/g, '/')
