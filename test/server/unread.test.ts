// Replies that nobody reads: bounded for each client and for all together, whatever makes them.
import { afterAll, expect, it } from 'vitest'
import { Unread } from '../../src/server/unread.ts'
import { encoded } from './raw.ts'
import { served } from './serving.ts'

const MB = 1024 ** 2

it('past the limit the client with the most is disconnected, and no other', () => {
  const unread = new Unread(100)
  const ended: string[] = []
  const reader = (name: string) => ({ unreadBytes: 0, endUnread: () => void ended.push(name) })
  const [a, b, c] = [reader('a'), reader('b'), reader('c')]
  unread.hold(a, 30)
  unread.hold(b, 60)
  expect(unread.bytes).toBe(90)
  unread.hold(c, 20)
  expect([ended, unread.bytes, unread.ended]).toEqual([['b'], 50, 1])
  unread.hold(a, 0)
  unread.hold(c, 100)
  expect([ended, unread.bytes]).toEqual([['b'], 100])
})

const server = await served({ limits: { unreadBytes: MB, allUnreadBytes: 8 * MB } })
const maker = await server.connect()
for (let i = 0; i < 90; i++) await maker.ask('SIEVE.CREATE', `n${i}-${'x'.repeat(150)}`)
const reported = async (field: string) =>
  Number(new RegExp(`^${field}:(\\d+)`, 'm').exec((await maker.ask('INFO')) as string)![1])

/** A client that sends this and reads nothing. */
async function silent(...lines: readonly Buffer[]) {
  const client = await server.connect()
  client.socket.pause()
  client.write(Buffer.concat(lines))
  return client
}

it('a transaction waits for its client, which gets all replies when it reads', async () => {
  const count = 400
  const keys = Array.from({ length: count }, () => encoded('KEYS', '*'))
  const client = await silent(encoded('MULTI'), ...keys, encoded('EXEC'))
  let most = 0
  for (let left = 5; left > 0; left -= Number(most > 0)) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    most = Math.max(most, await reported('unread_bytes'))
  }
  expect(most).toBeLessThan(2 * MB) // of 6 MB
  client.socket.resume()
  for (let i = 0; i < count + 1; i++) await client.read()
  const all = (await client.read()) as unknown[]
  expect(all.length).toBe(count)
  expect(all.every((names) => (names as unknown[]).length === 90)).toBe(true)
})

it('many clients that do not read are bounded together; one that reads is not disconnected', async () => {
  const clients = await Promise.all(
    Array.from({ length: 24 }, () => silent(...Array.from({ length: 400 }, () => encoded('KEYS', '*')))),
  )
  let most = 0
  while ((await reported('evicted_clients')) === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    most = Math.max(most, await reported('unread_bytes'))
  }
  expect(most).toBeLessThanOrEqual(8 * MB)
  expect(server.logged.join('\n')).toMatch(/warn unread .*--max-unread-all/)
  for (const client of clients) client.close()
  while ((await reported('unread_bytes')) > 0) await new Promise((resolve) => setTimeout(resolve, 10))
})

afterAll(() => maker.close())
