// The server listens before its sieves are open: until then commands on sieves are answered with LOADING and HTTP with 503.
import { afterEach, expect, it, vi } from 'vitest'
import { freePort } from '../../bench/redis-process.mjs'
import { HTTP_LIMITS } from '../../src/server/http/index.ts'
import { LocalRegistry } from '../../src/server/local-registry.ts'
import { respLimits } from '../../src/server/resp/limits.ts'
import { serve } from '../../src/server/serve.ts'
import { Raw } from './raw.ts'
import { folder } from './serving.ts'

const MB = 1024 ** 2

afterEach(() => vi.restoreAllMocks())

async function optionsFor(data: string) {
  return {
    version: '0.0.0-test',
    host: '127.0.0.1',
    port: await freePort(),
    httpPort: await freePort(),
    data,
    durability: 'interval' as const,
    memoryBytes: 256 * MB,
    mostSieves: 100,
    limits: respLimits,
    httpLimits: HTTP_LIMITS,
    log: () => {},
  }
}

it('answers LOADING and 503 until all sieves are open', async () => {
  const data = folder()
  const before = await LocalRegistry.open({ data, memoryBytes: 256 * MB, mostSieves: 100 })
  await before.create('a', {})
  await before.close()

  const options = await optionsFor(data)
  const http = `http://127.0.0.1:${options.httpPort}`
  const load = LocalRegistry.prototype.load
  const loads = vi.spyOn(LocalRegistry.prototype, 'load').mockImplementation(async function (
    this: LocalRegistry,
  ) {
    const client = await Raw.connect(options.port)
    expect(await client.ask('PING')).toBe('PONG')
    expect(await client.ask('INFO', 'persistence')).toContain('loading:1')
    for (const words of [
      ['SIEVE.ADD', 'a', 'x'],
      ['BF.ADD', 'b', 'x'],
      ['SCAN', '0'],
      ['DBSIZE'],
      ['DEL', 'a'],
    ]) {
      expect(await client.ask(...words)).toMatch(/^!LOADING /)
    }
    expect(await client.ask('MULTI')).toBe('OK')
    expect(await client.ask('BF.ADD', 'b', 'x')).toMatch(/^!LOADING /)
    expect(await client.ask('EXEC')).toMatch(/^!EXECABORT /)
    client.close()
    expect((await fetch(`${http}/healthz`)).status).toBe(200)
    for (const path of ['/readyz', '/v1/sieves', '/v1/sieves/a']) {
      const answer = await fetch(http + path)
      expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '1'])
      expect(await answer.json()).toMatchObject({ detail: 'the server is opening its sieves: try again' })
    }
    await load.call(this)
  })
  const server = await serve(options)
  expect(loads).toHaveBeenCalledOnce()
  expect(server.sieves).toBe(1)
  const client = await Raw.connect(server.port)
  expect(await client.ask('SIEVE.ADD', 'a', 'https://example.com/')).toEqual([1])
  expect(await client.ask('INFO', 'persistence')).toContain('loading:0')
  client.close()
  expect((await fetch(`${http}/readyz`)).status).toBe(200)
  await server.close()
})

it('leaves nothing open when the sieves cannot be opened', async () => {
  const data = folder()
  const before = await LocalRegistry.open({ data, memoryBytes: 256 * MB, mostSieves: 100 })
  await before.create('a', { filter: 'blocked', expectedUrls: 10_000_000 })
  await before.close()
  const options = await optionsFor(data)
  await expect(serve({ ...options, memoryBytes: MB })).rejects.toThrow(/no memory to open the sieves/)
  const server = await serve(options)
  expect(server.sieves).toBe(1)
  await server.close()
})
