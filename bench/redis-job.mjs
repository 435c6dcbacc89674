// What a job costs: a RedisSieve with and without one, in alternating order. `node bench/redis-job.mjs [URLS] [ROUNDS]`; defaults
// 400,000 and 5. Each batch is confirmed while the next is under way; the memory of tentative marks is that of a run without confirming.

import { builtFile } from './programs.mjs'
import { startRedis } from './redis-servers.mjs'
import { figure, table } from './table.mjs'
import { maxUrlBytes, UrlWriter } from './urls.mjs'

const { CallMetrics, RedisSieve } = await import(builtFile('redis/index.js'))
const [count = 400_000, rounds = 5] = process.argv.slice(2).map(Number)
const batchUrls = 1000
const ways = ['without a job', 'with a job, confirmed', 'with a job, not confirmed']

const writer = new UrlWriter(1)
const bytes = Buffer.alloc(maxUrlBytes)
const urls = Array.from({ length: count }, (_, i) => bytes.toString('latin1', 0, writer.write(i, bytes, 0)))

const places = [
  { place: 'one node', nodes: 1 },
  { place: 'cluster of three', nodes: 3 },
]
const samples = []
for (let round = 0; round < rounds; round++) {
  for (const { place, nodes } of places) {
    for (const way of round % 2 ? ways.toReversed() : ways)
      samples.push({ place, way, ...(await measured(way, nodes)) })
  }
}

async function measured(way, nodes) {
  const redis = await startRedis(nodes)
  try {
    const metrics = new CallMetrics()
    const job = way === ways[0] ? {} : { job: 'bench' }
    const sieve = await RedisSieve.open({ client: redis.client, name: 'bench', metrics, ...job })
    const before = await redis.counters()
    const pass = async () => {
      const [calls, cpu, start] = [metrics.counts().calls, process.cpuUsage(), performance.now()]
      const server = (await redis.counters()).cpuSeconds
      let confirming = Promise.resolve()
      for (let from = 0; from < count; from += batchUrls) {
        const verdicts = await sieve.addMany(urls.slice(from, from + batchUrls))
        if (way !== ways[1]) continue
        await confirming
        confirming = sieve.confirm(sieve.ticket(verdicts))
      }
      await confirming
      const seconds = (performance.now() - start) / 1000
      const { user, system } = process.cpuUsage(cpu)
      return {
        speed: count / seconds,
        server: (((await redis.counters()).cpuSeconds - server) * 1e6) / count,
        client: (user + system) / count,
        calls: ((metrics.counts().calls - calls) * batchUrls) / count,
      }
    }
    const fresh = await pass()
    const memory = ((await redis.counters()).memoryBytes - before.memoryBytes) / count
    const seen = await pass()
    await sieve.close()
    return { fresh, seen, memory }
  } finally {
    await redis.stop()
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const rows = places.flatMap(({ place }) =>
  ways.map((way) => {
    const of = (value) => median(samples.filter((one) => one.place === place && one.way === way).map(value))
    const values = [
      of(({ fresh }) => fresh.speed / 1000),
      of(({ seen }) => seen.speed / 1000),
      of(({ fresh }) => fresh.server),
      of(({ fresh }) => fresh.client),
      of(({ fresh }) => fresh.calls),
      of(({ memory }) => memory),
    ]
    return [`${place}, ${way}`, ...values.map(figure)]
  }),
)
const titles = [
  '',
  'new k/s',
  'seen k/s',
  'server µs, new',
  'client µs, new',
  'calls per batch',
  'bytes per URL',
]
process.stdout.write(
  `${count.toLocaleString('en-US')} URLs in batches of ${batchUrls}, medians of ${rounds} rounds\n\n${table(titles, rows)}\n`,
)
