// A crawler in a process of its own, on a frontier and a sieve that others share: prints each URL when it has fetched it.
// `node shared-child.mjs LIBRARY ORIGIN REDIS LEASE_MS PAGES`: after PAGES pages its handlers never return.
import { writeSync } from 'node:fs'
import { CheerioCrawler, Configuration, LogLevel, log } from '@crawlee/cheerio'

const [, , library, origin, redis, leaseMs, pages] = process.argv
log.setLevel(LogLevel.OFF)
const { connectRedis, RedisFrontier, RedisSieve } = await import(`${library}/redis/index.js`)
const { SieveQueue } = await import(`${library}/crawlers/crawlee.js`)
const { client, close } = await connectRedis(redis)
const frontier = await RedisFrontier.open({ client, name: 'site', leaseMs: Number(leaseMs) })
const sieve = await RedisSieve.open({ client, name: 'site', profile: 'crawlee' })
const requestQueue = await SieveQueue.open({ frontier, sieve })
let fetched = 0
const take = async ({ url }) => {
  writeSync(1, `${url}\n`)
  if (++fetched > Number(pages)) await new Promise(() => {})
}
const crawler = new CheerioCrawler(
  {
    requestQueue,
    minConcurrency: 4,
    maxConcurrency: 4,
    autoscaledPoolOptions: { desiredConcurrency: 4, maybeRunIntervalSecs: 0.05 },
    maxRequestRetries: 0,
    async requestHandler({ request, response, enqueueLinks }) {
      await take(request)
      if (response.statusCode === 200) await enqueueLinks()
    },
    failedRequestHandler: ({ request }) => take(request),
  },
  new Configuration({ persistStorage: false }),
)
await crawler.run([`${origin}/`])
await requestQueue.close()
await close()
process.exit()
