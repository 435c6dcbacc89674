// Where Redis is and how it is reached: the URLs of one or several nodes, with user, password and certificates, read and
// checked before anything is connected.
import { option, optionConflict, SieveError, wording } from '../errors.ts'
import { connectionOptions, tlsCa, tlsCert, tlsKey, tlsServerName } from '../options/connection-options.ts'
import { checkOption, type FlagOptionsOf } from '../options/option.ts'

/** docs/cluster.md has what each is for. */
export type ConnectOptions = FlagOptionsOf<typeof connectionOptions>

export interface Node {
  readonly host: string
  readonly port: number
}

interface Credentials {
  readonly username?: string
  readonly password?: string
}

export interface Target {
  readonly nodes: readonly Node[]
  /** Of the Redis servers. */
  readonly credentials: Credentials
  /** Of the Sentinels, when the nodes are Sentinels. */
  readonly sentinelCredentials: Credentials
  readonly database?: number
  /** For Node's `tls.connect`; empty: no TLS. */
  readonly tls: {
    readonly tls?: true
    readonly ca?: string | Buffer
    readonly cert?: string | Buffer
    readonly key?: string | Buffer
    readonly servername?: string
  }
}

const DEFAULT_PORT = 6379
const DEFAULT_SENTINEL_PORT = 26379

/** The URLs in a text: several are separated by commas. A comma in a password stays what it is. */
const urlsIn = (text: string) => text.split(/,\s*(?=rediss?:\/\/)/)

/** Reads one URL or several, and checks the options beside them. Throws a SieveError. */
export function readTarget(url: string | readonly string[], options: ConnectOptions): Target {
  for (const one of connectionOptions) checkOption(one, options[one.name])
  const urls = (typeof url === 'string' ? [url] : url).flatMap((text) => urlsIn(String(text)).map(parse))
  const [first] = urls
  if (first === undefined) throw new SieveError('option', 'no URL of Redis: expected redis://host:port')
  if (urls.some(({ protocol }) => protocol !== first.protocol)) {
    throw new SieveError('option', 'redis:// and rediss:// together: expected all URLs with TLS, or none')
  }
  const isSentinel = options.sentinel !== undefined
  const written = credentialsIn(urls.find(({ username, password }) => username || password))
  const { username, password } = options
  const given = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) }
  const database = databaseIn(first)
  return {
    nodes: urls.map((one) => nodeOf(one, isSentinel ? DEFAULT_SENTINEL_PORT : DEFAULT_PORT)),
    credentials: isSentinel ? given : { ...written, ...given },
    sentinelCredentials: isSentinel ? written : {},
    ...(database !== undefined && { database }),
    tls: tlsOf(first.protocol === 'rediss:', options),
  }
}

/** Hosts and ports, without users and passwords: for messages. */
export const hostsOf = (url: string | readonly string[]): string =>
  (typeof url === 'string' ? [url] : url)
    .flatMap((text) => urlsIn(text).map((one) => parse(one).host))
    .join(', ')

export const hostOf = ({ host, port }: Node): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

function parse(url: string): URL {
  const isRight = URL.canParse(url) && ['redis:', 'rediss:'].includes(new URL(url).protocol)
  if (isRight && new URL(url).hostname !== '') return new URL(url)
  throw new SieveError('option', `Redis at '${url}': expected redis://host:port or rediss://host:port`)
}

function nodeOf({ hostname, port }: URL, defaultPort: number): Node {
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? defaultPort : Number(port) }
}

function credentialsIn(url: URL | undefined): Credentials {
  return {
    ...(url?.username && { username: decode('user', url.username) }),
    ...(url?.password && { password: decode('password', url.password) }),
  }
}

function decode(what: string, text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new SieveError('option', `the ${what} in the URL of Redis: expected % only before two hex digits`)
  }
}

function databaseIn({ pathname }: URL): number | undefined {
  const text = pathname.slice(1)
  if (text === '') return undefined
  if (/^\d{1,5}$/.test(text)) return Number(text)
  throw new SieveError('option', `database '${text}' of Redis: expected a number`)
}

function tlsOf(isTls: boolean, options: ConnectOptions): Target['tls'] {
  const { tlsCa: ca, tlsCert: cert, tlsKey: key, tlsServerName: servername } = options
  if (!isTls) {
    const given = [tlsCa, tlsCert, tlsKey, tlsServerName].find(({ name }) => options[name] !== undefined)
    if (given === undefined) return {}
    throw optionConflict(
      given.name,
      wording`${option(given.name)} without TLS: expected rediss://host:port`,
      'rediss://host:port',
    )
  }
  if ((cert === undefined) !== (key === undefined)) {
    const [there, missing] = cert === undefined ? [tlsKey, tlsCert] : [tlsCert, tlsKey]
    throw optionConflict(
      missing.name,
      wording`${option(there.name)} without ${option(missing.name)}: expected both, or neither`,
      'both, or neither',
    )
  }
  for (const [name, value] of Object.entries({ tlsCa: ca, tlsCert: cert, tlsKey: key })) {
    // Node ignores a text without a certificate in it.
    if (value !== undefined && !pemOf(value).includes('-----BEGIN ')) {
      const expected = 'PEM text, with -----BEGIN'
      throw optionConflict(
        name,
        wording`${option(name)} has no PEM text in it: expected ${expected}`,
        expected,
      )
    }
  }
  return {
    tls: true,
    ...(ca !== undefined && { ca: pemOf(ca) }),
    ...(cert !== undefined && { cert: pemOf(cert) }),
    ...(key !== undefined && { key: pemOf(key) }),
    ...(servername !== undefined && { servername }),
  }
}

const pemOf = (value: string | Uint8Array) => (typeof value === 'string' ? value : Buffer.from(value))
