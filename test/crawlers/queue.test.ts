// SieveQueue by hand, as Crawlee uses it: order, budgets, unique keys, layers, pace, and a crash between any two steps.
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Request } from '@crawlee/core'
import { describe, expect, it } from 'vitest'
import { type SeenUrls, SieveQueue } from '../../src/crawlers/crawlee.ts'
import { Sieve } from '../../src/index.ts'
import { copyFolder } from '../store/copy.ts'
import { newFolders } from '../support/folders.ts'

const folder = newFolders()

const page = (name: string | number) => `https://example.com/${name}`
/** Takes the next request and calls it done. */
async function done(queue: SieveQueue): Promise<string | undefined> {
  const request = await queue.fetchNextRequest()
  if (request) await queue.markRequestHandled(request)
  return request?.url
}
const all = async (queue: SieveQueue) => {
  const urls: string[] = []
  for (let url = await done(queue); url; url = await done(queue)) urls.push(url)
  return urls
}

describe.each([
  ['in memory', () => ({})],
  ['on disk', () => ({ folder: folder() })],
])('%s', (_, options) => {
  it('gives each page once, in order, and says what it knew', async () => {
    const queue = await SieveQueue.open(options())
    const { addedRequests } = await queue.addRequestsBatched([page('a'), { url: page('b') }, page('a#x')])
    expect(addedRequests.map(({ wasAlreadyPresent }) => wasAlreadyPresent)).toEqual([false, false, true])
    expect(await queue.addRequest({ url: `${page('b')}?utm_source=x` })).toMatchObject({
      wasAlreadyPresent: true,
    })
    expect([queue.getTotalCount(), queue.getPendingCount(), await queue.handledCount()]).toEqual([2, 2, 0])
    expect(await all(queue)).toEqual([page('a'), page('b')])
    expect([await queue.isEmpty(), await queue.isFinished(), await queue.handledCount()]).toEqual([
      true,
      true,
      2,
    ])
    await queue.close()
  })

  it('a request in progress is neither there nor finished; it may come again', async () => {
    const queue = await SieveQueue.open(options())
    await queue.addRequests([page('a'), page('b')])
    const request = (await queue.fetchNextRequest())!
    request.retryCount = 1
    request.pushErrorMessage('no answer')
    await queue.reclaimRequest(request)
    expect(await done(queue)).toBe(page('b'))
    expect(await queue.isFinished()).toBe(false)
    const again = (await queue.fetchNextRequest())!
    expect(again).toMatchObject({ url: page('a'), retryCount: 1, errorMessages: ['no answer'] })
    expect([await queue.isEmpty(), await queue.isFinished()]).toEqual([true, false])
    await queue.reclaimRequest(again, { forefront: true })
    await queue.markRequestHandled(again)
    expect(await all(queue)).toEqual([page('a')])
    expect(await queue.isFinished()).toBe(true)
    await queue.close()
  })

  it('lets requests go to the front', async () => {
    const queue = await SieveQueue.open(options())
    await queue.addRequests([page(1), page(2)])
    expect(await queue.isEmpty()).toBe(false)
    await queue.addRequests([page(3), page(4)], { forefront: true })
    expect(await all(queue)).toEqual([page(4), page(3), page(1), page(2)])
    await queue.close()
  })

  it('keeps to a budget of new requests', async () => {
    const queue = await SieveQueue.open(options())
    await queue.addRequests([page(1)])
    const offered = [1, 2, 2, 3, 4, 5].map(page)
    const { addedRequests, requestsOverLimit } = await queue.addRequestsBatched(offered, {
      maxNewRequests: 2,
    })
    expect(addedRequests.filter(({ wasAlreadyPresent }) => !wasAlreadyPresent)).toHaveLength(2)
    expect(requestsOverLimit).toEqual([4, 5].map((n) => ({ url: page(n) })))
    await queue.close()
  })

  it('takes what comes in a stream, also more than a batch', async () => {
    const queue = await SieveQueue.open(options())
    async function* pages() {
      for (let i = 0; i < 2500; i++) yield page(i % 2000)
    }
    await queue.addRequestsBatched(pages())
    expect(queue.stats()).toEqual({
      offered: 2500,
      repeats: 500,
      inProgress: 0,
      pending: 2000,
      handled: 0,
    })
    await queue.close()
  })

  it('requests with a key of their own are told apart by it', async () => {
    const queue = await SieveQueue.open(options())
    const post = (payload: string) => ({
      url: page('form'),
      method: 'POST' as const,
      payload,
      useExtendedUniqueKey: true,
      headers: { 'content-type': 'text/plain' },
      userData: { why: 'asked' },
    })
    await queue.addRequests([page('form'), post('a'), post('b'), post('a')])
    await queue.addRequests([{ url: `${page('one')}#/route`, keepUrlFragment: true }, page('one')])
    await queue.addRequests([{ url: page('form'), uniqueKey: 'mine' }])
    expect(queue.stats()).toMatchObject({ offered: 7, repeats: 1 })
    await queue.fetchNextRequest()
    const request = (await queue.fetchNextRequest())!
    const { url, method, payload, headers, userData } = request
    expect({ url, method, payload, headers, why: userData.why }).toEqual({
      url: page('form'),
      method: 'POST',
      payload: 'a',
      headers: { 'content-type': 'text/plain' },
      why: 'asked',
    })
    await queue.close()
  })

  it('layer by layer: the next one begins when the last one has ended', async () => {
    const queue = await SieveQueue.open({ ...options(), layers: true })
    await queue.addRequests([new Request({ url: page('a'), crawlDepth: 1 }), page('b')])
    await queue.addRequests([new Request({ url: page('c'), crawlDepth: 2 })])
    const a = (await queue.fetchNextRequest())!
    const b = (await queue.fetchNextRequest())!
    expect([a.url, b.url]).toEqual([page('a'), page('b')])
    await queue.markRequestHandled(b)
    expect(await queue.fetchNextRequest()).toBeNull()
    await queue.reclaimRequest(a)
    expect(await done(queue)).toBe(page('a'))
    expect(await done(queue)).toBe(page('c'))
    await queue.close()
  })

  it('keeps a pace for each host, and looks past the one that has to wait', async () => {
    const queue = await SieveQueue.open({ ...options(), perHostPerSecond: 5 })
    await queue.addRequests([page(1), page(2), 'https://example.org/'])
    expect(await done(queue)).toBe(page(1))
    expect(await done(queue)).toBe('https://example.org/')
    expect(await queue.isEmpty()).toBe(true)
    expect(await queue.isFinished()).toBe(false)
    await new Promise((resolve) => setTimeout(resolve, 220))
    expect(await done(queue)).toBe(page(2))
    await queue.close()
  })
})

