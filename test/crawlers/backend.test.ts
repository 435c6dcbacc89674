// The backend for Crawlee 4 by its contract: over memory, a folder and a shared frontier. Crawlee 4 is not published, so
// the frontend is played by the test.
import type { BatchAddRequestsResult, QueueOperationInfo, RequestSchema } from '@crawlee/types'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type QueueOptions, SieveQueue, SieveQueueBackend } from '../../src/crawlers/crawlee.ts'
import { Sieve } from '../../src/index.ts'
import { type Connection, connectRedis, RedisFrontier, RedisSieve } from '../../src/redis/index.ts'
import { type RedisNode, startNode, whyNoRedis } from '../redis/servers.ts'
import { newFolders } from '../support/folders.ts'

const newFolder = newFolders()
const page = (name: string | number) => `https://example.com/${name}`
// Typed as in Crawlee: these types are the same in 3 and 4.
const request = (name: string | number, more: Partial<RequestSchema> = {}): RequestSchema => ({
  url: page(name),
  uniqueKey: page(name),
  ...more,
})

let node: RedisNode
let connection: Connection
beforeAll(async () => {
  if (whyNoRedis) return
  node = await startNode()
  connection = await connectRedis(node.url)
})
afterAll(async () => {
  await connection?.close()
  await node?.kill()
})

let names = 0
async function shared(): Promise<QueueOptions> {
  const name = `backend-${names++}`
  const { client } = connection
  const sieve = await RedisSieve.open({ client, name, profile: 'crawlee', tags: 1 })
  return { frontier: await RedisFrontier.open({ client, name }), sieve }
}

const kinds: [string, string, () => Promise<QueueOptions>][] = [
  ['in memory', '', async () => ({})],
  ['a folder', '', async () => ({ folder: newFolder() })],
  ['a shared frontier', whyNoRedis, shared],
]

