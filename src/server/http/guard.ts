// Who may ask: the password, the names a loopback server answers to (against DNS rebinding), and no page of another
// origin (a browser would send it, and with the password it remembers).
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { Password } from '../password.ts'
import { Problem } from './problems.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i
/** Answer without a password: whether it lives, and kinds of faults; no names. */
const OPEN = new Set(['/healthz', '/readyz'])

/** Whether an address or name to listen on is this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(isIP(host) === 6 ? `[${host}]` : host)
}

export class Guard {
  readonly #loopback: boolean
  readonly #password: Password | null

  constructor(host: string, password: string | undefined) {
    this.#loopback = isLoopback(host)
    this.#password = password === undefined ? null : new Password(password)
  }

  /** The refusal of a request, or null. */
  refusal(path: string, headers: IncomingHttpHeaders): Problem | null {
    return this.#wrongHost(headers.host) ?? crossOrigin(headers) ?? this.#noPassword(path, headers)
  }

  #wrongHost(host: string | undefined): Problem | null {
    if (!this.#loopback || (host !== undefined && LOOPBACK.test(host.replace(/:\d*$/, '')))) return null
    const got = host === undefined ? 'no Host header' : `Host '${host}'`
    return new Problem(421, `${got}: expected localhost, 127.0.0.1 or [::1], on which this server listens`)
  }

  /** Whether there is no password, or these headers have it. */
  isTrusted({ authorization }: IncomingHttpHeaders): boolean {
    const password = this.#password
    return password === null || passwordsOf(authorization).some((given) => password.is(given))
  }

  #noPassword(path: string, headers: IncomingHttpHeaders): Problem | null {
    const { authorization } = headers
    if (OPEN.has(path) || this.isTrusted(headers)) return null
    const got = authorization === undefined ? 'no password' : 'a wrong password'
    // A browser asks for a password when it opens the page; the page's own requests shall fail, not wait for that.
    const mode = headers['sec-fetch-mode']
    const basic = mode === undefined || mode === 'navigate' ? 'Basic realm="urlsieve", charset="UTF-8", ' : ''
    return new Problem(401, `${got}: expected 'Authorization: Bearer <password>', or Basic with any user`, {
      headers: { 'www-authenticate': `${basic}Bearer realm="urlsieve"` },
    })
  }
}

// What a header may mean. Past ASCII, clients differ: a header's bytes are UTF-8 or Latin-1.
function passwordsOf(authorization = ''): Buffer[] {
  const match = /^(Bearer|Basic) +(.+)$/i.exec(authorization)
  if (!match) return []
  if (match[1]!.toLowerCase() === 'bearer') return [Buffer.from(match[2]!, 'latin1'), Buffer.from(match[2]!)]
  const pair = Buffer.from(match[2]!, 'base64')
  const colon = pair.indexOf(':')
  return colon < 0 ? [] : [pair.subarray(colon + 1)]
}

// Browsers say where a request comes from. Following a link to the page is no harm; anything else from elsewhere is.
function crossOrigin(headers: IncomingHttpHeaders): Problem | null {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  const isElsewhere = site !== undefined && site !== 'same-origin' && site !== 'none'
  const isLink = headers['sec-fetch-mode'] === 'navigate' && origin === undefined
  const isForeign = origin !== undefined && origin.replace(/^https?:\/\//, '') !== host
  if (!isForeign && (!isElsewhere || isLink)) return null
  return new Problem(
    403,
    `a request from another origin (${origin ?? site}): expected one from this server's own page`,
  )
}
