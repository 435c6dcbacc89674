// The flags of `urlsieve serve` that limit what clients may do: one row each, with its default.
import { type Command, Option } from 'commander'
import { parseCount, parseDuration, parseSize } from '../quantities.ts'
import { HTTP_LIMITS, type HttpLimits } from '../server/http/limits.ts'
import { KEPT_BYTES } from '../server/repeated-calls.ts'
import { type RespLimits, respLimits } from '../server/resp/limits.ts'

type Parse = (option: string) => (text: string) => number

const r = respLimits
const h = HTTP_LIMITS

// Name, what it limits, how it is read, its default.
const rows: readonly (readonly [flag: string, does: string, parse: Parse, value: number])[] = [
  ['--memory <size>', 'for all sieves together', parseSize, 4 * 1024 ** 3],
  ['--max-sieves <n>', 'sieves at most', parseCount, 1000],
  ['--max-item-bytes <size>', 'bytes of one item; of a URL never more than 64K', parseSize, r.itemBytes],
  ['--max-items <n>', 'items of one command', parseCount, r.commandItems],
  ['--max-buffered <size>', 'bytes of commands a connection may have waiting', parseSize, r.bufferedBytes],
  ['--max-buffered-all <size>', 'the same, of all connections together', parseSize, r.allBufferedBytes],
  ['--max-unread <size>', 'bytes of replies a connection may leave unread', parseSize, r.unreadBytes],
  [
    '--max-kept-answers <size>',
    'answers kept for a minute, for calls that are sent again',
    parseSize,
    KEPT_BYTES,
  ],
  ['--max-unread-all <size>', 'the same, of all connections together', parseSize, r.allUnreadBytes],
  ['--max-connections <n>', 'concurrent connections of each protocol', parseCount, r.connections],
  ['--idle-timeout <time>', 'ends a connection that sends nothing', parseDuration, r.idleMs],
  [
    '--stalled-timeout <time>',
    'ends one that stops halfway: in a command, a reply, before the password',
    parseDuration,
    r.stalledMs,
  ],
  ['--http-max-body <size>', 'bytes of a JSON body', parseSize, h.jsonBytes],
  ['--http-max-headers <size>', "bytes of a request's headers", parseSize, h.headerBytes],
  ['--http-max-listeners <n>', 'listeners of /v1/live', parseCount, h.listeners],
  ['--http-headers-timeout <time>', 'for the headers of a request', parseDuration, h.headersMs],
  [
    '--http-body-timeout <time>',
    'for a JSON body, or the end of a line that has begun',
    parseDuration,
    h.bodyMs,
  ],
  ['--http-idle-timeout <time>', 'ends a request on which nothing moves', parseDuration, h.idleMs],
  ['--http-keep-alive <time>', 'for the next request on a connection', parseDuration, h.keepAliveMs],
  ['--http-grace <time>', 'for running requests when the server stops', parseDuration, h.graceMs],
]

export interface LimitFlags {
  memory: number
  maxSieves: number
  maxItemBytes: number
  maxItems: number
  maxBuffered: number
  maxBufferedAll: number
  maxUnread: number
  maxKeptAnswers: number
  maxUnreadAll: number
  maxConnections: number
  idleTimeout: number
  stalledTimeout: number
  httpMaxBody: number
  httpMaxHeaders: number
  httpMaxListeners: number
  httpHeadersTimeout: number
  httpBodyTimeout: number
  httpIdleTimeout: number
  httpKeepAlive: number
  httpGrace: number
}

function shown(parse: Parse, value: number): string {
  if (parse === parseDuration) return `${value / 1000}s`
  if (parse === parseCount) return String(value)
  const [divisor, letter] =
    value >= 1024 ** 3 ? [1024 ** 3, 'G'] : value >= 1024 ** 2 ? [1024 ** 2, 'M'] : [1024, 'K']
  return `${value / (divisor as number)}${letter}`
}

export function withLimits(command: Command): Command {
  for (const [flag, does, parse, value] of rows) {
    const name = flag.split(' ')[0]!
    command.addOption(new Option(flag, does).argParser(parse(name)).default(value, shown(parse, value)))
  }
  return command
}

export function respLimitsOf(flags: LimitFlags): RespLimits {
  return {
    itemBytes: flags.maxItemBytes,
    commandItems: flags.maxItems,
    bufferedBytes: flags.maxBuffered,
    allBufferedBytes: flags.maxBufferedAll,
    unreadBytes: flags.maxUnread,
    allUnreadBytes: flags.maxUnreadAll,
    connections: flags.maxConnections,
    idleMs: flags.idleTimeout,
    stalledMs: flags.stalledTimeout,
  }
}

export function httpLimitsOf(flags: LimitFlags): HttpLimits {
  return {
    jsonBytes: flags.httpMaxBody,
    urlBytes: Math.min(HTTP_LIMITS.urlBytes, flags.maxItemBytes),
    urlsPerRequest: flags.maxItems,
    headerBytes: flags.httpMaxHeaders,
    bufferBytes: flags.maxBufferedAll,
    connections: flags.maxConnections,
    listeners: flags.httpMaxListeners,
    headersMs: flags.httpHeadersTimeout,
    bodyMs: flags.httpBodyTimeout,
    idleMs: flags.httpIdleTimeout,
    keepAliveMs: flags.httpKeepAlive,
    graceMs: flags.httpGrace,
  }
}
