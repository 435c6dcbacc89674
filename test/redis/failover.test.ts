// Primaries that go away under load: killed, killed while the replica is behind, and paused until the cluster replaces
// them. The sieve goes on; what the failover lost is new again, which is counted and told; nothing is falsely "seen".
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, connectRedis, RedisSieve } from '../../src/redis/index.ts'
import { type RedisCluster, sleep, startCluster, until, whyNoRedis } from './servers.ts'
import { countOf, urlsOf } from './urls.ts'

const BATCH = 400

describe.skipIf(whyNoRedis)('failover under load', () => {
  let servers: RedisCluster
  let connection: Connection
  beforeAll(async () => {
    servers = await startCluster()
    connection = await connectRedis(servers.nodes[2]!.url)
  })
  afterAll(async () => {
    await connection?.close()
    for (const node of servers?.nodes ?? []) node.process.kill('SIGCONT')
    await servers?.stop()
  })

  interface Trouble {
    /** A primary is in trouble, and replaced, when it returns. `more` waits until that many batches more were begun. */
    begin(more: (batches: number) => Promise<void>): Promise<void>
    end?(): void
  }

  /** Three workers add new URLs without end; trouble comes, and they go on. Says what became of the URLs. */
  async function underLoad(
    what: string,
    { begin, end }: Trouble,
  ): Promise<{ added: number; newAgain: number }> {
    const name = what.replaceAll(/\W+/g, '-')
    const sieve = await RedisSieve.open({ client: connection.client, name, timeoutMs: 500 })
    let added = 0
    let wrong = 0
    let isOn = true
    const worker = async () => {
      while (isOn) {
        const from = added
        added += BATCH
        wrong += countOf(await sieve.addMany(urlsOf(from, from + BATCH)), 0)
      }
    }
    const workers = Promise.all([worker(), worker(), worker()])
    await Promise.race([sleep(700), workers])
    const more = (batches: number) => {
      const before = added
      return until('it goes on', async () => added > before + batches * BATCH)
    }
    await Promise.race([begin(more), workers])
    await Promise.race([more(20), workers])
    end?.()
    isOn = false
    await workers

    const newAgain = countOf(await sieve.hasMany(urlsOf(0, added)), 0)
    console.log(`${what}: ${newAgain} of ${added} URLs became new again, ${wrong} were falsely seen`)
    expect(wrong).toBe(0)
    expect(countOf(await sieve.addMany(urlsOf(0, added)), 1)).toBe(newAgain)
    expect((await sieve.stats()).urls).toBe(added)
    return { added, newAgain }
  }

  /** Waits until primary i, which is gone, has its replica in its place. */
  async function replaced(i: number): Promise<void> {
    const replica = servers.nodes[3 + i]!
    const say = async (...command: string[]) => String(await replica.ask(...command))
    await until('the replica takes over', async () => /role:master/.test(await say('INFO', 'replication')))
    await until('the cluster is well', async () => /cluster_state:ok/.test(await say('CLUSTER', 'INFO')))
  }

  it('a primary is killed', async () => {
    const { newAgain } = await underLoad('killed', {
      async begin() {
        servers.nodes[0]!.process.kill('SIGKILL')
        await replaced(0)
      },
    })
    // Replication lags by milliseconds here: a batch or two of each worker at most.
    expect(newAgain).toBeLessThan(10 * BATCH)
  })

  it('a primary is killed while its replica is behind', async () => {
    const { newAgain, added } = await underLoad('killed, replica behind', {
      async begin(more) {
        const [primary, replica] = [servers.nodes[1]!, servers.nodes[4]!]
        await replica.ask('CONFIG', 'SET', 'masteruser', 'nobody')
        await replica.ask('CONFIG', 'SET', 'masterauth', 'wrong')
        await primary.ask('CLIENT', 'KILL', 'TYPE', 'replica')
        // Three workers have one batch each under way: at least two batches more are answered.
        await more(5)
        primary.process.kill('SIGKILL')
        await replaced(1)
      },
    })
    expect(newAgain).toBeGreaterThan(0)
    expect(newAgain).toBeLessThan(added / 3)
  })

  it('a primary is paused, and comes back later', async () => {
    const { newAgain } = await underLoad('paused', {
      async begin() {
        servers.nodes[2]!.process.kill('SIGSTOP')
        await replaced(2)
      },
      end: () => servers.nodes[2]!.process.kill('SIGCONT'),
    })
    expect(newAgain).toBeLessThan(10 * BATCH)
  })
})
