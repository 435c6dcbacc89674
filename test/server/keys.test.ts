// Sieves as keys: expiry, renaming and flushing, in memory and in a folder, across restarts and crashes.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeApp } from '../../src/server/http/app.ts'
import { HTTP_LIMITS } from '../../src/server/http/index.ts'
import { LocalRegistry } from '../../src/server/local-registry.ts'
import { itemsOf } from '../support/items.mjs'
import { atEnd } from './ends.ts'
import { started } from './process.ts'
import { folder, fresh, pair, served } from './serving.ts'
import { turnsOf } from './turns.ts'

const MB = 1024 ** 2
const open = (data: string) => LocalRegistry.open({ data, memoryBytes: 256 * MB, mostSieves: 50 })
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('expiry', () => {
  it('an expired sieve is absent for every command, and its name is free', async () => {
    const { server, two, three } = await pair()
    const [a, b] = [fresh(), fresh()]
    await two.ask('SADD', a, 'x')
    await two.ask('BF.ADD', b, 'x')
    expect(await two.ask('PEXPIRE', a, '30')).toBe(1)
    expect(await two.ask('PEXPIREAT', b, String(Date.now() + 30))).toBe(1)
    await sleep(60)
    expect(await two.ask('EXISTS', a, b)).toBe(0)
    expect(await two.ask('DBSIZE')).toBe(0)
    expect(await two.ask('KEYS', '*')).toEqual([])
    expect(await two.ask('SISMEMBER', a, 'x')).toBe(0)
    expect(await two.ask('BF.INFO', b)).toBe('!ERR not found')
    expect(await three.ask('BF.ADD', b, 'x')).toBe(true)
    expect(await two.ask('TTL', b)).toBe(-1)
    expect(await two.ask('SADD', a, 'x')).toBe(1)
    expect(await two.ask('INFO', 'stats')).toMatch(/expired_keys:2\r\n/)
    await server.close()
  })

  it('the same prefix in a pipeline is not added to a sieve that has expired since', async () => {
    const { server, two } = await pair()
    await two.ask('BF.ADD', 'p', 'x')
    await two.ask('PEXPIRE', 'p', '20')
    await sleep(40)
    expect(await two.ask('BF.ADD', 'p', 'x')).toBe(1)
    await server.close()
  })

  it('is on disk before the reply: it holds after kill -9', async () => {
    const data = folder()
    const first = await started(['--data', data])
    const client = await first.connect()
    await client.ask('SADD', 'kept', 'x')
    await client.ask('SADD', 'gone', 'x')
    await client.ask('BF.ADD', 'persisted', 'x')
    await client.ask('SADD', 'old', 'x')
    expect(await client.ask('EXPIRE', 'kept', '1000')).toBe(1)
    expect(await client.ask('PEXPIRE', 'gone', '400')).toBe(1)
    expect(await client.ask('EXPIRE', 'persisted', '1000')).toBe(1)
    expect(await client.ask('PERSIST', 'persisted')).toBe(1)
    expect(await client.ask('RENAME', 'old', 'new')).toBe('OK')
    first.child.kill('SIGKILL')
    await first.ended()
    await sleep(400)
    const second = await started(['--data', data])
    const again = await second.connect()
    expect(await again.ask('EXISTS', 'gone', 'old')).toBe(0)
    expect(await again.ask('TTL', 'kept')).toBeGreaterThan(900)
    expect(await again.ask('TTL', 'persisted')).toBe(-1)
    expect(await again.ask('SISMEMBER', 'kept', 'x')).toBe(1)
    expect(await again.ask('SISMEMBER', 'new', 'x')).toBe(1)
    expect(await again.ask('TYPE', 'kept')).toBe('set')
    expect(await again.ask('FLUSHALL')).toMatch(/^!ERR FLUSHALL and FLUSHDB are not allowed/)
    expect(await again.ask('DBSIZE')).toBe(3)
    second.child.kill('SIGTERM')
    expect(await second.ended()).toBe(0)
    const third = await started(['--data', data, '--allow-flush', '--dialect', 'valkey'])
    const last = await third.connect()
    expect(await last.ask('TYPE', 'persisted')).toBe('bloomfltr')
    expect(await last.ask('FLUSHALL')).toBe('OK')
    third.child.kill('SIGKILL')
    await third.ended()
    const registry = await open(data)
    expect(registry.list()).toEqual([])
    await registry.close()
  })
})

