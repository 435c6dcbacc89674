// From one machine to the size of the web: what a number of URLs costs on a Redis cluster in memory, network, nodes and
// failures, from the measured cost of one URL; and a simulation of crawlers and nodes. docs/scale.md has its results.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const help = `usage: node scripts/scale.mjs [options]
  --results FILE      measured costs, from node bench/redis.mjs; default: those of docs/scale.md
  --urls LIST         distinct URLs, with commas (default 1e9,1e10,1e11)
  --repeats SHARE     share of the links that were seen before (default 0.9)
  --links RATE        links per second, of all crawlers together (default 1e6)
  --node-memory GB    of one Redis process (default 16)
  --replicas N        of each primary (default 1)
  --lag MS            by which a replica is behind (default 10)
  --retry MS          retryMs of the sieve, how long a call goes on (default 30000, at most 60000)
  --costs             print the costs that are used, as JSON, and nothing else
  --simulate          also simulate crawlers and nodes
`

/** Medians of a run of bench/redis.mjs, a cluster of three on two idle cores: see docs/scale.md. */
const measured = {
  bytesPerUrl: 10.3,
  serverMicrosNew: 4.46,
  serverMicrosSeen: 3.68,
  serverCallMicros: 11.7,
  clientMicros: 2.01,
  clientCallMicros: 3.5,
  sentBytes: 14.8,
  answerBytes: 1.3,
  replicationBytesNew: 75.9,
  replicationBytesSeen: 2.3,
  movedUrlsPerSecond: 1e6,
}

/** The share of a node's memory for URLs: the rest is for growth, buffers and the copy of a snapshot. */
const usableShare = 0.6
/** The planned share of a node's processor time. */
const busyShare = 0.5
const leastPrimaries = 3
const tagsPerPrimary = 32
/** Most tags of a sieve, and URLs per tag that a batch is sent in: src/redis/parameters.ts and redis-sieve.ts. */
const mostTags = 16_384
const urlsPerCall = 32
/** Seconds until calls succeed again with cluster-node-timeout 5000: docs/cluster.md, "Set-up". */
const failoverSeconds = 11

function costsOf(file) {
  if (file === undefined) return measured
  const records = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const costs = records.find(({ type }) => type === 'costs')
  const samples = records.filter(
    ({ type, form, place }) =>
      type === 'sample' && place === 'cluster of three' && form === 'fingerprint (kept)',
  )
  if (!costs || samples.length === 0) throw new Error(`${file}: expected the results of bench/redis.mjs`)
  const median = (value) => samples.map(value).sort((a, b) => a - b)[Math.floor(samples.length / 2)]
  return {
    ...costs,
    bytesPerUrl: median((one) => one.bytesPerUrl),
    serverMicrosNew: median((one) => one.fresh.serverMicros),
    serverMicrosSeen: median((one) => one.seen.serverMicros),
    clientMicros: median((one) => one.fresh.clientMicros),
    sentBytes: median((one) => one.fresh.inBytes),
    answerBytes: median((one) => one.fresh.outBytes),
  }
}

const powerOfTwo = (n) => 2 ** Math.ceil(Math.log2(n))

/** All that follows from a number of URLs. */
export function plan(urls, costs, { repeats, links, nodeMemoryBytes, replicas, lagMs, retryMs }) {
  const memoryBytes = urls * costs.bytesPerUrl
  const micros = (1 - repeats) * costs.serverMicrosNew + repeats * costs.serverMicrosSeen
  const nodeUrlsPerSecond = (busyShare * 1e6) / micros
  const forMemory = Math.ceil(memoryBytes / (usableShare * nodeMemoryBytes))
  const forSpeed = Math.ceil(links / nodeUrlsPerSecond)
  const primaries = Math.max(leastPrimaries, forMemory, forSpeed)
  const tags = Math.min(mostTags, powerOfTwo(tagsPerPrimary * primaries))
  const newPerSecond = links * (1 - repeats)
  return {
    urls,
    memoryBytes,
    primaries,
    nodes: primaries * (1 + replicas),
    decidedBy: primaries === leastPrimaries ? 'the least' : forMemory >= forSpeed ? 'memory' : 'speed',
    tags,
    batchUrls: urlsPerCall * tags,
    tagBytes: memoryBytes / tags,
    /** Crawlers to the cluster, and primaries to replicas. */
    networkBytesPerSecond: links * (costs.sentBytes + costs.answerBytes),
    replicationBytesPerSecond:
      replicas * (newPerSecond * costs.replicationBytesNew + links * repeats * costs.replicationBytesSeen),
    fillSeconds: urls / newPerSecond,
    /** Pages that are never fetched because another has their fingerprint: the birthday sum. */
    lostPages: { fingerprint: urls ** 2 / 2 / 2 ** 64, compact: (urls * 192) / 2 ** 32 / 2 },
    loss: {
      /** With a replica: what it had not received. Without: all of the node. */
      urlsWithReplica: (newPerSecond / primaries) * (lagMs / 1000),
      urlsWithout: urls / primaries,
      waitingLinks: (links / primaries) * failoverSeconds,
      copySeconds: urls / primaries / costs.movedUrlsPerSecond,
    },
    /** An additional primary: an equal share moves to it, one tag at a time. */
    reshard: {
      urls: urls / (primaries + 1),
      seconds: urls / (primaries + 1) / costs.movedUrlsPerSecond,
      tagSeconds: urls / tags / costs.movedUrlsPerSecond,
      /** Calls to a moving tag wait for it, and fail when that takes longer. */
      isPastRetry: urls / tags / costs.movedUrlsPerSecond > retryMs / 1000,
    },
  }
}

const si = (value, unit = '') => {
  const steps = [
    [1e15, 'P'],
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ]
  const [size, letter] = steps.find(([step]) => value >= step) ?? [1, '']
  const number = value / size
  return `${number >= 100 || (size === 1 && Number.isInteger(number)) ? Math.round(number) : Number(number.toPrecision(2))} ${letter}${unit}`.trim()
}

const time = (seconds) => {
  if (seconds < 90) return `${Number(seconds.toPrecision(2))} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} d`
}

function report(plans, costs, { replicas, repeats, links, lagMs, retryMs, nodeMemoryBytes }) {
  const rows = [
    ['URLs', (p) => p.urls.toExponential(0).replace('+', '')],
    ['memory for them', (p) => si(p.memoryBytes, 'B')],
    ['primaries', (p) => `${p.primaries} (${p.decidedBy})`],
    [`nodes with ${replicas} replica${replicas === 1 ? '' : 's'} each`, (p) => String(p.nodes)],
    ['tags', (p) => String(p.tags)],
    [`URLs per batch, for ${urlsPerCall} per call`, (p) => si(p.batchUrls)],
    ['memory of a tag, moved as a whole', (p) => si(p.tagBytes, 'B')],
    ['crawlers ↔ cluster', (p) => si(p.networkBytesPerSecond, 'B/s')],
    ['primaries → replicas', (p) => si(p.replicationBytesPerSecond, 'B/s')],
    ['time until all are new', (p) => time(p.fillSeconds)],
    ['pages lost, fingerprint', (p) => String(Number(p.lostPages.fingerprint.toPrecision(2)))],
    ['pages lost, compact', (p) => si(p.lostPages.compact)],
    ['a primary lost: new again', (p) => `${si(Math.ceil(p.loss.urlsWithReplica))} URLs`],
    ['… without a replica', (p) => `${si(p.loss.urlsWithout)} URLs`],
    [`… links that wait ${failoverSeconds} s`, (p) => si(p.loss.waitingLinks)],
    ['… copy to a new replica', (p) => time(p.loss.copySeconds)],
    ['one primary more: URLs to move', (p) => si(p.reshard.urls)],
    ['… takes', (p) => time(p.reshard.seconds)],
    ['… a tag waits for', (p) => `${p.reshard.isPastRetry ? '! ' : ''}${time(p.reshard.tagSeconds)}`],
  ]
  const cells = rows.map(([name, value]) => [name, ...plans.map(value)])
  const widths = cells[0].map((_, i) => Math.max(...cells.map((row) => row[i].length)))
  const lines = cells.map((row) =>
    row.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join('  '),
  )
  lines.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '))
  return [
    `${si(links)} links per second, ${100 * repeats} % of them repeats; replicas ${lagMs} ms behind`,
    `a node of ${si(nodeMemoryBytes, 'B')}, ${100 * usableShare} % filled, holds ${si((usableShare * nodeMemoryBytes) / costs.bytesPerUrl)} URLs`,
    '',
    ...lines,
    ...(plans.some(({ reshard }) => reshard.isPastRetry)
      ? [
          '',
          `! longer than retryMs (${retryMs / 1000} s): calls to that tag fail meanwhile. Use more tags, or stop the crawl for the move.`,
        ]
      : []),
  ].join('\n')
}

/**
 * Crawlers that each have one batch under way, and nodes that answer one call after the other. Times in seconds; a
 * node's queue is the moment at which it is free again.
 */
export function simulate({ crawlers, primaries, tags, batchUrls, rttSeconds, seconds, repeats }, costs) {
  const freeAt = new Float64Array(primaries)
  const busy = new Float64Array(primaries)
  const ready = new Float64Array(crawlers)
  const callsPerBatch = tags * (1 - (1 - 1 / tags) ** batchUrls)
  const urlSeconds =
    ((1 - repeats) * costs.serverMicrosNew + repeats * costs.serverMicrosSeen - costs.serverCallMicros / 31) /
    1e6
  const work = (batchUrls * urlSeconds + (callsPerBatch * costs.serverCallMicros) / 1e6) / primaries
  const prepare = (batchUrls * costs.clientMicros) / 1e6
  let done = 0
  for (;;) {
    let crawler = 0
    for (let i = 1; i < crawlers; i++) if (ready[i] < ready[crawler]) crawler = i
    const sent = ready[crawler] + prepare
    if (sent > seconds) break
    let last = 0
    for (let node = 0; node < primaries; node++) {
      const start = Math.max(freeAt[node], sent + rttSeconds / 2)
      freeAt[node] = start + work
      busy[node] += work
      last = Math.max(last, freeAt[node])
    }
    ready[crawler] = last + rttSeconds / 2
    if (ready[crawler] <= seconds) done += batchUrls
  }
  return { urlsPerSecond: done / seconds, busy: Math.min(1, busy[0] / seconds) }
}

function simulation(costs, repeats) {
  const lines = [`simulated: batches of ${urlsPerCall} URLs per call, round trip 0.5 ms, 60 s`, '']
  lines.push('primaries  crawlers  links/s    busy')
  for (const primaries of [1, 3, 12, 48]) {
    for (const crawlers of [1, 4 * primaries, 16 * primaries]) {
      const tags = Math.min(mostTags, powerOfTwo(tagsPerPrimary * primaries))
      const shape = {
        crawlers,
        primaries,
        tags,
        batchUrls: urlsPerCall * tags,
        rttSeconds: 5e-4,
        seconds: 60,
        repeats,
      }
      const { urlsPerSecond, busy } = simulate(shape, costs)
      const cells = [
        String(primaries).padStart(9),
        String(crawlers).padStart(8),
        si(urlsPerSecond).padStart(7),
        `${Math.round(100 * busy)} %`.padStart(6),
      ]
      lines.push(cells.join('  '))
    }
  }
  return lines.join('\n')
}

function main() {
  const { values } = parseArgs({
    options: {
      results: { type: 'string' },
      urls: { type: 'string', default: '1e9,1e10,1e11' },
      repeats: { type: 'string', default: '0.9' },
      links: { type: 'string', default: '1e6' },
      'node-memory': { type: 'string', default: '16' },
      replicas: { type: 'string', default: '1' },
      lag: { type: 'string', default: '10' },
      retry: { type: 'string', default: '30000' },
      costs: { type: 'boolean', default: false },
      simulate: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return help
  const costs = costsOf(values.results)
  if (values.costs) return `${JSON.stringify(costs, null, 2)}\n`
  const settings = {
    repeats: Number(values.repeats),
    links: Number(values.links),
    nodeMemoryBytes: Number(values['node-memory']) * 1e9,
    replicas: Number(values.replicas),
    lagMs: Number(values.lag),
    retryMs: Math.min(60_000, Number(values.retry)),
  }
  const plans = values.urls.split(',').map((urls) => plan(Number(urls), costs, settings))
  const parts = [report(plans, costs, settings)]
  if (values.simulate) parts.push(simulation(costs, settings.repeats))
  return `${parts.join('\n\n')}\n`
}

if (process.argv[1] === new URL(import.meta.url).pathname) process.stdout.write(main())
