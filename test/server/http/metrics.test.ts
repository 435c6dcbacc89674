// /metrics parses as Prometheus reads it and says what was done; health, readiness and the server itself.
import { afterEach, expect, test } from 'vitest'
import { application, defects } from './served.ts'

const { app, registry, info } = await application()
afterEach(() => expect(defects).toEqual([]))

interface Sample {
  readonly name: string
  readonly labels: Record<string, string>
  readonly value: number
}

/** The text format 0.0.4, strictly: every sample after the HELP and TYPE of its family. */
function parse(text: string): Sample[] {
  expect(text.endsWith('\n')).toBe(true)
  const types = new Map<string, string>()
  const helped = new Set<string>()
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    const help = /^# HELP ([a-zA-Z_:][\w:]*) \S/.exec(line)
    const type = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary)$/.exec(line)
    if (help) helped.add(help[1]!)
    if (type) types.set(type[1]!, type[2]!)
    if (help || type) continue
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (-?[\d.e+-]+|Nan|[+-]Inf)$/.exec(line)
    if (!sample) throw new Error(`no sample: ${line}`)
    const [, name, labels = '', value] = sample
    const family = types.has(name!) ? name! : name!.replace(/_(bucket|sum|count)$/, '')
    if (!types.has(family) || !helped.has(family)) throw new Error(`no family of ${line}`)
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"(?:,|$)/g)]
    expect(pairs.map(([pair]) => pair).join('')).toBe(labels)
    const unescaped = (text: string) => text.replaceAll(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c))
    samples.push({
      name: name!,
      labels: Object.fromEntries(pairs.map(([, key, text]) => [key!, unescaped(text!)])),
      value: Number(value),
    })
  }
  return samples
}

async function scrape(): Promise<(name: string, labels?: Record<string, string>) => number | undefined> {
  const { body, headers } = await app.inject('/metrics')
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
  const samples = parse(body)
  return (name, labels = {}) =>
    samples.find(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, text]) => sample.labels[key] === text),
    )?.value
}

const ODD = 'a "quoted\\ name'

test('counts and measures of each sieve, under any name', async () => {
  await registry.create(ODD, { filter: 'classic', expectedUrls: 100, falsePositiveRate: 0.01 })
  await registry.create('plain', {})
  const url = `/v1/sieves/${encodeURIComponent(ODD)}`
  await app.inject({
    method: 'POST',
    url: `${url}/add`,
    payload: { urls: ['https://a/', 'https://b/', 'https://a/'] },
  })
  await app.inject({ method: 'POST', url: `${url}/has`, payload: { urls: ['https://a/'] } })
  const find = await scrape()
  const of = (name: string) => find(`urlsieve_${name}`, { sieve: ODD })
  const stats = await registry.get(ODD)!.stats()
  expect(['adds_total', 'new_total', 'seen_total', 'asks_total', 'urls'].map(of)).toEqual([3, 2, 1, 1, 2])
  expect([
    of('size_bytes'),
    of('fill'),
    of('expected_rate'),
    of('promised_rate'),
    of('past_capacity'),
  ]).toEqual([stats.sizeBytes, stats.fill, stats.expectedRate, 0.01, 0])
  expect(find('urlsieve_promised_rate', { sieve: 'plain' })).toBe(
    (await registry.get('plain')!.stats()).promisedRate ?? undefined,
  )
  expect(of('log_bytes')).toBeUndefined() // in memory
  expect([find('urlsieve_sieves'), find('urlsieve_info', { version: '1.2.3' })]).toEqual([2, 1])
})

test('names that are no text stay apart', async () => {
  for (const name of ['\udcff', '\udcfe']) await registry.create(name, {})
  const find = await scrape()
  expect(['\\xff', '\\xfe'].map((sieve) => find('urlsieve_urls', { sieve }))).toEqual([0, 0])
  for (const name of ['\udcff', '\udcfe']) await registry.drop(name)
})

