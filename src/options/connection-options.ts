// The options of a connection to Redis and of its writes, each described once: the library takes them by name, `dedupe`,
// `crawl` and `serve` as flags.
import { durationKind, type FlagOption, type Kind, wholeNumber } from './option.ts'

const describe = <const N extends string, T>(option: FlagOption<N, T>): FlagOption<N, T> => option

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const text: Kind<string> = {
  label: 'text',
  placeholder: '<name>',
  expected: 'a text that is not empty',
  valid: 'a text that is not empty',
  read: (written) => written || null,
  isValid: isText,
  schema: { type: 'string', minLength: 1 },
}

/** In the library the text itself; for the command a file that holds it. */
const pem: Kind<string | Uint8Array> = {
  ...text,
  label: 'PEM text',
  placeholder: '<file>',
  expected: 'the name of a file',
  valid: 'PEM text, as a string or bytes',
  isValid: (value): value is string | Uint8Array =>
    isText(value) || (value instanceof Uint8Array && value.length > 0),
}

export const connectTimeoutMs = describe({
  name: 'connectTimeoutMs',
  kind: {
    ...durationKind,
    valid: 'at least 1 millisecond',
    isValid: (ms): ms is number => typeof ms === 'number' && ms >= 1,
  },
  does: 'time to connect; a connection that is silent for this long is closed and opened again',
  default: '10,000',
  flag: '--redis-retry',
})

export const username = describe({
  name: 'username',
  kind: text,
  does: 'user of the Redis servers (ACL), instead of the one in the URL',
  flag: '--redis-user',
})

export const password = describe({
  name: 'password',
  kind: { ...text, placeholder: '<file>' },
  does: 'password of that user, instead of the one in the URL',
  flag: '--redis-password-file',
})

export const tlsCa = describe({
  name: 'tlsCa',
  kind: pem,
  does: 'certificates of the authorities that may have signed the servers’ certificates',
  default: 'those of Node',
  flag: '--redis-ca',
})

export const tlsCert = describe({
  name: 'tlsCert',
  kind: pem,
  does: 'certificate of this client',
  flag: '--redis-cert',
})

export const tlsKey = describe({
  name: 'tlsKey',
  kind: pem,
  does: 'private key of that certificate',
  flag: '--redis-key',
})

export const tlsServerName = describe({
  name: 'tlsServerName',
  kind: text,
  does: 'name that the servers’ certificates are checked against',
  default: "each server's address",
  flag: '--redis-server-name',
})

export const sentinel = describe({
  name: 'sentinel',
  kind: text,
  does: 'name of a primary: the URLs are those of the Sentinels that watch it',
  flag: '--redis-sentinel',
})

export const connectionOptions = [
  connectTimeoutMs,
  username,
  password,
  tlsCa,
  tlsCert,
  tlsKey,
  tlsServerName,
  sentinel,
] as const

/** Of the calls, not of the connection: when a write counts as done. */
export const waitReplicas = describe({
  name: 'waitReplicas',
  kind: wholeNumber(0, 100),
  does: 'a write is answered when this many replicas have it (WAIT)',
  default: '0',
  flag: '--redis-wait-replicas',
})

export const waitAof = describe({
  name: 'waitAof',
  kind: {
    label: 'true or false',
    placeholder: '',
    expected: 'true or false',
    valid: 'true or false',
    read: (written) => written === 'true',
    isValid: (value): value is boolean => typeof value === 'boolean',
    schema: { type: 'boolean' },
  },
  does: 'a write is answered when it is in the append-only file, of those replicas too (WAITAOF, Redis 7.2)',
  default: 'false',
  flag: '--redis-wait-aof',
})

export const durabilityOptions = [waitReplicas, waitAof] as const