describe('renaming', () => {
  it('keeps what a sieve has, in its folder; the old name is free', async () => {
    const data = folder()
    const registry = await open(data)
    const a = await registry.create('a', {}, 'set')
    await a.add(itemsOf(['x']))
    expect(await registry.rename('a', 'b', true)).toBe(true)
    expect([registry.get('a'), registry.get('b')]).toEqual([undefined, a])
    expect(a.name).toBe('b')
    await a.add(itemsOf(['y']))
    await a.save()
    // Its folder is still that of the old name: a new sieve of that name gets another.
    const second = await registry.create('a', {}, 'set')
    await second.add(itemsOf(['z']))
    await registry.close()
    const again = await open(data)
    expect(again.faults.list()).toEqual([])
    expect([...(await again.get('b')!.has(itemsOf(['x', 'y', 'z'])))]).toEqual([1, 1, 0])
    expect([...(await again.get('a')!.has(itemsOf(['x', 'y', 'z'])))]).toEqual([0, 0, 1])
    expect(await again.rename('a', 'b', false)).toBe(false)
    expect(await again.rename('a', 'b', true)).toBe(true)
    expect([...(await again.get('b')!.has(itemsOf(['x', 'z'])))]).toEqual([0, 1])
    expect(await again.drop('b')).toBe(true)
    await again.close()
    expect(readdirSync(data).filter((name) => name !== 'lock')).toEqual([])
  })

  it('a crash before the replaced sieve is removed leaves the new one', async () => {
    const data = folder()
    const registry = await open(data)
    for (const name of ['a', 'b']) await (await registry.create(name, {}, 'set')).add(itemsOf([name]))
    await registry.close()
    // As RENAME a b writes it, before the folder of b goes.
    const path = join(data, 'a', 'server.json')
    const entry = JSON.parse(readFileSync(path, 'utf8')) as object
    const renamed = { ...entry, name: Buffer.from('b').toString('hex'), folder: 'a', replaces: 'b' }
    writeFileSync(path, JSON.stringify(renamed))
    const again = await open(data)
    expect(again.faults.list()).toEqual([])
    expect(again.list().map(({ name }) => name)).toEqual(['b'])
    expect([...(await again.get('b')!.has(itemsOf(['a', 'b'])))]).toEqual([1, 0])
    await again.close()
    expect(existsSync(join(data, 'b'))).toBe(false)
  })

  it('a folder that was copied is still set aside', async () => {
    const data = folder()
    const registry = await open(data)
    await registry.create('a', {}, 'set')
    await registry.rename('a', 'b', true)
    await registry.close()
    const path = join(data, 'a', 'server.json')
    const entry = JSON.parse(readFileSync(path, 'utf8')) as object
    writeFileSync(path, JSON.stringify({ ...entry, folder: 'elsewhere' }))
    const again = await open(data)
    expect(again.faults.list()).toMatchObject([{ kind: 'set-aside' }])
    await again.close()
  })

  it('no client sees a moment without either sieve', async () => {
    const { server, two, three } = await pair({ registry: { data: folder() } })
    await two.ask('SADD', 'now', 'x', 'old')
    for (let i = 0; i < 20; i++) {
      await two.ask('SADD', 'next', 'x', `new${i}`)
      const renaming = two.ask('RENAME', 'next', 'now')
      for (let j = 0; j < 5; j++) expect(await three.ask('SISMEMBER', 'now', 'x')).toBe(1)
      expect(await renaming).toBe('OK')
      expect(await two.ask('SMISMEMBER', 'now', 'x', 'old', `new${i}`)).toEqual([1, 0, 1])
    }
    expect(await two.ask('DBSIZE')).toBe(1)
    await server.close()
  })
})

describe('many sieves', () => {
  it('KEYS and FLUSHALL are done in parts', async () => {
    const server = await served({ registry: { data: folder() } })
    const client = await server.connect()
    for (let i = 0; i < 40; i++) await client.ask('SADD', `key:${i}`, 'x')
    expect(await client.ask('KEYS', 'key:2?')).toHaveLength(10)
    const flushed = await turnsOf(() => server.registry.dropAll())
    expect(flushed.turns).toBeGreaterThan(40)
    expect(await client.ask('DBSIZE')).toBe(0)
    await server.close()
  })

  it('what is added while they are flushed stays', async () => {
    const { server, two, three } = await pair({ registry: { data: folder() }, allowsFlush: true })
    for (let i = 0; i < 20; i++) await two.ask('SADD', `k${i}`, 'x')
    const flushing = two.ask('FLUSHALL')
    expect(await three.ask('SADD', 'k7', 'y')).toBe(1)
    expect(await flushing).toBe('OK')
    expect(await three.ask('SMISMEMBER', 'k7', 'x', 'y')).toEqual([0, 1])
    await server.close()
  })
})

it('a time of expiry that is later than any date is shown as the last date', async () => {
  const { server, two } = await pair()
  await two.ask('SADD', 's', 'a')
  expect(await two.ask('EXPIRE', 's', '10000000000000')).toBe(1)
  const stats = (await two.ask('SIEVE.STATS', 's')) as unknown[]
  expect(stats[stats.indexOf('expiresAt') + 1]).toBe('+275760-09-13T00:00:00.000Z')
  const { app, close } = await makeApp(server.registry, {
    host: '127.0.0.1',
    port: 0,
    server: server.info,
    limits: HTTP_LIMITS,
  })
  atEnd(close)
  expect((await app.inject('/v1/sieves')).json().sieves[0].expiresAt).toBe('+275760-09-13T00:00:00.000Z')
})
