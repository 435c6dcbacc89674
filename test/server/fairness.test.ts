// One command never stalls every client: whatever is large is done in parts, and others are answered between them. Here
// the parts are counted; URLSIEVE_FULL=1 measures how long a PING and /healthz wait, at full size (300 M, about a gigabyte).
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LocalRegistry } from '../../src/server/local-registry.ts'
import { itemsOf } from '../support/items.mjs'
import { type CrowdWaits, crowdTable, measureCrowds, measureWaits, medians } from './fairness.ts'
import { encoded } from './raw.ts'
import { folder, fresh, served } from './serving.ts'
import { turnsOf } from './turns.ts'

const MB = 1024 ** 2
const SIZE = 64 * MB
const PIECES = SIZE / MB

const urls = (count: number) => Array.from({ length: count }, (_, i) => `https://example.com/${i}`)
const spec = { filter: 'blocked', sizeBytes: SIZE, expectedUrls: 1e6, profile: 'raw' } as const
const bloom = { capacity: 1_000_000, errorRate: 0.01, expansion: 0 }
const bytesIn = (path: string): number =>
  readdirSync(path, { withFileTypes: true, recursive: true }).reduce(
    (sum, found) => sum + (found.isFile() ? statSync(join(found.parentPath, found.name)).size : 0),
    0,
  )

