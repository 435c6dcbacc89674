// How a batch is cut into calls: enough URLs in each, whatever the number of tags (docs/scale.md).
import { expect, it } from 'vitest'
import { type Argument, RedisSieve } from '../../src/redis/index.ts'
import { all, urlsOf } from './urls.ts'

/** A Redis of three keys that answers "new" to everything, and counts the hashes of each call. */
function counting() {
  const calls: number[] = []
  let parameters: string | null = null
  const send = async (_: string, [command, ...args]: Argument[]): Promise<unknown> => {
    if (command === 'GET') return parameters
    if (command === 'SET') parameters = String(args[1])
    if (command !== 'EVALSHA') return 'OK'
    const items = args[2 + Number(args[1])] as Buffer
    calls.push(items.length / 8)
    return '1'.repeat(items.length / 8)
  }
  return { calls, client: { isCluster: true, send } }
}

it.each([
  [32, 8, 40_000],
  [512, 32, 16_384],
  [4096, 32, 131_072],
])('%i tags: about %i URLs in a call, or more', async (tags, urlsPerCall, batch) => {
  const { calls, client } = counting()
  const sieve = await RedisSieve.open({ client, name: 'calls', tags })
  expect(await sieve.addMany(urlsOf(0, batch))).toEqual(all(batch, 1))
  expect(batch / calls.length).toBeGreaterThanOrEqual(urlsPerCall)
  // A script runs for about a millisecond: other clients do not wait for long.
  expect(Math.max(...calls)).toBeLessThan(1000)
})
