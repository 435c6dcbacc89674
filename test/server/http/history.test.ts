// The history that the page shows: rates and percentiles of each step, an hour and a day and no more, one time axis for the
// server and its sieves, and its answers over HTTP.
import { afterEach, expect, test } from 'vitest'
import { type Course, ServerHistory } from '../../../src/server/history.ts'
import { LATENCY_BOUNDS, serverInfo } from '../../../src/server/info.ts'
import { percentile } from '../../../src/server/load.ts'
import { MemoryRegistry } from './memory-registry.ts'
import { application, defects } from './served.ts'

afterEach(() => expect(defects).toEqual([]))

const BEGIN = Date.UTC(2026, 0, 1)
const STEP = 10_000

function begun() {
  const registry = new MemoryRegistry()
  const info = serverInfo('1.2.3')
  return { registry, info, history: new ServerHistory(registry, info, BEGIN) }
}

/** The rank of a sorted list that a percentile means. */
const exact = (sorted: readonly number[], share: number) => sorted[Math.ceil(share * sorted.length) - 1]!

test('a percentile lies in the bucket of the exact one', () => {
  const counts = new Float64Array(LATENCY_BOUNDS.length + 1)
  expect(percentile(counts, 0.5)).toBeNull()
  const durations: number[] = []
  for (let i = 0, seed = 7; i < 5000; i++) {
    seed = (seed * 48271) % 2147483647
    durations.push(10 ** (-5.5 + (6 * seed) / 2147483647))
  }
  const bucketOf = (seconds: number) => {
    const i = LATENCY_BOUNDS.findIndex((bound) => seconds <= bound)
    return i < 0 ? LATENCY_BOUNDS.length : i
  }
  for (const seconds of durations) counts[bucketOf(seconds)]!++
  durations.sort((a, b) => a - b)
  for (const share of [0.001, 0.25, 0.5, 0.9, 0.99, 1]) {
    expect(bucketOf(percentile(counts, share)!), String(share)).toBe(bucketOf(exact(durations, share)))
  }
  counts.fill(0)
  counts[LATENCY_BOUNDS.length] = 3
  expect(percentile(counts, 0.5)).toBe(10)
  counts.fill(0)
  counts[6] = 4 // from 0.5 to 1 ms
  expect(percentile(counts, 0.5)).toBeCloseTo(0.00075, 9)
})

test('rates of a step follow from the counts at its two ends', async () => {
  const { registry, info, history } = begun()
  const sieve = await registry.create('a', {})
  Object.assign(sieve.meters, { adds: 1000, seen: 250, asks: 40 })
  info.answered.resp = 500
  info.errors.http = 20
  info.refused = 10
  info.connections.http = 3
  for (let i = 0; i < 100; i++) info.latencies.resp.observe(i < 98 ? 0.0002 : 0.02)
  await history.sample(BEGIN + STEP)
  await history.sample(BEGIN + 2 * STEP)
  Object.assign(sieve.meters, { adds: 1500 })
  await history.sample(BEGIN + 4 * STEP) // a late one: 20 s

  const of = (course: Course, name: string) => course.values[name]
  const hour = history.read('hour', sieve)
  expect(hour.times).toEqual([1, 2, 4].map((i) => BEGIN / 1000 + 10 * i))
  expect([hour.span, hour.stepSeconds]).toEqual(['hour', 10])
  expect(of(hour, 'addsPerSecond')).toEqual([100, 0, 25])
  expect(of(hour, 'seenPerSecond')).toEqual([25, 0, 0])
  expect(of(hour, 'asksPerSecond')).toEqual([4, 0, 0])
  const { sizeBytes } = await sieve.stats()
  expect(of(hour, 'sizeBytes')!.at(-1)! / sizeBytes).toBeCloseTo(1, 3)

  const server = history.read('hour')
  expect(of(server, 'addsPerSecond')).toEqual([100, 0, 25])
  expect(of(server, 'respPerSecond')).toEqual([50, 0, 0])
  expect(of(server, 'httpErrorsPerSecond')).toEqual([2, 0, 0])
  expect(of(server, 'refusedPerSecond')).toEqual([1, 0, 0])
  expect(of(server, 'connections')).toEqual([3, 3, 3])
  expect(of(server, 'respP99')![0]).toBeGreaterThan(0.01)
  expect(of(server, 'respP50')![0]).toBeLessThan(0.00026)
  expect(of(server, 'respP99')!.slice(1)).toEqual([null, null])
  expect(of(server, 'httpP50')).toEqual([null, null, null])
})

