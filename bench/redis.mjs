// URLs on Redis, one node and a cluster of three, in one run: urlsieve/redis with batches of 1,000 against one SADD for
// each URL, pipelined through the same client, and against the other forms that were weighed. `--help` lists options.

import { parseArgs } from 'node:util'
import { missingBuild, missingProgram, programVersion } from './programs.mjs'
import { forms as allForms, sieve } from './redis-forms.mjs'
import { startNode, startRedis, startServe } from './redis-servers.mjs'
import { ResultsFile } from './results.mjs'
import { figure, table, times } from './table.mjs'
import { generatorVersion, maxUrlBytes, UrlWriter } from './urls.mjs'

const help = `usage: node bench/redis.mjs [options]
  --urls N     distinct URLs (default 1000000)
  --rounds N   of each form, in alternating order (default 3)
  --seed N     of the URLs (default 1)
  --kept       only SADD, BF.MADD and what urlsieve/redis does
  --only A,B   only SADD and the forms whose names contain one of these
  --module F   redisbloom.so or libvalkey_bloom.so, for BF.MADD
  --quick      100,000 URLs, one round: does it work?
`
const batchUrls = 1000
const places = [
  { place: 'one node', nodes: 1, isCluster: false },
  { place: 'cluster of one', nodes: 1, isCluster: true },
  { place: 'cluster of three', nodes: 3, isCluster: true },
]
const bounds = { speed: 3, memory: 1 / 10, flat: 1.25 }

export async function benchRedis(args) {
  const settings = settingsOf(args)
  if (settings.help) return void process.stdout.write(help)
  const missing = missingProgram('redis-server') ?? missingBuild('redis/index.js')
  if (missing) throw new Error(missing)
  const { urls: count, rounds, seed, forms } = settings
  const command = ['node bench/redis.mjs', ...args].join(' ')
  const redis = programVersion?.('redis-server')
  const results = new ResultsFile({
    command,
    urls: count,
    seed,
    rounds,
    generatorVersion,
    ...(redis && { redis }),
  })
  const urls = urlsOf(seed, count)
  const samples = []
  for (let round = 0; round < rounds; round++) {
    for (const place of round % 2 ? places.toReversed() : places) {
      for (const form of round % 2 ? forms.toReversed() : forms) {
        if (!canRun(form, place, settings)) continue
        const sample = { form: form.name, ...place, round, ...(await measured(form, place, urls, settings)) }
        samples.push(sample)
        results.write({ type: 'sample', ...sample })
      }
    }
  }
  const some = urls.slice(0, Math.min(count, 200_000))
  const costs = { ...(await wireBytes(some)), ...(await callMicros(some)), ...(await moveSpeed(some)) }
  results.write({ type: 'costs', ...costs })
  process.stdout.write(`${report(samples, costs, settings)}\n`)
}

