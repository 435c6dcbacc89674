// Access control: the password, the host names of a loopback server (against DNS rebinding), and no requests from pages of
// other origins, with which a browser would send the password it remembers.
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { Password } from '../password.ts'
import { Problem } from './problems.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i
/** Paths without a password: they show whether the server runs and the kinds of faults, but no names. */
const OPEN = new Set(['/healthz', '/readyz'])

/** Whether a path needs no password. */
export const isOpenPath = (path: string): boolean => OPEN.has(path)

/** Whether an address or name to listen on is reachable from this machine only. */
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

  /** Why a request is refused, or null. */
  refusal(path: string, headers: IncomingHttpHeaders): Problem | null {
    return this.#wrongHost(headers.host) ?? crossOrigin(headers) ?? this.#noPassword(path, headers)
  }

  #wrongHost(host: string | undefined): Problem | null {
    if (!this.#loopback || (host !== undefined && LOOPBACK.test(host.replace(/:\d*$/, '')))) return null
    const got = host === undefined ? 'no Host header' : `Host '${host}'`
    return new Problem(421, `${got}: expected localhost, 127.0.0.1 or [::1], on which this server listens`)
  }

  /** Whether there is no password, or these headers contain it. */
  isTrusted({ authorization }: IncomingHttpHeaders): boolean {
    const password = this.#password
    return password === null || passwordsOf(authorization).some((given) => password.matches(given))
  }

  #noPassword(path: string, headers: IncomingHttpHeaders): Problem | null {
    const { authorization } = headers
    if (isOpenPath(path) || this.isTrusted(headers)) return null
    const got = authorization === undefined ? 'no password' : 'a wrong password'
    // A browser prompts for the password when it opens the page; requests of the page itself fail instead of prompting.
    const mode = headers['sec-fetch-mode']
    const basic = mode === undefined || mode === 'navigate' ? 'Basic realm="urlsieve", charset="UTF-8", ' : ''
    return new Problem(401, `${got}: expected 'Authorization: Bearer <password>', or Basic with any user`, {
      headers: { 'www-authenticate': `${basic}Bearer realm="urlsieve"` },
    })
  }
}

// The passwords a header may mean: past ASCII, clients encode headers as UTF-8 or as Latin-1.
function passwordsOf(authorization = ''): Buffer[] {
  const match = /^(Bearer|Basic) +(.+)$/i.exec(authorization)
  if (!match) return []
  if (match[1]!.toLowerCase() === 'bearer') return [Buffer.from(match[2]!, 'latin1'), Buffer.from(match[2]!)]
  const pair = Buffer.from(match[2]!, 'base64')
  const colon = pair.indexOf(':')
  return colon < 0 ? [] : [pair.subarray(colon + 1)]
}

// Browsers name the origin of a request. Following a link to the page is allowed; any other cross-origin request is not.
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
