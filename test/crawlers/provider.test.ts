// SieveQueue as a RequestProvider of Crawlee 3: the same calls to it and to Crawlee's own queue get the same answers.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Configuration, LogLevel, log, Request, RequestProvider, RequestQueue } from '@crawlee/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SieveQueue } from '../../src/crawlers/crawlee.ts'
import { newFolders } from '../support/folders.ts'
import { answersOf, handledAnswersOf } from './provider-calls.ts'

const newFolder = newFolders()
const page = (name: string | number) => `https://example.com/${name}`

let origin = ''
const server = createServer((_, response) => response.end(`${page('x')}\n${page('y')} and ${page('x')}\n`))
beforeAll(async () => {
  log.setLevel(LogLevel.OFF)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

let queues = 0
const openCrawlees = () =>
  RequestQueue.open(`own-${queues++}`, { config: new Configuration({ persistStorage: false }) })

describe.each([
  ['in memory', () => ({})],
  ['on disk', () => ({ folder: newFolder() })],
])('%s', (_, options) => {
  it('answers as Crawlee’s own queue does', async () => {
    const queue = await SieveQueue.open(options())
    const own = await openCrawlees()
    const found = await answersOf(queue)
    expect(found).toEqual(await answersOf(own))
    expect(found.length).toBeGreaterThan(40)
    await queue.close()
    await own.drop()
  })

  it('takes a request that is handled already as Crawlee’s own queue does', async () => {
    const queue = await SieveQueue.open(options())
    const own = await openCrawlees()
    expect(await handledAnswersOf(queue)).toEqual(await handledAnswersOf(own))
    await queue.close()
    await own.drop()
  })

  it('is a RequestProvider with every method of Crawlee’s own queue', async () => {
    const queue = await SieveQueue.open(options())
    expect(queue).toBeInstanceOf(RequestProvider)
    for (const name of Object.getOwnPropertyNames(RequestProvider.prototype)) {
      expect(typeof Reflect.get(queue, name), name).toBe('function')
    }
    const urls: string[] = []
    await queue.addRequests([page(1), page(2)])
    for await (const request of queue) urls.push(request.url)
    expect(urls).toEqual([page(1), page(2)])
    await expect(queue.client.listHead()).rejects.toThrow('a SieveQueue has no storage client')
    await queue.close()
  })

  it('finds requests by id: pending, in progress, not the handled ones', async () => {
    const queue = await SieveQueue.open(options())
    await queue.addRequests(Array.from({ length: 30 }, (_, i) => page(i)))
    const first = (await queue.fetchNextRequest())!
    const { requestId } = await queue.addRequest({ url: page(17) })
    expect(await queue.getRequest(requestId)).toMatchObject({ id: requestId, url: page(17) })
    expect(await queue.getRequest(first.id!)).toBe(first)
    await queue.reclaimRequest(first)
    expect(await queue.getRequest(first.id!)).toMatchObject({ url: page(0) })
    const second = (await queue.fetchNextRequest())!
    // A request that was made again from its data is known by its id.
    expect(await queue.markRequestHandled(new Request({ ...second, id: second.id! }))).not.toBeNull()
    expect(await queue.getRequest(second.id!)).toBeNull()
    expect(await queue.markRequestHandled(second)).toBeNull()
    expect(queue.getPendingCount()).toBe(29)
    await queue.close()
  })

  it('adds the lists behind requestsFromUrl', async () => {
    const queue = await SieveQueue.open(options())
    const own = await openCrawlees()
    for (const each of [queue, own]) {
      const info = await each.addRequest({ requestsFromUrl: `${origin}/list`, userData: { from: 'list' } })
      expect(info).toMatchObject({ uniqueKey: page('x'), wasAlreadyPresent: false })
      await each.addRequests([page('a'), { requestsFromUrl: `${origin}/list` }])
      const request = (await each.fetchNextRequest())!
      expect([request.url, request.userData.from, each.getTotalCount()]).toEqual([page('x'), 'list', 3])
    }
    await queue.close()
    await own.drop()
  })

  it('refuses an invalid URL with one error, and adds nothing of the array', async () => {
    const queue = await SieveQueue.open(options())
    const error = 'expected an absolute URL with http or https'
    for (const url of ['', 'nope', '/a', 'ftp://example.com/', 'http://', 'mailto:a@example.com']) {
      await expect(queue.addRequest({ url })).rejects.toThrow(error)
      await expect(queue.addRequests([page('a'), url])).rejects.toThrow(error)
      await expect(queue.addRequestsBatched([page('a'), { url }])).rejects.toThrow(error)
    }
    await expect(queue.addRequest({})).rejects.toMatchObject({ code: 'option', option: 'url' })
    expect(queue.stats()).toMatchObject({ offered: 0, pending: 0 })
    await queue.close()
  })
})

it('drop deletes what it stored, and nothing else', async () => {
  const folder = newFolder()
  const queue = await SieveQueue.open({ folder })
  await queue.addRequests([page(1), page(2)])
  mkdirSync(`${folder}/pages`)
  writeFileSync(`${folder}/pages/1.html`, 'mine')
  await queue.drop()
  expect(readdirSync(folder)).toEqual(['pages'])
  for (const call of [
    () => queue.fetchNextRequest(),
    () => queue.addRequest({ url: page(1) }),
    () => queue.drop(),
  ]) {
    await expect(call()).rejects.toThrow('the queue is closed: open it again')
  }
  await queue.close()
  const again = await SieveQueue.open({ folder })
  expect(await again.addRequest({ url: page(1) })).toMatchObject({ wasAlreadyPresent: false })
  await again.close()
  expect(existsSync(`${folder}/pages/1.html`)).toBe(true)
})