function settingsOf(args) {
  const { values } = parseArgs({
    args,
    options: {
      urls: { type: 'string' },
      rounds: { type: 'string' },
      seed: { type: 'string', default: '1' },
      kept: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      module: { type: 'string' },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  return {
    help: values.help,
    urls: Number(values.urls ?? (values.quick ? 100_000 : 1_000_000)),
    rounds: Number(values.rounds ?? (values.quick ? 1 : 3)),
    seed: Number(values.seed),
    module: values.module,
    forms: allForms.filter(({ name, isKept, isRival }, i) =>
      values.only
        ? i === 0 || values.only.split(',').some((text) => name.includes(text))
        : !values.kept || isKept || isRival,
    ),
  }
}

function urlsOf(seed, count) {
  const writer = new UrlWriter(seed)
  const bytes = Buffer.alloc(maxUrlBytes)
  return Array.from({ length: count }, (_, i) => bytes.toString('latin1', 0, writer.write(i, bytes, 0)))
}

/** BF.* is measured on one node: a filter is one key. */
const canRun = ({ needs }, { isCluster }, { module }) =>
  needs === undefined || (!isCluster && (needs === 'serve' || module !== undefined))

/** Adds all URLs as new ones, then all again. */
async function measured({ open, needs }, { nodes, isCluster }, urls, { module }) {
  const redis =
    needs === 'serve'
      ? await startServe()
      : await startRedis(nodes, isCluster, needs === 'module' ? module : undefined)
  let add
  try {
    add = await open(redis, urls.length)
    await redis.counters()
    const before = await redis.counters()
    const fresh = await pass(redis, add, urls)
    const after = await redis.counters()
    const seen = await pass(redis, add, urls)
    const bytesPerUrl = (after.memoryBytes - before.memoryBytes) / urls.length
    return { fresh, seen, bytesPerUrl }
  } finally {
    add?.close?.()
    await redis.stop()
  }
}

async function pass(redis, add, urls) {
  const before = await redis.counters()
  const cpu = process.cpuUsage()
  const start = performance.now()
  let fresh = 0
  for (let from = 0; from < urls.length; from += batchUrls) {
    for (const verdict of await add(urls.slice(from, from + batchUrls))) fresh += verdict
  }
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const after = await redis.counters()
  return {
    fresh,
    urlsPerSecond: urls.length / seconds,
    serverMicros: ((after.cpuSeconds - before.cpuSeconds) * 1e6) / urls.length,
    clientMicros: (user + system) / urls.length,
    inBytes: (after.inBytes - before.inBytes) / urls.length,
    outBytes: (after.outBytes - before.outBytes) / urls.length,
  }
}

/** What a URL costs on the way to a replica, new and seen. */
async function wireBytes(urls) {
  const redis = await startRedis(1)
  const replica = await startNode(['--replicaof', `127.0.0.1 ${redis.nodes[0].port}`])
  try {
    while (!/master_link_status:up/.test(String(await replica.admin.sendCommand(['INFO', 'replication']))));
    const add = await sieve({})(redis)
    const offsets = []
    for (let i = 0; i < 3; i++) {
      offsets.push((await redis.counters()).replicationBytes)
      if (i < 2) await pass(redis, add, urls)
    }
    const bytes = (i) => (offsets[i] - offsets[i - 1]) / urls.length
    return { replicationBytesNew: bytes(1), replicationBytesSeen: bytes(2) }
  } finally {
    replica.stop()
    await redis.stop()
  }
}

/** What a call costs besides its URLs: the same URLs through few tags and through many. */
async function callMicros(urls) {
  const costs = []
  for (const tags of [8, 256]) {
    const redis = await startRedis(1)
    const add = await sieve({ tags, expectedUrls: urls.length })(redis)
    await pass(redis, add, urls)
    const { serverMicros, clientMicros } = await pass(redis, add, urls)
    const callsPerUrl = (tags * (1 - (1 - 1 / tags) ** batchUrls)) / batchUrls
    costs.push({ serverMicros, clientMicros, callsPerUrl })
    await redis.stop()
  }
  const [few, many] = costs
  const perCall = (side) => Math.max(0, (many[side] - few[side]) / (many.callsPerUrl - few.callsPerUrl))
  return { serverCallMicros: perCall('serverMicros'), clientCallMicros: perCall('clientMicros') }
}

/** How fast a slot with one tag's URLs moves to another node, while nothing else happens. */
async function moveSpeed(urls) {
  const redis = await startRedis(3)
  try {
    const tags = 4
    const add = await sieve({ tags })(redis)
    await pass(redis, add, urls)
    const [from, to] = redis.nodes
    const ids = await Promise.all([from, to].map(({ admin }) => admin.sendCommand(['CLUSTER', 'MYID'])))
    const slot = String(16384 / tags / 2)
    const keys = Number(await from.admin.sendCommand(['CLUSTER', 'COUNTKEYSINSLOT', slot]))
    const start = performance.now()
    await to.admin.sendCommand(['CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[0]])
    await from.admin.sendCommand(['CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[1]])
    for (;;) {
      const some = await from.admin.sendCommand(['CLUSTER', 'GETKEYSINSLOT', slot, '100'])
      if (some.length === 0) break
      await from.admin.sendCommand([
        'MIGRATE',
        '127.0.0.1',
        String(to.port),
        '',
        '0',
        '5000',
        'KEYS',
        ...some,
      ])
    }
    for (const { admin } of [to, from]) await admin.sendCommand(['CLUSTER', 'SETSLOT', slot, 'NODE', ids[1]])
    const seconds = (performance.now() - start) / 1000
    return { movedKeys: keys, movedUrlsPerSecond: urls.length / tags / seconds }
  } finally {
    await redis.stop()
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

function report(samples, costs, { urls, rounds, forms }) {
  const of = (form, place, value) =>
    median(samples.filter((one) => one.form === form && one.place === place).map(value))
  const [rival] = allForms
  const rows = []
  for (const { place } of places) {
    for (const form of forms) {
      const { name } = form
      if (!samples.some((one) => one.form === name && one.place === place)) continue
      const speed = (phase) => of(name, place, (one) => one[phase].urlsPerSecond)
      const ratio = (phase) => speed(phase) / of(rival.name, place, (one) => one[phase].urlsPerSecond)
      rows.push([
        `${place}: ${name}`,
        figure(speed('fresh') / 1000),
        times(ratio('fresh')),
        figure(speed('seen') / 1000),
        times(ratio('seen')),
        figure(of(name, place, (one) => one.fresh.serverMicros)),
        figure(of(name, place, (one) => one.seen.serverMicros)),
        figure(of(name, place, (one) => one.fresh.clientMicros)),
        figure(of(name, place, (one) => one.bytesPerUrl)),
        figure(of(name, place, (one) => one.fresh.inBytes)),
        form.rate ? (form.rate(urls) === 0 ? 'exact' : form.rate(urls).toExponential(1)) : '',
        String(of(name, place, (one) => urls - one.fresh.fresh)),
      ])
    }
  }
  const titles = [
    '',
    'new k/s',
    '',
    'seen k/s',
    '',
    'server µs new',
    'seen',
    'client µs',
    'bytes/URL',
    'sent bytes',
    'error rate',
    'wrong',
  ]
  return [
    `${urls.toLocaleString('en-US')} URLs in batches of ${batchUrls}, medians of ${rounds}; µs are processor time a URL`,
    '',
    table(titles, rows),
    '',
    `to a replica: ${figure(costs.replicationBytesNew)} bytes for a new URL, ${figure(costs.replicationBytesSeen)} for a seen one`,
    `a call besides its URLs: ${figure(costs.serverCallMicros)} µs on the server, ${figure(costs.clientCallMicros)} µs at the client`,
    `a slot moves at ${figure(costs.movedUrlsPerSecond / 1000)} k URLs/s`,
    '',
    'Must show:',
    ...forms.filter(({ isKept }) => isKept).flatMap(({ name }) => shown(name, of)),
  ].join('\n')
}

function shown(name, of) {
  const [rival] = allForms
  const lines = []
  const line = (what, value, holds, bound) =>
    lines.push(`  ${holds ? 'yes' : 'NO '}  ${name}: ${what} ${value} (${bound})`)
  for (const { place } of places) {
    const speed = (form) => of(form, place, (one) => one.fresh.urlsPerSecond)
    const ratio = speed(name) / speed(rival.name)
    line(`speed on ${place}`, times(ratio), ratio >= bounds.speed, `at least ${bounds.speed}× SADD`)
    const bytes = of(name, place, (one) => one.bytesPerUrl) / of(rival.name, place, (one) => one.bytesPerUrl)
    line(`memory on ${place}`, `1/${figure(1 / bytes)}`, bytes <= bounds.memory, 'at most 1/10 of SADD')
  }
  const cost = (place) => of(name, place, (one) => one.fresh.serverMicros + one.fresh.clientMicros)
  const growth = cost('cluster of three') / cost('cluster of one')
  line(
    'processor time a URL, three nodes to one',
    times(growth),
    growth <= bounds.flat,
    `flat: at most ${bounds.flat}×`,
  )
  return lines
}

await benchRedis(process.argv.slice(2))
