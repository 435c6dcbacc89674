// `Redis` and `Cluster` of the package ioredis fitted to what a sieve needs. What cannot be sent stays in their queue and
// may reach the server after the sieve has repeated the call: the scripts refuse what comes that late.
import type { Argument, ScriptClient } from './client.ts'
import { countConnections } from './connection-count.ts'
import { slotOf } from './slots.ts'

/** `Redis` or `Cluster` of the package ioredis, as far as it is used. */
export interface IoRedisClient {
  call(command: string, args: Argument[]): Promise<unknown>
  readonly status: string
  readonly isCluster: boolean
}

interface IoRedisCluster extends IoRedisClient {
  /** For each slot the addresses of its nodes, the primary first. */
  readonly slots: readonly (readonly string[] | undefined)[]
  refreshSlotsCache(callback: (error?: unknown) => void): void
}

export function ioRedisClient(client: IoRedisClient): ScriptClient {
  const send = (_: string, [command, ...args]: Argument[]) => client.call(String(command), args)
  const isOpen = () => client.status !== 'end'
  if (!client.isCluster) return { send, isOpen, isCluster: false, ...countConnections(client, 'connect') }
  const cluster = client as IoRedisCluster
  return {
    send,
    isOpen,
    isCluster: true,
    ownerOf: (key) => cluster.slots[slotOf(key)]?.[0],
    refresh: () => new Promise<void>((resolve) => cluster.refreshSlotsCache(() => resolve())),
  }
}
