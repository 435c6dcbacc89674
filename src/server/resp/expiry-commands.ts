// The time at which a whole sieve is dropped: EXPIRE and its relatives, with the rules and replies of Redis. With --data the
// time is on disk before the reply.
import { type Call, type Command, definePlain, NOT_INTEGER, wideOf } from './command.ts'
import { Failure, type Reply } from './replies.ts'

const UNABLE = new Failure(
  'ERR sieves do not expire with --redis: a sieve of SIEVE.CREATE with WINDOW forgets old URLs there',
)
const NX_ALONE = new Failure('ERR NX and XX, GT or LT options at the same time are not compatible')
const GT_LT = new Failure('ERR GT and LT options at the same time are not compatible')

/** The last time in 64 bits. */
const LAST = 2n ** 63n - 1n
/** The largest number below it. */
const LATEST = 2 ** 63 - 1024
const isWide = (value: bigint) => BigInt.asIntN(64, value) === value

type Conditions = ReadonlySet<string>

function conditionsOf(call: Call): Conditions | Failure {
  const words = new Set<string>()
  for (let i = 3; i < call.count; i++) {
    const word = call.word(i)
    if (!['NX', 'XX', 'GT', 'LT'].includes(word)) {
      return new Failure(`ERR Unsupported option ${call.text(i).slice(0, 128)}`)
    }
    words.add(word)
  }
  if (words.has('NX') && words.size > 1) return NX_ALONE
  return words.has('GT') && words.has('LT') ? GT_LT : words
}

/** Whether the conditions allow to replace the time `before` by `at`. A sieve without a time expires after all others. */
function isAllowed(words: Conditions, before: number | undefined, at: number): boolean {
  if (words.has('NX') && before !== undefined) return false
  if (words.has('XX') && before === undefined) return false
  if (words.has('GT') && (before === undefined || at <= before)) return false
  return !(words.has('LT') && before !== undefined && at >= before)
}

interface Clock {
  readonly unitMs: number
  /** Counts from now on. */
  readonly isRelative: boolean
}

const setting = (name: string, unit: string, { unitMs, isRelative }: Clock, does: string) =>
  definePlain({
    name,
    syntax: `key ${unit}:integer [NX | XX | GT | LT]`,
    does,
    returns: '1 done, 0 not',
    group: 'generic',
    flags: ['write', 'fast'],
    run(call): Reply | Promise<Reply> {
      const { registry } = call.server
      const conditions = conditionsOf(call)
      if (conditions instanceof Failure) return conditions
      const value = wideOf(call.text(2))
      if (value === null) return NOT_INTEGER
      const ms = value * BigInt(unitMs)
      const wide = ms + BigInt(isRelative ? Date.now() : 0)
      if (!isWide(ms) || wide > LAST) {
        return new Failure(`ERR invalid expire time in '${name.toLowerCase()}' command`)
      }
      const at = Math.min(Number(wide), LATEST)
      if (!registry.expire) return UNABLE
      const sieve = registry.get(call.name(1))
      if (!sieve || !isAllowed(conditions, sieve.expiresAt, at)) return 0
      return registry.expire(sieve.name, Math.max(at, 1)).then(Number)
    },
  })

const getting = (name: string, { unitMs, isRelative }: Clock, does: string) =>
  definePlain({
    name,
    syntax: 'key',
    does,
    returns: 'a number; -1 without a time, -2 for no such sieve',
    group: 'generic',
    flags: ['readonly', 'fast'],
    run(call) {
      const sieve = call.server.registry.get(call.name(1))
      if (!sieve) return -2
      if (sieve.expiresAt === undefined) return -1
      const ms = sieve.expiresAt - (isRelative ? Date.now() : 0)
      return Math.floor((Math.max(0, ms) + unitMs / 2) / unitMs)
    },
  })

const persist = definePlain({
  name: 'PERSIST',
  syntax: 'key',
  does: 'Removes the time of expiry',
  returns: '1 done, 0 not',
  group: 'generic',
  flags: ['write', 'fast'],
  run(call): Reply | Promise<Reply> {
    const { registry } = call.server
    if (!registry.expire) return UNABLE
    const sieve = registry.get(call.name(1))
    return sieve?.expiresAt === undefined ? 0 : registry.expire(sieve.name, undefined).then(Number)
  },
})

const SECONDS = { unitMs: 1000, isRelative: true }
const MILLIS = { unitMs: 1, isRelative: true }
const UNIX_SECONDS = { unitMs: 1000, isRelative: false }
const UNIX_MILLIS = { unitMs: 1, isRelative: false }

export const expiryCommands: readonly Command[] = [
  setting('EXPIRE', 'seconds', SECONDS, 'Drops the sieve after this many seconds'),
  setting('PEXPIRE', 'milliseconds', MILLIS, 'Drops the sieve after this many milliseconds'),
  setting('EXPIREAT', 'unix-time-seconds', UNIX_SECONDS, 'Drops the sieve at this time'),
  setting('PEXPIREAT', 'unix-time-milliseconds', UNIX_MILLIS, 'The same in milliseconds'),
  getting('TTL', SECONDS, 'Seconds until the sieve is dropped'),
  getting('PTTL', MILLIS, 'The same in milliseconds'),
  getting('EXPIRETIME', UNIX_SECONDS, 'The time at which the sieve is dropped, in seconds since 1970'),
  getting('PEXPIRETIME', UNIX_MILLIS, 'The same in milliseconds'),
  persist,
]
