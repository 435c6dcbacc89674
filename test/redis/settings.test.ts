// The settings that docs/cluster.md gives for Redis: after the loss of a primary the sieve goes on. With URLSIEVE_FULL
// the choices it names are measured at their real node timeout, and printed.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { connectRedis, RedisSieve, RedisSieveError, UNKNOWN } from '../../src/redis/index.ts'
import { type RedisCluster, sleep, startCluster, until, whyNoRedis } from './servers.ts'
import { countOf, urlsOf } from './urls.ts'

const isFull = Boolean(process.env.URLSIEVE_FULL)
if (isFull) vi.setConfig({ testTimeout: 600_000 })
const BATCH = 500
const page = readFileSync(fileURLToPath(new URL('../../docs/cluster.md', import.meta.url)), 'utf8')

/** The redis.conf of the page, as arguments. */
function documented(): Map<string, string> {
  const block = /```conf\n([\s\S]*?)```/.exec(page)![1]!
  const rows = block.split('\n').map((row) => row.replace(/#.*/, '').trim())
  return new Map(rows.filter(Boolean).map((row) => row.split(/\s+/, 2) as [string, string]))
}

interface Choice {
  readonly replicas: number
  readonly minReplicas: number
}

interface Loss {
  /** From the kill until the replica called itself primary. */
  readonly electedMs: number
  /** The longest time in which no call for the lost primary's URLs ended well. */
  readonly waitedMs: number
  readonly unknown: number
  readonly newAgain: number
  readonly added: number
}

/** Kills a primary under load, and goes on for `afterMs`. */
async function lose(
  { replicas, minReplicas }: Choice,
  nodeTimeoutMs: number,
  afterMs: number,
): Promise<Loss> {
  const settings = documented()
  settings.set('min-replicas-to-write', String(minReplicas))
  settings.set('cluster-replica-validity-factor', '10')
  for (const name of ['cluster-enabled', 'cluster-node-timeout', 'maxmemory']) settings.delete(name)
  const args = [...settings].flatMap(([name, value]) => [`--${name}`, value])
  let servers: RedisCluster | undefined
  try {
    servers = await startCluster({ primaries: 3, replicas: 3 * replicas, nodeTimeoutMs }, args)
    const { client, close } = await connectRedis(servers.nodes[1]!.url)
    const sieve = await RedisSieve.open({ client, name: 'loss' })
    let added = 0
    let unknown = 0
    let waitedMs = 0
    let wellAt = performance.now()
    let isOn = true
    const verdicts: Uint8Array[] = []
    const load = (async () => {
      while (isOn) {
        const urls = urlsOf(added, added + BATCH)
        added += BATCH
        const answer = await sieve.addMany(urls).catch((error: unknown) => {
          if (!(error instanceof RedisSieveError)) throw error
          return error.verdicts
        })
        verdicts.push(answer)
        const missing = countOf(answer, UNKNOWN)
        unknown += missing
        const now = performance.now()
        waitedMs = Math.max(waitedMs, now - wellAt)
        if (missing === 0) wellAt = now
      }
    })()
    await Promise.race([sleep(1500), load])
    const killedAt = performance.now()
    servers.nodes[0]!.process.kill('SIGKILL')
    const heirs = servers.nodes.filter((_, i) => i >= 3 && i % 3 === 0)
    const isElected = async () => {
      const roles = await Promise.all(heirs.map((node) => node.ask('INFO', 'replication')))
      return roles.some((role) => /role:master/.test(String(role)))
    }
    await Promise.race([until('a replica takes over', isElected, 120_000), load])
    const electedMs = performance.now() - killedAt
    await Promise.race([sleep(afterMs), load])
    isOn = false
    await load
    const all = urlsOf(0, added)
    const marked = Buffer.concat(verdicts)
    // Of those that were answered "new": what the cluster no longer knows.
    const isKnown = await sieve.hasMany(all).catch((error: unknown) => (error as RedisSieveError).verdicts)
    const newAgain = isKnown.reduce((sum, known, i) => sum + Number(known === 0 && marked[i] === 1), 0)
    await close()
    return { electedMs, waitedMs, unknown, newAgain, added }
  } finally {
    await servers?.stop()
  }
}

describe.skipIf(whyNoRedis)('the settings of docs/cluster.md', () => {
  it('are read by Redis, and go on without a primary', async () => {
    const settings = documented()
    expect(settings.get('cluster-node-timeout')).toBe('5000')
    expect(settings.get('maxmemory-policy')).toBe('noeviction')
    const minReplicas = Number(settings.get('min-replicas-to-write'))
    const { unknown, added } = await lose({ replicas: 1, minReplicas }, 1500, 1000)
    expect(unknown).toBe(0)
    expect(added).toBeGreaterThan(BATCH)
  })

  it.runIf(isFull)('each choice, at a node timeout of 5 s', async () => {
    const rows: Record<string, Record<string, number>> = {}
    for (const choice of [
      { replicas: 1, minReplicas: 0 },
      { replicas: 2, minReplicas: 1 },
      { replicas: 1, minReplicas: 1 },
    ]) {
      const { electedMs, waitedMs, ...loss } = await lose(choice, 5000, 40_000)
      rows[`${choice.replicas} replicas, min-replicas-to-write ${choice.minReplicas}`] = {
        'elected, s': Math.round(electedMs / 100) / 10,
        'waited, s': Math.round(waitedMs / 100) / 10,
        ...loss,
      }
    }
    console.table(rows)
  })
})