describe('a large sieve', () => {
  it('is made without writing down that it is empty', async () => {
    const data = folder()
    const registry = await LocalRegistry.open({ data, memoryBytes: 300 * MB, mostSieves: 10 })
    await registry.create('a', spec)
    await registry.create('b', {}, { capacity: 20_000_000, errorRate: 0.001, expansion: 2 })
    expect(bytesIn(data)).toBeLessThan(20_000)
    await registry.close()
    const again = await LocalRegistry.open({ data, memoryBytes: 300 * MB, mostSieves: 10 })
    expect(again.faults.list()).toEqual([])
    const verdicts = await again.get('b')!.add(itemsOf(['x', 'y', 'x']))
    expect([...verdicts]).toEqual([1, 1, 0])
    expect((await again.get('a')!.stats()).fill).toBe(0)
    await again.close()
  })

  it.for([
    ['blocked', spec],
    ['scalable', { filter: 'scalable', expectedUrls: 25e6, falsePositiveRate: 1e-4, profile: 'raw' }],
    ['window', { filter: 'window', profile: 'raw', window: { windowUrls: 4e6, generations: 2 } }],
  ] as const)('%s is saved, dumped, loaded and dropped in parts', async ([name, asked]) => {
    const data = folder()
    const registry = await LocalRegistry.open({ data, memoryBytes: 900 * MB, mostSieves: 10 })
    const served = await registry.create('a', asked)
    const count = name === 'window' ? 2_000_000 : 30_000
    for (let from = 0; from < count; from += 30_000) {
      await served.add(itemsOf(Array.from({ length: 30_000 }, (_, i) => `https://example.com/${from + i}`)))
    }
    // A few of the parts may end within one turn.
    const least = PIECES / 4
    expect((await turnsOf(() => served.save())).turns).toBeGreaterThan(least)
    const file = join(data, 'dump')
    expect((await turnsOf(() => served.dump!(file))).turns).toBeGreaterThan(least)
    const loaded = await turnsOf(() => registry.adopt('b', file, bloom))
    expect(loaded.turns).toBeGreaterThan(least)
    const answers = await loaded.result.has(itemsOf(urls(30_000)))
    expect(answers.every((answer) => answer === 1)).toBe(true)
    expect((await turnsOf(() => registry.drop('a'))).turns).toBeGreaterThan(0)
    await registry.close()
  })

  it('goes on taking URLs while it is saved and dumped: what was added before is in the file', async () => {
    const data = folder()
    const registry = await LocalRegistry.open({ data, memoryBytes: 300 * MB, mostSieves: 10 })
    const served = await registry.create('a', { filter: 'scalable', expectedUrls: 300_000, profile: 'raw' })
    await served.add(itemsOf(urls(250_000)))
    const file = join(data, 'dump')
    const [dumped, saved] = [served.dump!(file), served.save()]
    // The second generation begins while both are written.
    const later = Array.from({ length: 100_000 }, (_, i) => `https://example.org/${i}`)
    for (let at = 0; at < later.length; at += 1000) {
      await served.add(itemsOf(later.slice(at, at + 1000)))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all([dumped, saved])
    const before = await served.stats()
    const copy = await registry.adopt('b', file, bloom)
    expect((await copy.has(itemsOf(urls(250_000)))).every((answer) => answer === 1)).toBe(true)
    await registry.close()
    const again = await LocalRegistry.open({ data, memoryBytes: 300 * MB, mostSieves: 10 })
    const stats = await again.get('a')!.stats()
    // The same generations with the same counts: replaying the log over the snapshot comes to what there was.
    expect(stats.layers).toEqual(before.layers)
    expect(stats.urls).toBe(before.urls)
    const all = await again.get('a')!.has(itemsOf([...urls(250_000), ...later]))
    expect(all.every((answer) => answer === 1)).toBe(true)
    await again.close()
  })
})

describe('a long list', () => {
  it('is answered in parts, in order, as if it were one', async () => {
    const registry = await LocalRegistry.open({ memoryBytes: 300 * MB, mostSieves: 10 })
    const served = await registry.create('a', { profile: 'aggressive' })
    // Unusual enough to go the long way: about ten microseconds each.
    const odd = Array.from({ length: 60_000 }, (_, i) => `HTTP://Example.COM:80/ä/${i % 50_000}?b=2&a=1`)
    const { result, turns } = await turnsOf(() => served.add(itemsOf(odd)))
    expect(turns).toBeGreaterThan(2)
    expect(result.every((verdict, i) => verdict === (i < 50_000 ? 1 : 0))).toBe(true)
    const forgotten = await turnsOf(() => served.forget!(odd))
    expect(forgotten.turns).toBeGreaterThan(2)
    expect(forgotten.result.every((was, i) => was === (i < 50_000 ? 1 : 0))).toBe(true)
    await registry.close()
  })

  it('is answered by the bytes it had when the call returned, which the caller may change', async () => {
    const registry = await LocalRegistry.open({ memoryBytes: 300 * MB, mostSieves: 10 })
    const sieve = await registry.create('a', {})
    const items = itemsOf(urls(20_000))
    const added = sieve.add(items)
    items.bytes.fill(120)
    expect(added).toBeInstanceOf(Promise)
    expect((await added).every((verdict) => verdict === 1)).toBe(true)
    const again = itemsOf(urls(20_000))
    const known = sieve.has(again)
    again.bytes.fill(120)
    expect((await known).every((isSeen) => isSeen === 1)).toBe(true)
    await registry.close()
  })

  it('that fails on its way has the verdicts of what came before', async () => {
    const registry = await LocalRegistry.open({ memoryBytes: 300 * MB, mostSieves: 10 })
    const served = await registry.create('a', {}, { capacity: 30_000, errorRate: 1e-9, expansion: 0 })
    const error = (await Promise.resolve()
      .then(() => served.add(itemsOf(urls(40_000))))
      .catch((reason: unknown) => reason)) as { message: string; answered: Uint8Array }
    expect(error.message).toBe('non scaling filter is full')
    expect(error.answered.length).toBe(30_000)
    expect(error.answered.every((verdict) => verdict === 1)).toBe(true)
    await registry.close()
  })

  it('of commands in one pipeline lets another client be answered before its end', async () => {
    const server = await served()
    const [busy, other] = [await server.connect(), await server.connect()]
    const name = fresh()
    await busy.ask('SIEVE.CREATE', name)
    const explain = encoded('SIEVE.EXPLAIN', name, `https://example.com/${'a'.repeat(40)}?b=2&a=1#x`)
    const count = Math.floor(240_000 / explain.length)
    busy.write(Buffer.concat(Array.from({ length: count }, () => explain)))
    const order: string[] = []
    const last = (async () => {
      for (let i = 0; i < count; i++) await busy.read()
      order.push('last')
    })()
    await other.ask('PING')
    order.push('ping')
    await last
    expect(order).toEqual(['ping', 'last'])
    await server.close()
  })
})

/** The bound is for the median of ten. */
const RUNS = Number(process.env.URLSIEVE_RUNS ?? 10)
const MOST_MS = 50
/** Asks whose name matches; all by default. */
const ONLY = new RegExp(process.env.URLSIEVE_ONLY ?? '.')

describe.runIf(process.env.URLSIEVE_FULL === '1')('at full size', () => {
  it('no PING and no /healthz waits for 50 ms, whatever another client asks', {
    timeout: 1_800_000,
  }, async () => {
    const rows = await measureWaits({ capacity: 300_000_000, errorRate: 0.00001, runs: RUNS })
    for (const { what, pingMs, healthMs } of rows) {
      expect(Math.max(pingMs, healthMs), what).toBeLessThan(MOST_MS)
    }
  })

  it('nor whatever 1, 50 or 500 clients ask at once, and read or leave unread', {
    timeout: 6 * 3_600_000,
  }, async () => {
    const sizes = { clients: [1, 50, 500], scale: 100_000_000, sieves: 900, memory: '8G', only: ONLY }
    const runs: CrowdWaits[][] = []
    for (let run = 0; run < RUNS; run++) runs.push(await measureCrowds(sizes))
    const rows = medians(runs)
    console.log(crowdTable(rows))
    for (const { what, pingMs, healthMs } of rows) {
      expect(Math.max(pingMs, healthMs), what).toBeLessThan(MOST_MS)
    }
  })

  it('memory stays within --memory, --max-unread-all and 150 MB, when nobody reads', {
    timeout: 1_800_000,
  }, async () => {
    const long = /^(COMMAND|KEYS|SCAN|SIEVE.EXPLAIN|INFO|CLIENT|MULTI of|GET )/
    const sizes = { clients: [1, 24, 500], scale: 10_000, sieves: 80, memory: '64M', only: long }
    const rows = await measureCrowds({ ...sizes, isRead: [false] })
    console.log(crowdTable(rows))
    for (const { what, memoryMb } of rows) expect(memoryMb, what).toBeLessThan(64 + 64 + 150)
  })
})
