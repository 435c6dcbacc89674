// The sieve and the frontier on Redis or Valkey: one node or a cluster, shared by any number of processes.

export type { ConnectOptions } from './address.ts'
export { BloomRedisSieve, type BloomRedisSieveOptions } from './bloom-sieve.ts'
export {
  CALL_BOUNDS,
  type CallCounts,
  type CallEvent,
  CallMetrics,
  type OwnerEvent,
  type RetryEvent,
  type RetryReason,
} from './call-metrics.ts'
export type { Patience } from './calls.ts'
export type {
  Argument,
  ClusterClient,
  RedisClient,
  ScriptClient,
  SentinelClient,
  SingleClient,
} from './client.ts'
export { type Connection, connectRedis } from './connect.ts'
export {
  type FrontierCounts,
  type LeasedText,
  type MarkState,
  RedisFrontier,
  type RedisFrontierOptions,
} from './frontier.ts'
export type { IoRedisClient } from './ioredis-client.ts'
export { LayeredRedisSieve, type LayeredRedisSieveOptions, type LayerForm } from './layered-sieve.ts'
export type { Mode, Parameters, Shape } from './parameters.ts'
export { RedisSieveError, UNKNOWN } from './partial-error.ts'
export { RedisSieve, type RedisSieveOptions } from './redis-sieve.ts'
export type { VerdictPart } from './verdict-parts.ts'