describe('a crash', () => {
  /** A sieve in memory that lets the test copy the folder before and after it marks. */
  async function watched(at: string): Promise<{ sieve: SeenUrls; copies: string[] }> {
    const inner = await Sieve.create({ profile: 'crawlee' })
    const copies: string[] = []
    const copy = () => {
      const to = folder()
      copyFolder(at, to)
      rmSync(`${to}/lock`)
      copies.push(to)
    }
    const sieve: SeenUrls = {
      hasMany: (urls) => inner.hasMany(urls),
      addMany: (urls) => {
        copy()
        const verdicts = inner.addMany(urls)
        copy()
        return verdicts
      },
    }
    return { sieve, copies }
  }

  it('before or after the sieve has marked a page: it is in the frontier, and marked on opening', async () => {
    const at = folder()
    const { sieve, copies } = await watched(at)
    const queue = await SieveQueue.open({ folder: at, sieve })
    await queue.addRequests([page('a'), page('b')])
    for (const left of copies) {
      const fresh = await Sieve.create({ profile: 'crawlee' })
      const again = await SieveQueue.open({ folder: left, sieve: fresh })
      expect([page('a'), page('b')].map((url) => fresh.has(url))).toEqual([true, true])
      expect(await again.addRequest({ url: page('a') })).toMatchObject({ wasAlreadyPresent: true })
      expect(await all(again)).toEqual([page('a'), page('b')])
      await again.close()
    }
    expect(copies).toHaveLength(2)
    await queue.close()
  })

  it('of the sieve alone: the pages are fetched rather than lost', async () => {
    const queue = await SieveQueue.open({
      sieve: {
        addMany: () => {
          throw new Error('no connection')
        },
      },
    })
    await expect(queue.addRequests([page('a')])).rejects.toThrow('no connection')
    expect(await all(queue)).toEqual([page('a')])
    await queue.close()
  })
})