test('log and snapshot of a stored sieve', async () => {
  const stored = await registry.create('stored', {})
  const stats = {
    ...(await stored.stats()),
    store: {
      path: '/x',
      durability: 'interval',
      logBytes: 7,
      snapshotBytes: 9,
      snapshotting: true,
      keepKeys: false,
      unconfirmed: 0,
    },
  } as const
  registry.sieves.set('stored', { ...registry.sieves.get('stored')!, stats: () => stats })
  const find = await scrape()
  expect(
    ['log_bytes', 'snapshot_bytes', 'snapshotting'].map((name) =>
      find(`urlsieve_${name}`, { sieve: 'stored' }),
    ),
  ).toEqual([7, 9, 1])
})

test('a sieve that was dropped is no longer there', async () => {
  await registry.create('gone', {})
  expect((await scrape())('urlsieve_urls', { sieve: 'gone' })).toBe(0)
  await registry.drop('gone')
  expect((await scrape())('urlsieve_urls', { sieve: 'gone' })).toBeUndefined()
})

test('latencies are a histogram: buckets that only grow, and their sum', async () => {
  for (const seconds of [0.00001, 0.0001, 0.3, 1000]) info.latencies.resp.observe(seconds)
  const { body } = await app.inject('/metrics')
  const samples = parse(body).filter(({ labels }) => labels.way === 'resp')
  const buckets = samples.filter(({ name }) => name === 'urlsieve_request_seconds_bucket')
  const bounds = buckets.map(({ labels }) =>
    labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le),
  )
  expect(bounds).toEqual([...bounds].sort((a, b) => a - b))
  const counts = buckets.map(({ value }) => value)
  expect(counts).toEqual([...counts].sort((a, b) => a - b))
  expect([counts[0], counts.at(-2), counts.at(-1)]).toEqual([1, 3, 4])
  expect(samples.find(({ name }) => name === 'urlsieve_request_seconds_count')!.value).toBe(4)
  expect(samples.find(({ name }) => name === 'urlsieve_request_seconds_sum')!.value).toBeCloseTo(
    1000.30011,
    4,
  )
  const find = await scrape()
  const before = find('urlsieve_request_seconds_count', { way: 'http' })!
  await app.inject('/v1/sieves')
  expect((await scrape())('urlsieve_request_seconds_count', { way: 'http' })).toBe(before + 2) // that one and the scrape
  const [answered, errors] = [info.answered.http, info.errors.http]
  await app.inject('/nothing')
  const after = await scrape()
  expect(after('urlsieve_answered_total', { way: 'http' })).toBe(answered + 1)
  expect(after('urlsieve_errors_total', { way: 'http' })).toBe(errors + 1)
})

test('the rate of adds rises with them and falls without', async () => {
  await registry.create('rate', {})
  const rate = async () => (await scrape())('urlsieve_adds_per_second', { sieve: 'rate' })!
  expect(await rate()).toBe(0)
  const payload = { urls: Array.from({ length: 1000 }, (_, i) => `https://a/${i}`) }
  await app.inject({ method: 'POST', url: '/v1/sieves/rate/add', payload })
  await expect.poll(rate, { timeout: 10_000 }).toBeGreaterThan(50)
  expect(await rate()).toBeLessThan(1500) // of 1,000 in about a second
  await expect.poll(rate, { timeout: 10_000 }).toBe(0)
})

test('the process is measured too', async () => {
  const find = await scrape()
  expect(find('process_resident_memory_bytes')).toBeGreaterThan(1e6)
  expect(find('nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0)
  expect([
    find('urlsieve_connections', { way: 'http' }),
    find('urlsieve_connections', { way: 'resp' }),
  ]).toEqual([0, 0])
})

test('alive, ready, and what it is', async () => {
  expect((await app.inject('/healthz')).body).toBe('ok\n')
  expect((await app.inject('/readyz')).body).toBe('ready\n')
  expect((await app.inject('/v1/server')).json()).toEqual({
    version: '1.2.3',
    startedAt: info.startedAt.toISOString(),
    sizeBytes: registry.sizeBytes,
    connections: { resp: 0, http: 0 },
    faults: [],
    report: false,
  })
})
