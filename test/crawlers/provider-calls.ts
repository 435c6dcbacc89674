// The calls of a crawl to any request queue of Crawlee 3, and all that they return.
import { Request, type RequestProvider } from '@crawlee/core'

const page = (name: string | number) => `https://example.com/${name}`

/** What both kinds of queue answer alike; `forefront` of a handled request is Crawlee's cache. */
const shown = (info: unknown) => {
  const { requestId, uniqueKey, wasAlreadyPresent, wasAlreadyHandled } = info as Record<string, unknown>
  return { requestId, uniqueKey, wasAlreadyPresent, wasAlreadyHandled }
}

/** Runs the calls of a crawl and returns all answers. */
export async function answersOf(queue: RequestProvider): Promise<unknown[]> {
  const found: unknown[] = []
  const report = (...values: unknown[]) => void found.push(...values)
  report(shown(await queue.addRequest({ url: page('a') })))
  report(shown(await queue.addRequest({ url: `${page('a')}#top` })))
  const { processedRequests, unprocessedRequests } = await queue.addRequests([
    page('b'),
    { url: page('c'), userData: { label: 'deep' } },
    new Request({ url: page('form'), method: 'POST', payload: 'p', useExtendedUniqueKey: true }),
    { url: page('d'), uniqueKey: 'my own' },
  ])
  report(processedRequests.map(shown), unprocessedRequests)
  report(shown(await queue.addRequest({ url: page('first') }, { forefront: true })))
  const batch = await queue.addRequests([1, 2, 3].map(page), { forefront: true })
  report(batch.processedRequests.map(shown))
  const batched = await queue.addRequestsBatched([4, 5].map(page), { forefront: true })
  report(batched.addedRequests.map(shown), await batched.waitForAllRequestsToBeAdded)
  report([queue.getTotalCount(), queue.getPendingCount(), await queue.handledCount()])
  const { totalRequestCount, handledRequestCount, pendingRequestCount } = (await queue.getInfo())!
  report({ totalRequestCount, handledRequestCount, pendingRequestCount })
  report(await queue.getRequest('none'))
  for (let n = 0; ; n++) {
    const request = await queue.fetchNextRequest()
    if (!request) break
    const { id, url, uniqueKey, method, payload, userData, label } = request
    report({ id, url, uniqueKey, method, payload, userData: { ...userData }, label })
    const same = await queue.getRequest(id!)
    report([same?.id, same?.url, same?.uniqueKey])
    report(await queue.isFinished())
    if (n === 1) {
      request.retryCount++
      report(shown(await queue.reclaimRequest(request, { forefront: true })))
    } else report(shown(await queue.markRequestHandled(request)), typeof request.handledAt)
  }
  report(await queue.isEmpty(), await queue.isFinished(), await queue.handledCount(), queue.getPendingCount())
  return found
}

/** A request that is handled already when it is added: it is seen and counted, and not given out. */
export async function handledAnswersOf(queue: RequestProvider): Promise<unknown[]> {
  const done = new Request({ url: page('done'), handledAt: '2026-01-02T03:04:05.000Z' })
  const first = shown(await queue.addRequest(done))
  const again = (await queue.addRequest({ url: page('done') })).wasAlreadyPresent
  const { totalRequestCount, handledRequestCount, pendingRequestCount } = (await queue.getInfo())!
  const counts = { totalRequestCount, handledRequestCount, pendingRequestCount }
  return [first, again, counts, await queue.fetchNextRequest(), await queue.isFinished()]
}