test('an hour and a day, of the latest samples; percentiles of the day are those of all its commands', async () => {
  const { registry, info, history } = begun()
  const sieve = await registry.create('a', {})
  const steps = (25 * 3600) / 10
  for (let i = 1; i <= steps; i++) {
    sieve.meters.adds += 10
    info.latencies.resp.observe(i % 24 === 0 ? 0.3 : 0.00002)
    await history.sample(BEGIN + i * STEP)
  }
  const [hour, day] = [history.read('hour', sieve), history.read('day', sieve)]
  expect([hour.times.length, day.times.length]).toEqual([360, 360])
  expect(hour.times.at(-1)).toBe((BEGIN + steps * STEP) / 1000)
  expect(hour.times.at(-1)! - hour.times[0]!).toBe(3590)
  expect(day.times.at(-1)! - day.times[0]!).toBe(359 * 240)
  expect(new Set(hour.values.addsPerSecond)).toEqual(new Set([1]))
  expect(new Set(day.values.addsPerSecond)).toEqual(new Set([1]))
  const latest = (span: 'hour' | 'day', name: string) => history.read(span).values[name]!
  expect(new Set(latest('day', 'respP99').map((p) => p! > 0.2))).toEqual(new Set([true]))
  expect(latest('hour', 'respP99').filter((p) => p! > 0.2).length).toBe(15)
})

test('a sieve begins when it is made, ends when it is dropped, and takes its history along when it is renamed', async () => {
  const { registry, history } = begun()
  const a = await registry.create('a', {})
  await history.sample(BEGIN + STEP)
  const b = await registry.create('b', {})
  b.meters.adds = 50
  await history.sample(BEGIN + 2 * STEP)
  expect(history.read('hour', b).values.addsPerSecond).toEqual([null, 5])
  expect(history.read('hour').values.addsPerSecond).toEqual([0, 5])
  await registry.drop('a')
  await history.sample(BEGIN + 3 * STEP)
  expect(history.read('hour', a).times).toEqual([])
  expect(history.read('hour').values.addsPerSecond).toEqual([0, 5, 0])
})

test('a clock that is set back begins the history again: times only increase', async () => {
  const { registry, history } = begun()
  const sieve = await registry.create('a', {})
  await history.sample(BEGIN + STEP)
  await history.sample(BEGIN + 2 * STEP)
  await history.sample(BEGIN - 3_600_000)
  expect(history.read('hour', sieve).times).toEqual([BEGIN / 1000 - 3600])
  expect(history.read('hour', sieve).values.addsPerSecond).toEqual([null])
  await history.sample(BEGIN - 3_600_000 + STEP)
  expect(history.read('hour', sieve).values.addsPerSecond).toEqual([null, 0])
})

test('a sample is not taken while another one is, nor while the sieves are being opened', async () => {
  const { registry, history } = begun()
  const sieve = await registry.create('a', {})
  const { stats } = sieve
  let end = () => {}
  registry.sieves.set('a', {
    ...registry.sieves.get('a')!,
    stats: () => new Promise((resolve) => (end = () => resolve(stats()))),
  })
  const first = history.sample(BEGIN + STEP)
  await history.sample(BEGIN + 2 * STEP)
  expect(history.read('hour').times).toEqual([])
  end()
  await first
  expect(history.read('hour').times).toEqual([BEGIN / 1000 + 10])
  const loading = new ServerHistory(Object.assign(new MemoryRegistry(), { isLoading: true }), serverInfo('1'))
  await loading.sample(BEGIN)
  expect(loading.read('hour').times).toEqual([])
})

test('over HTTP: the hour by default, a sieve by its name, and refusals', async () => {
  const registry = new MemoryRegistry()
  const info = serverInfo('1.2.3')
  const history = new ServerHistory(registry, info, BEGIN)
  const { app } = await application({ history, server: info, registry })
  const sieve = await registry.create('a/b', { filter: 'classic', expectedUrls: 1e6 })
  sieve.meters.adds = 30
  await history.sample(BEGIN + STEP)
  const get = async (path: string) => {
    const answer = await app.inject(path)
    return { status: answer.statusCode, body: answer.json() }
  }
  expect((await get('/v1/history')).body).toEqual(history.read('hour'))
  expect((await get('/v1/history?span=day')).body).toEqual(history.read('day'))
  const { body } = await get('/v1/sieves/a%2Fb/history')
  expect(body.times).toEqual([BEGIN / 1000 + 10])
  expect(body.values).toMatchObject({ addsPerSecond: [3], expectedRate: [0] })
  expect((await get('/v1/sieves/none/history')).status).toBe(404)
  expect((await get('/v1/history?span=year')).status).toBe(400)
})
