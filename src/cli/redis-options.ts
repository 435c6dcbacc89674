// The flags of a connection to Redis, the same for every command with `--redis`: how long to wait, the user, the
// certificates, Sentinels. They follow from the descriptions of the options; secrets and certificates are read from files.
import { type Command, Option } from 'commander'
import { connectionOptions, waitAof, waitReplicas } from '../options/connection-options.ts'
import { usage } from '../options/option.ts'
import { readOption } from '../options/spelling.ts'
import { parseDuration } from '../quantities.ts'
import type { ConnectOptions, Patience } from '../redis/index.ts'
import { MiB, readWhole } from '../store/whole-file.ts'
import { CommandError, EXIT, reason } from './exit.ts'

const PASSWORD = 'URLSIEVE_REDIS_PASSWORD'
const RETRY = '--redis-retry'

export interface RedisFlags {
  redisWaitReplicas?: number
  redisWaitAof?: boolean
  redisRetry?: number
  redisPasswordFile?: string
}

const described = connectionOptions.filter(({ flag }) => flag !== RETRY)

export function withRedisOptions(command: Command): Command {
  command
    .optionsGroup('With --redis:')
    .addOption(
      new Option(
        `${RETRY} <time>`,
        'fail after this long without an answer, up to 60s; by default 30s, and 10s to connect',
      ).argParser(parseDuration(RETRY)),
    )
  for (const one of [...described, waitReplicas]) {
    const isPassword = one.name === 'password'
    const does = isPassword
      ? `a file whose first line is the password; or the variable ${PASSWORD}`
      : one.does
    command.addOption(
      new Option(usage(one), does).argParser((text: string) => readOption(one.flag, [one], text).value),
    )
  }
  return command.option(waitAof.flag, waitAof.does).optionsGroup('Options:')
}

/** For `connectRedis`, and for the calls of a sieve there. */
export function connectionOf(flags: RedisFlags): {
  readonly connect: ConnectOptions
  readonly calls: Patience
} {
  const { redisRetry } = flags
  const connect: Record<string, unknown> = redisRetry === undefined ? {} : { connectTimeoutMs: redisRetry }
  for (const { name, flag, kind } of described) {
    const value = (flags as Readonly<Record<string, unknown>>)[new Option(flag).attributeName()]
    if (value !== undefined) connect[name] = kind.placeholder === '<file>' ? readText(value as string) : value
  }
  if (flags.redisPasswordFile !== undefined) connect.password = firstLine(connect.password as string)
  else if (process.env[PASSWORD]) connect.password = process.env[PASSWORD]
  const { redisWaitReplicas, redisWaitAof } = flags
  const calls = {
    ...(redisRetry !== undefined && { retryMs: redisRetry }),
    ...(redisWaitReplicas !== undefined && { waitReplicas: redisWaitReplicas }),
    ...(redisWaitAof !== undefined && { waitAof: redisWaitAof }),
  }
  return { connect, calls }
}

const firstLine = (text: string) => text.split(/\r?\n/, 1)[0]

function readText(path: string): string {
  try {
    return readWhole(path, MiB, { isStream: true }).toString()
  } catch (error) {
    throw new CommandError(EXIT.input, `${path}: ${reason(error)}`)
  }
}