describe.each(kinds)('%s %s', (_, missing, options) => {
  it.skipIf(missing)('has the methods of the contract', async () => {
    const backend = await SieveQueueBackend.open(await options())
    const methods = ['getMetadata', 'drop', 'purge', 'addBatchOfRequests', 'getRequest', 'fetchNextRequest']
    methods.push('markRequestAsHandled', 'reclaimRequest', 'isEmpty', 'isFinished')
    for (const name of methods) expect(typeof Reflect.get(backend, name), name).toBe('function')
    expect(await backend.getMetadata()).toEqual({
      id: expect.any(String),
      createdAt: expect.any(Date),
      modifiedAt: expect.any(Date),
      accessedAt: expect.any(Date),
      totalRequestCount: 0,
      handledRequestCount: 0,
      pendingRequestCount: 0,
    })
    await backend.close()
  })

  it.skipIf(missing)('adds, gives out, takes back and ends requests, each unique key once', async () => {
    const backend = await SieveQueueBackend.open(await options())
    const data: Partial<RequestSchema> = {
      userData: { label: 'deep', __crawlee: { crawlDepth: 2 } },
      retryCount: 1,
      method: 'POST',
    }
    const result: BatchAddRequestsResult = await backend.addBatchOfRequests([
      request('a', data),
      request('b'),
      { url: page('b'), uniqueKey: 'mine' },
      request('a'),
    ])
    const { processedRequests, unprocessedRequests } = result
    expect(processedRequests.map(({ wasAlreadyPresent }) => wasAlreadyPresent)).toEqual([
      false,
      false,
      false,
      true,
    ])
    expect(processedRequests.map(({ uniqueKey }) => uniqueKey)).toEqual([
      page('a'),
      page('b'),
      'mine',
      page('a'),
    ])
    expect(unprocessedRequests).toEqual([])
    await backend.addBatchOfRequests([request(1), request(2)], { forefront: true })
    expect(await backend.isEmpty()).toBe(false)

    const two = (await backend.fetchNextRequest())!
    expect(two).toMatchObject({ ...request(2), id: expect.stringMatching(/^[A-Za-z0-9]{15}$/) })
    expect(await backend.getRequest(page(2))).toMatchObject(request(2))
    expect(await backend.getRequest('mine')).toMatchObject({ url: page('b'), uniqueKey: 'mine' })
    expect(await backend.getRequest('none')).toBeUndefined()
    const info: QueueOperationInfo = { requestId: two.id, wasAlreadyPresent: true, wasAlreadyHandled: false }
    expect(await backend.reclaimRequest({ ...two, retryCount: 1 }, { forefront: true })).toEqual(info)
    expect(await backend.reclaimRequest(two)).toBeUndefined()
    expect(await backend.fetchNextRequest()).toMatchObject({ ...request(2), retryCount: 1 })
    expect(await backend.markRequestAsHandled(two)).toEqual(info)
    expect(await backend.markRequestAsHandled(two)).toEqual({ ...info, wasAlreadyHandled: true })
    expect(await backend.markRequestAsHandled({ ...request('x'), id: 'x' })).toBeUndefined()

    const rest: string[] = []
    for (let next = await backend.fetchNextRequest(); next; next = await backend.fetchNextRequest()) {
      rest.push(next.uniqueKey)
      if (next.uniqueKey === page('a')) expect(next).toMatchObject(data)
      expect([await backend.isEmpty(), await backend.isFinished()]).toEqual([rest.length === 4, false])
      expect(await backend.markRequestAsHandled(next)).toBeDefined()
    }
    expect(rest).toEqual([page(1), page('a'), page('b'), 'mine'])
    expect([await backend.isEmpty(), await backend.isFinished()]).toEqual([true, true])
    expect(await backend.getMetadata()).toMatchObject({ totalRequestCount: 5, handledRequestCount: 5 })
    await backend.close()
    await expect(backend.isEmpty()).rejects.toThrow('the queue is closed: open it again')
  })

  it.skipIf(missing)('a request that is handled already is seen and counted, and not fetched', async () => {
    const backend = await SieveQueueBackend.open(await options())
    const done = request('done', { handledAt: '2026-01-02T03:04:05.000Z' })
    const add = async (...requests: RequestSchema[]) =>
      (await backend.addBatchOfRequests(requests)).processedRequests
    expect(await add(request('a'), done, request('b'), done)).toMatchObject([
      { wasAlreadyPresent: false },
      { wasAlreadyPresent: false, wasAlreadyHandled: false },
      { wasAlreadyPresent: false },
      { wasAlreadyPresent: true },
    ])
    expect(await add(request('done'))).toMatchObject([{ wasAlreadyPresent: true, wasAlreadyHandled: true }])
    expect(await backend.getMetadata()).toMatchObject({ totalRequestCount: 3, handledRequestCount: 1 })
    for (const name of ['a', 'b']) {
      const next = (await backend.fetchNextRequest())!
      expect(next.uniqueKey).toBe(page(name))
      await backend.markRequestAsHandled(next)
    }
    expect([await backend.fetchNextRequest(), await backend.isFinished()]).toEqual([undefined, true])
    expect(await backend.getMetadata()).toMatchObject({ totalRequestCount: 3, handledRequestCount: 3 })
    await backend.drop()
  })

  it.skipIf(missing)('what is dropped is empty and finished, and takes nothing', async () => {
    const backend = await SieveQueueBackend.open(await options())
    await backend.addBatchOfRequests([request(1)], { forefront: true })
    await backend.drop()
    expect([await backend.isEmpty(), await backend.isFinished()]).toEqual([true, true])
    expect(await backend.fetchNextRequest()).toBeUndefined()
    await expect(backend.addBatchOfRequests([request(2)])).rejects.toThrow('the queue is closed')
    await expect(backend.drop()).rejects.toThrow('the queue is closed')
  })

  it.skipIf(missing)(
    'refuses an invalid URL with the whole batch; purge forgets everything, drop ends it',
    async () => {
      const backend = await SieveQueueBackend.open(await options())
      await expect(
        backend.addBatchOfRequests([request('a'), { url: 'nope', uniqueKey: 'nope' }]),
      ).rejects.toThrow('expected an absolute URL with http or https')
      expect(await backend.fetchNextRequest()).toBeUndefined()
      await backend.addBatchOfRequests([request('a'), request('b')])
      await backend.markRequestAsHandled((await backend.fetchNextRequest())!)
      await backend.purge()
      expect(await backend.getMetadata()).toMatchObject({ totalRequestCount: 0, handledRequestCount: 0 })
      const { processedRequests } = await backend.addBatchOfRequests([request('a')])
      expect(processedRequests[0]).toMatchObject({ wasAlreadyPresent: false, wasAlreadyHandled: false })
      await backend.drop()
      await expect(backend.getMetadata()).rejects.toThrow('the queue is closed')
    },
  )
})

it('continues a folder of SieveQueue, and SieveQueue one of its own', async () => {
  const folder = newFolder()
  const queue = await SieveQueue.open({ folder })
  await queue.addRequests([page('a'), { url: page('b'), uniqueKey: 'mine', userData: { label: 'deep' } }])
  await queue.close()
  const backend = await SieveQueueBackend.open({ folder })
  const again = await backend.addBatchOfRequests([request('a'), request('c')])
  expect(again.processedRequests.map(({ wasAlreadyPresent }) => wasAlreadyPresent)).toEqual([true, false])
  await backend.markRequestAsHandled((await backend.fetchNextRequest())!)
  await backend.close()
  const last = await SieveQueue.open({ folder })
  const urls: unknown[] = []
  for await (const { url, uniqueKey, label } of last) urls.push([url, uniqueKey, label])
  expect(urls).toEqual([
    [page('b'), 'mine', 'deep'],
    [page('c'), page('c'), undefined],
  ])
  await last.close()
})

it('purge is refused when the sieve that was given cannot be cleared', async () => {
  const sieve = await Sieve.create({ profile: 'crawlee' })
  const backend = await SieveQueueBackend.open({ sieve: { addMany: (urls) => sieve.addMany(urls) } })
  await expect(backend.purge()).rejects.toThrow('purge: the sieve that was given has no clear()')
  await backend.close()
})
