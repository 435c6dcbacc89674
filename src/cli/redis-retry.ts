// `--redis-retry`: how long a command waits for Redis, to connect and for each call, before it fails.
import { Option } from 'commander'
import { parseDuration } from '../quantities.ts'

export const redisRetry = () =>
  new Option(
    '--redis-retry <time>',
    'with --redis: fail after this long without an answer, up to 60s; by default 30s, and 10s to connect',
  ).argParser(parseDuration('--redis-retry'))

/** For `connectRedis`, and for the calls of a sieve there. */
export const patienceOf = (ms: number | undefined) =>
  ms === undefined ? {} : { connect: { connectTimeoutMs: ms }, calls: { retryMs: ms } }
