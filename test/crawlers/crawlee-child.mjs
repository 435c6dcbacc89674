// A crawler in a process of its own: crawls a site with Crawlee's own queue or with ours, both on disk, and says at the
// end how long it took and how much memory it had at most. `node crawlee-child.mjs LIBRARY ORIGIN FOLDER own|sieve`
import { CheerioCrawler, Configuration, LogLevel, log } from '@crawlee/cheerio'

const [, , library, origin, folder, kind] = process.argv
const started = performance.now()
log.setLevel(LogLevel.OFF)
const { SieveQueue } = await import(`${library}/crawlers/crawlee.js`)
const queue = kind === 'sieve' ? await SieveQueue.open({ folder }) : undefined
let pages = 0
const crawler = new CheerioCrawler(
  {
    ...(queue && { requestQueue: queue }),
    maxConcurrency: 8,
    autoscaledPoolOptions: { desiredConcurrency: 8, maybeRunIntervalSecs: 0.05 },
    maxRequestRetries: 0,
    async requestHandler({ response, enqueueLinks }) {
      pages++
      if (response.statusCode === 200) await enqueueLinks()
    },
  },
  new Configuration({
    persistStorage: queue === undefined,
    purgeOnStart: false,
    storageClientOptions: { localDataDirectory: folder },
  }),
)
await crawler.run([`${origin}/`])
await queue?.close()
const seconds = (performance.now() - started) / 1000
console.log(JSON.stringify({ pages, seconds, peakMB: process.resourceUsage().maxRSS / 1024 }))
process.exit()
