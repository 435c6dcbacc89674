// One robots.txt according to RFC 9309: the groups of one agent, its rules by the longest match, and its Crawl-delay.
// Parsing is linear in the file; a lookup takes a bounded number of steps.

interface Rule {
  readonly isAllowed: boolean
  /** Between the wildcards. */
  readonly parts: readonly string[]
  /** It ends with `$`. */
  readonly isWhole: boolean
  readonly length: number
}

interface Group {
  readonly rules: Rule[]
  delaySeconds: number
}

/** Parts up to this length are searched by String.indexOf, which is fast but may take their length per character. */
const SHORT = 8
/** Characters that all rules together may search: enough for 10,000 rules on a path of 1,000 characters. */
const MOST_SEARCHED = 10_000_000

export class RobotsFile {
  /** Seconds between requests; 0: none given. */
  readonly delaySeconds: number
  /** Addresses of sitemaps as written, which hold for all agents. */
  readonly sitemaps: readonly string[]
  /** The longest first, and of equal ones those that allow. */
  readonly #rules: readonly Rule[]

  /** `userAgent`: as sent; its name before the version is compared. */
  constructor(text: string, userAgent: string) {
    const { rules, delaySeconds } = groupOf(text, productOf(userAgent))
    this.delaySeconds = delaySeconds
    this.sitemaps = sitemapsIn(text)
    this.#rules = rules.sort((a, b) => b.length - a.length || Number(b.isAllowed) - Number(a.isAllowed))
  }

  allows(url: string): boolean {
    const { pathname, search } = new URL(url)
    if (pathname === '/robots.txt') return true
    const path = comparable(pathname + search)
    let left = MOST_SEARCHED
    for (const rule of this.#rules) {
      if (!path.startsWith(rule.parts[0]!)) continue
      if (matches(rule, path)) return rule.isAllowed
      if (rule.parts.length > 1) left -= path.length
      // Too many steps: the result is unknown, so the path is disallowed.
      if (left < 0) return false
    }
    return true
  }
}

/** For a site without a robots.txt. */
export const noRobotsFile = () => new RobotsFile('', '')

/** Sitemaps that are taken from one file. */
const MOST_SITEMAPS = 1000

function sitemapsIn(text: string): string[] {
  const found = new Set<string>()
  for (const [, address] of text.matchAll(/^[ \t]*sitemap[ \t]*:[ \t]*(\S+)/gim)) {
    if (found.size === MOST_SITEMAPS) break
    found.add(address!)
  }
  return [...found]
}

/** The rules of the groups that name the agent, otherwise of those for all agents. */
function groupOf(text: string, product: string): Group {
  const own: Group = { rules: [], delaySeconds: 0 }
  const all: Group = { rules: [], delaySeconds: 0 }
  let isNamed = false
  let current = new Set<Group>()
  let isInAgents = false
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, name, value] = /^([^:#]*):([^#]*)/.exec(line) ?? []
    if (name === undefined || value === undefined) continue
    const field = name.trim().toLowerCase()
    const content = value.trim()
    if (field === 'user-agent') {
      if (!isInAgents) current = new Set()
      isInAgents = true
      if (content === '*') current.add(all)
      if (product !== '' && productOf(content) === product) {
        current.add(own)
        isNamed = true
      }
      continue
    }
    if (field !== 'allow' && field !== 'disallow' && field !== 'crawl-delay') continue
    isInAgents = false
    for (const group of current) {
      if (field === 'crawl-delay') group.delaySeconds = Math.max(group.delaySeconds, Number(content) || 0)
      else if (content !== '') group.rules.push(ruleOf(content, field === 'allow'))
    }
  }
  return isNamed ? own : all
}

/** The name before the version, in lower case. */
export const productOf = (userAgent: string) => userAgent.split('/', 1)[0]!.trim().toLowerCase()

function ruleOf(pattern: string, isAllowed: boolean): Rule {
  const isWhole = pattern.endsWith('$')
  const path = comparable(isWhole ? pattern.slice(0, -1) : pattern)
  return { isAllowed, isWhole, parts: path.split(/\*+/), length: path.length }
}

/** One spelling for equivalent octets: upper-case escapes, and only where needed. */
function comparable(path: string): string {
  return path
    .replace(/[^\x00-\x7f]+/g, (text) => encodeURIComponent(text))
    .replace(/%[\da-f]{2}/gi, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
      return /[\w.~-]/.test(character) ? character : octet.toUpperCase()
    })
}

/** `path` begins with the rule's first part. */
function matches({ parts, isWhole }: Rule, path: string): boolean {
  let at = parts[0]!.length
  if (parts.length === 1) return !isWhole || at === path.length
  const last = parts.length - 1
  for (let i = 1; i <= last; i++) {
    const part = parts[i]!
    if (i === last && isWhole) return path.length - part.length >= at && path.endsWith(part)
    const found = indexOf(path, part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return true
}

// Knuth, Morris and Pratt: steps by the sum of both lengths, not by their product.
function indexOf(path: string, part: string, from: number): number {
  if (part.length <= SHORT) return path.indexOf(part, from)
  if (part.length > path.length - from) return -1
  const borders = new Uint32Array(part.length)
  for (let i = 1, length = 0; i < part.length; i++) {
    const code = part.charCodeAt(i)
    while (length > 0 && code !== part.charCodeAt(length)) length = borders[length - 1]!
    if (code === part.charCodeAt(length)) length++
    borders[i] = length
  }
  for (let i = from, length = 0; i < path.length; i++) {
    const code = path.charCodeAt(i)
    while (length > 0 && code !== part.charCodeAt(length)) length = borders[length - 1]!
    if (code === part.charCodeAt(length)) length++
    if (length === part.length) return i - length + 1
  }
  return -1
}
