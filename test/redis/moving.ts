// Moves slots of a cluster from one node to another as redis-cli does, a step at a time.
import type { RedisNode } from './servers.ts'

export function mover(servers: () => { readonly nodes: readonly RedisNode[] }) {
  const node = (i: number) => servers().nodes[i]!
  const id = async (i: number) => String(await node(i).ask('CLUSTER', 'MYID'))
  return {
    async begin(slot: number, from: number, to: number): Promise<void> {
      await node(to).ask('CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', await id(from))
      await node(from).ask('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', await id(to))
    },

    /** Moves some keys of a slot; returns how many. */
    async moveKeys(slot: number, from: number, to: number): Promise<number> {
      const keys = (await node(from).ask('CLUSTER', 'GETKEYSINSLOT', String(slot), '40')) as string[]
      if (keys.length === 0) return 0
      const address = ['127.0.0.1', String(node(to).port)]
      await node(from).ask('MIGRATE', ...address, '', '0', '5000', 'KEYS', ...keys)
      return keys.length
    },

    async end(slot: number, from: number, to: number): Promise<void> {
      const owner = await id(to)
      for (const i of [to, from]) await node(i).ask('CLUSTER', 'SETSLOT', String(slot), 'NODE', owner)
    },
  }
}
