// Spellings of a path that mostly name the same page. Each sees the path of a key that has an authority.

import { isSlash, trimEnd } from './ends.ts'

const indexEndings =
  'html htm shtml shtm xhtml xhtm php php0 php1 php2 php3 php4 php5 php6 php7 php8 php9 phtml asp aspx jsp jspx cfm cgi do pl'
const LONGEST_NAME = 15

/** The names of index pages, in lower case. */
export const indexNames: ReadonlySet<string> = new Set(
  ['index', 'default'].flatMap((name) => indexEndings.split(' ').map((ending) => `${name}.${ending}`)),
)

/** The path without the index page, or pages, at its end: `/a/index.html` is `/a/`. */
export function dropIndex(path: string): string {
  let end = path.length
  while (true) {
    const bare = trimEnd(path.slice(0, end), isSlash)
    const slash = bare.lastIndexOf('/')
    if (slash < 0 || bare.length - slash - 1 > LONGEST_NAME) break
    if (!indexNames.has(bare.slice(slash + 1).toLowerCase())) break
    end = slash
  }
  return end === path.length ? path : `${path.slice(0, end)}/`
}

export const dropTrailingSlashes = (path: string): string => trimEnd(path, isSlash)

export const joinSlashes = (path: string): string => path.replace(/\/{2,}/g, '/')
