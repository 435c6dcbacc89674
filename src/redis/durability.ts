// When a write counts as done: immediately (the default), when replicas have it (WAIT), or when it is on disk (WAITAOF). Both
// commands speak of the writes of their own connection, so a write whose connection has changed meanwhile is repeated.
import { option, SieveError, wording } from '../errors.ts'
import { durabilityOptions } from '../options/connection-options.ts'
import { checkOption, type FlagOptionsOf } from '../options/option.ts'
import type { Argument, ScriptClient } from './client.ts'

/** docs/cluster.md has what each is for. */
export type Durability = FlagOptionsOf<typeof durabilityOptions>

interface Wanted {
  readonly waitReplicas: number
  readonly waitAof: boolean
}

/** The longest that the server holds a connection for WAIT: other calls on it wait as well. */
const LONGEST_HOLD_MS = 100

/** The durability among other options, checked; null: a write is done when the primary has answered. */
export function durabilityOf(options: Durability, client: ScriptClient): Wanted | null {
  for (const one of durabilityOptions) checkOption(one, options[one.name])
  const { waitReplicas = 0, waitAof = false } = options
  if (waitReplicas === 0 && !waitAof) return null
  if (client.connections) return { waitReplicas, waitAof }
  const name = waitReplicas > 0 ? 'waitReplicas' : 'waitAof'
  const expected = 'createClient, createCluster or createSentinel of the package redis, or Redis of ioredis'
  throw new SieveError(
    'option',
    wording`${option(name)} needs to know the connection of a write, which this client does not show: expected ${expected}`,
    { option: name, expected },
  )
}

/** Sends commands to the node of a key, as the call that writes does. */
type Send = (args: Argument[], waitMs: number) => Promise<unknown>

/**
 * Writes, and waits until the write is durable. Throws an error that begins with NOREPLICAS when it is not yet: the write
 * may be repeated, and must then write again.
 */
export async function writeDurably(
  { waitReplicas, waitAof }: Wanted,
  client: ScriptClient,
  key: string,
  waitMs: number,
  write: () => Promise<unknown>,
  send: Send,
): Promise<unknown> {
  const until = performance.now() + waitMs
  const place = () => `${client.connections!()} ${client.ownerOf?.(key)}`
  const before = place()
  const answer = await write()
  const left = Math.max(1, until - performance.now())
  const hold = String(Math.max(1, Math.floor(Math.min(LONGEST_HOLD_MS, left / 2))))
  const wait = waitAof ? ['WAITAOF', '1', String(waitReplicas), hold] : ['WAIT', String(waitReplicas), hold]
  const reply = await send(wait, left).catch((error: Error) => {
    if (!/^ERR unknown command/i.test(error.message)) throw error
    throw new SieveError(
      'option',
      wording`${option('waitAof')} needs Redis 7.2 or later, which has WAITAOF`,
      {
        option: 'waitAof',
      },
    )
  })
  if (place() !== before) throw new Error('NOREPLICAS the connection of the write has changed')
  const counts = (Array.isArray(reply) ? reply : [1, reply]).map(Number) as [onDisk: number, replicas: number]
  if (counts[0] >= 1 && counts[1] >= waitReplicas) return answer
  const what = waitAof ? `on disk at ${counts[0]} of 1 primary and ${counts[1]}` : `at ${counts[1]}`
  throw new Error(`NOREPLICAS the write is ${what} of ${waitReplicas} replicas`)
}
