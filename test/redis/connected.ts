// A Redis server or cluster with a connection to it, for the tests of one suite.
import { afterAll, beforeAll } from 'vitest'
import { type Connection, connectRedis } from '../../src/redis/index.ts'
import { type RedisCluster, startNode } from './servers.ts'

export interface Connected extends Pick<RedisCluster, 'nodes' | 'url'> {
  readonly connection: Connection
}

/** One node. */
export async function startOne(): Promise<RedisCluster> {
  const node = await startNode()
  return { nodes: [node], url: node.url, stop: () => node.kill() }
}

/** Started before the tests of the suite that calls it, and stopped after them; not to be used before. */
export function connected(start: () => Promise<RedisCluster>): Connected {
  let server: RedisCluster
  let connection: Connection
  beforeAll(async () => {
    server = await start()
    connection = await connectRedis(server.url)
  })
  afterAll(async () => {
    await connection?.close()
    await server?.stop()
  })
  return {
    get nodes() {
      return server.nodes
    },
    get url() {
      return server.url
    },
    get connection() {
      return connection
    },
  }
}