describe('a sieve that is away', () => {
  /** A sieve in memory that can be cut off; `asks`: what it was asked while away. */
  async function cluster() {
    const inner = await Sieve.create({ profile: 'crawlee' })
    const state = { isAway: true, asks: 0 }
    const reach = () => {
      if (state.isAway) state.asks++
      if (state.isAway) throw new Error('no connection')
    }
    const sieve: SeenUrls = {
      async hasMany(urls) {
        reach()
        return inner.hasMany(urls)
      },
      async addMany(urls) {
        reach()
        return inner.addMany(urls)
      },
    }
    return { sieve, inner, state }
  }

  it.each([
    ['in memory', () => ({})],
    ['on disk', () => ({ folder: folder() })],
  ])('%s: what was found is written first, all batches of it', async (_, options) => {
    const { sieve } = await cluster()
    const queue = await SieveQueue.open({ ...options(), sieve })
    const found = Array.from({ length: 2500 }, (_, i) => page(i))
    await expect(queue.addRequests([page('a'), page('b')])).rejects.toThrow('no connection')
    await expect(queue.addRequests(found)).rejects.toThrow('no connection')
    await expect(queue.addRequest({ url: page('first') }, { forefront: true })).rejects.toThrow()
    expect(queue.stats()).toMatchObject({ pending: 2503, offered: 2503 })
    expect(await all(queue)).toEqual([page('first'), page('a'), page('b'), ...found])
    await queue.close()
  })

  it('is in the folder after a kill -9 in between, and marked on opening', async () => {
    const at = folder()
    const { sieve, inner, state } = await cluster()
    const queue = await SieveQueue.open({ folder: at, sieve })
    await expect(queue.addRequests([page('a'), page('b')])).rejects.toThrow('no connection')
    const copy = folder()
    copyFolder(at, copy, (path) => !path.endsWith('/lock'))
    state.isAway = false
    const again = await SieveQueue.open({ folder: copy, sieve })
    expect([page('a'), page('b')].map((url) => inner.has(url))).toEqual([true, true])
    expect(await all(again)).toEqual([page('a'), page('b')])
    await again.close()
    await queue.close()
  })

  it('once it is back: a page that was found again meanwhile is fetched once', async () => {
    const { sieve, state } = await cluster()
    const queue = await SieveQueue.open({ sieve })
    for (let time = 0; time < 3; time++) {
      await expect(queue.addRequests([page('a'), page('b')])).rejects.toThrow('no connection')
    }
    state.isAway = false
    await queue.addRequests([page('c')])
    expect(await all(queue)).toEqual([page('a'), page('b'), page('c')])
    expect(await queue.isFinished()).toBe(true)
    await queue.close()
  })

  it('a sieve that failed while it marked has perhaps marked: all are fetched', async () => {
    const { sieve, inner, state } = await cluster()
    const marks: SeenUrls = { addMany: (urls) => sieve.addMany(urls.filter((url) => inner.add(url))) }
    const queue = await SieveQueue.open({ sieve: marks })
    await expect(queue.addRequests([page('a'), page('b')])).rejects.toThrow('no connection')
    state.isAway = false
    expect(await all(queue)).toEqual([page('a'), page('b')])
    await queue.close()
  })
})

it.runIf(process.env.URLSIEVE_FULL)(
  'a million requests: memory and time to add them, and to open them again',
  async () => {
    const at = folder()
    const heapMB = () => {
      globalThis.gc?.()
      return Math.round((process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers) / 2 ** 20)
    }
    const before = heapMB()
    let started = performance.now()
    const queue = await SieveQueue.open({ folder: at })
    for (let from = 0; from < 1e6; from += 1000) {
      await queue.addRequests(Array.from({ length: 1000 }, (_, i) => page(`shop/item-${from + i}.html`)))
    }
    const added = performance.now() - started
    const after = heapMB()
    await queue.close()
    started = performance.now()
    const again = await SieveQueue.open({ folder: at })
    const first = await done(again)
    const opened = performance.now() - started
    expect(first).toBe(page('shop/item-0.html'))
    expect(again.stats()).toMatchObject({ pending: 999_999, handled: 1 })
    await again.close()
    const files = readdirSync(at, { recursive: true })
    const bytes = files.reduce((sum, file) => sum + statSync(join(at, String(file))).size, 0)
    console.log({ added, opened, heapMB: after - before, files: files.length, bytesEach: bytes / 1e6 })
    expect(files.length).toBeLessThan(50)
  },
  600_000,
)
