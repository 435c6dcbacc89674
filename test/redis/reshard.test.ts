// Slots that move to another node while URLs are added: every verdict is right, before, during and after.
import { describe, expect, it } from 'vitest'
import { RedisSieve } from '../../src/redis/index.ts'
import { evenTags, slotOf } from '../../src/redis/slots.ts'
import { randomFrom } from '../support/random.mjs'
import { connected } from './connected.ts'
import { mover } from './moving.ts'
import { sleep, startCluster, whyNoRedis } from './servers.ts'
import { all, exactVerdicts, urlOf } from './urls.ts'

const TAGS = 8

describe.skipIf(whyNoRedis)('resharding under load', () => {
  const servers = connected(() => startCluster({ replicas: 0 }))

  const { begin: beginMove, moveKeys, end: endMove } = mover(() => servers)

  it('verdicts are exact while the slots of two tags move, key by key', async () => {
    const sieve = await RedisSieve.open({ client: servers.connection.client, name: 'moving', tags: TAGS })
    const seen = new Set<string>()
    const next = randomFrom(11)
    let isOn = true
    let batches = 0
    // In the order of the calls, so that an exact set can follow: half of the URLs are new, half are repeats.
    const worker = (async () => {
      let added = 0
      while (isOn) {
        const urls = Array.from({ length: 500 }, (_, i) =>
          urlOf(i % 2 ? added++ : Math.floor(next() * added)),
        )
        const expected = exactVerdicts(urls, seen)
        expect(await sieve.addMany(urls)).toEqual(expected)
        batches++
      }
    })()
    const moves = async () => {
      await sleep(500)
      let moved = 0
      for (const tag of evenTags(TAGS).slice(0, 2)) {
        const slot = slotOf(tag)
        const before = batches
        await beginMove(slot, 0, 1)
        for (let some = 1; some > 0; moved += some) {
          some = await moveKeys(slot, 0, 1)
          await sleep(80)
        }
        await endMove(slot, 0, 1)
        while (batches < before + 10) await sleep(10)
      }
      isOn = false
      return moved
    }
    const [, moved] = await Promise.all([worker, Promise.race([moves(), worker.then(() => 0)])])
    expect(moved).toBeGreaterThan(200)
    const known = [...seen]
    expect(await sieve.hasMany(known)).toEqual(all(known.length, 1))
    expect((await sieve.stats()).urls).toBe(known.length)
    console.log(
      `moved ${moved} keys of two tags during ${batches} batches, ${known.length} URLs: all verdicts right`,
    )
  })

  it('a slot that is left half moved: one clear line, no wrong verdict, and it goes on when the move ends', async () => {
    const patience = { timeoutMs: 500, retryMs: 600 }
    const sieve = await RedisSieve.open({
      client: servers.connection.client,
      name: 'stuck',
      tags: TAGS,
      ...patience,
    })
    const urls = Array.from({ length: 2000 }, (_, i) => urlOf(i))
    expect(await sieve.addMany(urls)).toEqual(all(2000, 1))
    const slot = slotOf(evenTags(TAGS)[7]!)
    await beginMove(slot, 2, 0)
    await moveKeys(slot, 2, 0)
    const error = await sieve.addMany(urls).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'network' })
    expect((error as Error).message).toMatch(/TRYAGAIN.+still being moved: see 'redis-cli --cluster check'$/)
    expect((error as { verdicts: Uint8Array }).verdicts.includes(1)).toBe(false)
    while ((await moveKeys(slot, 2, 0)) > 0);
    await endMove(slot, 2, 0)
    expect(await sieve.addMany(urls)).toEqual(all(2000, 0))
  })
})
