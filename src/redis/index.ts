// The sieve and the frontier on Redis or Valkey: one node or a cluster, shared by any number of processes.

export type { ConnectOptions } from './address.ts'
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
export { LayeredRedisSieve, type LayeredRedisSieveOptions, type LayerForm } from './layered-sieve.ts'
export type { Mode, Parameters, Shape } from './parameters.ts'
export { RedisSieveError, UNKNOWN } from './partial-error.ts'
export { RedisSieve, type RedisSieveOptions } from './redis-sieve.ts'
