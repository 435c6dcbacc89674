// Faults that last: one line in the log when they begin and one when they end, and shown wherever one looks.
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { Faults } from '../../src/server/faults.ts'
import { makeApp } from '../../src/server/http/app.ts'
import { HTTP_LIMITS } from '../../src/server/http/index.ts'
import type { Log } from '../../src/server/log.ts'
import { atEnd } from './ends.ts'
import { started } from './process.ts'
import { folder, pair, served } from './serving.ts'

function logged() {
  const lines: string[] = []
  let now = Date.UTC(2026, 0, 1)
  const log: Log = (level, event, fields) => lines.push(`${level} ${event} ${JSON.stringify(fields)}`)
  const faults = new Faults(log, () => now)
  return { faults, lines, pass: (ms: number) => (now += ms) }
}

describe('a fault', () => {
  it('is logged once when it begins and once when it ends', () => {
    const { faults, lines, pass } = logged()
    for (let i = 0; i < 100; i++) faults.begin('disk', 'no space left', 'a')
    pass(5000)
    faults.end('disk', 'a')
    faults.end('disk', 'a')
    faults.end('redis')
    expect(lines).toEqual([
      'error fault {"kind":"disk","sieve":"a","message":"no space left"}',
      'info fault over {"kind":"disk","sieve":"a","seconds":5}',
    ])
  })

  it('that comes and goes is shown each time, and logged once a minute', () => {
    const { faults, lines, pass } = logged()
    for (let i = 0; i < 600; i++) {
      faults.begin('disk', 'no space left', 'a')
      expect(faults.isReady).toBe(false)
      pass(100)
      faults.end('disk', 'a')
      expect(faults.isReady).toBe(true)
      pass(100)
    }
    expect(lines).toHaveLength(4)
  })

  it('is one for each kind and sieve, and ends with its sieve', () => {
    const { faults } = logged()
    faults.begin('disk', 'first', 'a')
    faults.begin('disk', 'second', 'a')
    faults.begin('past-capacity', 'full', 'a')
    faults.begin('past-capacity', 'full', 'b')
    expect(faults.of('a').map(({ message }) => message)).toEqual(['second', 'full'])
    expect(faults.counts()).toEqual({ 'set-aside': 0, 'past-capacity': 2, disk: 1, redis: 0 })
    faults.endAll('a')
    expect(faults.list().map(({ kind, sieve }) => [kind, sieve])).toEqual([['past-capacity', 'b']])
  })
})

describe('a server', () => {
  async function both(password?: string) {
    const { server, two, three } = await pair()
    const { app, close } = await makeApp(server.registry, {
      host: '127.0.0.1',
      port: 0,
      server: server.info,
      limits: HTTP_LIMITS,
      ...(password !== undefined && { password }),
    })
    atEnd(close)
    return { faults: server.registry.faults, two, three, app }
  }

  it('is not ready while its disk or Redis refuses, and says why', async () => {
    const { faults, app } = await both()
    faults.begin('disk', 'a.log: no space left on device', 'a')
    const answer = await app.inject('/readyz')
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toMatchObject({
      status: 503,
      detail: expect.stringMatching(/^not ready: disk "a" since .*Z: a\.log: no space left on device$/),
      faults: [{ kind: 'disk', sieve: 'a', message: 'a.log: no space left on device' }],
    })
    faults.end('disk', 'a')
    expect((await app.inject('/readyz')).body).toBe('ready\n')
    faults.begin('redis', 'no answer for 5 s')
    expect((await app.inject('/readyz')).statusCode).toBe(503)
  })

  it('is ready with a sieve set aside or past its capacity, and names it', async () => {
    const { faults, app } = await both()
    faults.begin('set-aside', 'its snapshot is cut short', 'a\nb')
    faults.begin('past-capacity', '2000 URLs, made for 1000', 'c')
    const answer = await app.inject('/readyz')
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toMatch(
      /^ready\nset-aside "a\\nb" since \S+Z: its snapshot is cut short\npast-capacity "c" since \S+Z: 2000 .*\n$/,
    )
  })

  it('tells no names to one without the password', async () => {
    const { faults, app } = await both('secret')
    faults.begin('set-aside', '/data/a: cut short', 'a')
    expect((await app.inject('/readyz')).body).toBe('ready\nset-aside: damaged at start and not served (1)\n')
    faults.begin('disk', '/data/b: no space', 'b')
    const refused = await app.inject('/readyz')
    expect(refused.statusCode).toBe(503)
    expect(refused.body).not.toContain('/data')
    const headers = { authorization: 'Bearer secret' }
    expect((await app.inject({ url: '/readyz', headers })).body).toContain('/data/b')
  })

  it('counts faults by kind in /metrics, and lists them in /v1/server', async () => {
    const { faults, app } = await both()
    faults.begin('past-capacity', 'full', 'a')
    faults.begin('past-capacity', 'full', 'b')
    const { body } = await app.inject('/metrics')
    expect(body).toContain('urlsieve_faults{kind="past-capacity"} 2\n')
    expect(body).toContain('urlsieve_faults{kind="disk"} 0\n')
    const { faults: listed } = (await app.inject('/v1/server')).json() as { faults: object[] }
    expect(listed).toMatchObject([{ kind: 'past-capacity', sieve: 'a', message: 'full' }, { sieve: 'b' }])
  })

  it('shows faults in SIEVE.STATS and INFO', async () => {
    const { faults, three } = await both()
    await three.ask('SIEVE.CREATE', 'a')
    faults.begin('past-capacity', 'full', 'a')
    const stats = (await three.ask('SIEVE.STATS', 'a')) as Map<string, unknown[]>
    expect(stats.get('faults')).toHaveLength(1)
    const info = JSON.stringify(await three.ask('INFO', 'faults'))
    expect(info).toMatch(/faults:1\\r\\nfault0:past-capacity .*: full\\r\\n/)
  })

  it('answers a command on a sieve set aside with the reason, and makes no other of its name', async () => {
    const { faults, two, app } = await both()
    faults.begin('set-aside', 'its snapshot is cut short', 'a')
    const asked = [
      ['SIEVE.STATS', 'a'],
      ['SIEVE.ADD', 'a', 'https://example.com/'],
      ['BF.ADD', 'a', 'x'],
      ['BF.EXISTS', 'a', 'x'],
      ['BF.RESERVE', 'a', '0.01', '100'],
      ['BF.INFO', 'a'],
    ]
    for (const words of asked) {
      expect(await two.ask(...words)).toBe("!ERR sieve 'a' is set aside: its snapshot is cut short")
    }
    const answer = await app.inject('/v1/sieves/a')
    expect([answer.statusCode, answer.json()]).toMatchObject([
      503,
      { detail: expect.stringContaining('set aside') },
    ])
    const created = await app.inject({ method: 'PUT', url: '/v1/sieves/a' })
    expect([created.statusCode, created.json()]).toMatchObject([
      409,
      { detail: "sieve 'a' is set aside: its snapshot is cut short" },
    ])
  })
})

describe('past its capacity', () => {
  const urls = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => `https://example.com/${from + i}`)

  it('a filter of a fixed size says so when it happens, after a restart too, until it is dropped', async () => {
    const data = folder()
    const first = await served({ registry: { data } })
    const client = await first.connect()
    await client.ask('SIEVE.CREATE', 'small', 'FILTER', 'classic', 'URLS', '1000', 'FPR', '0.001')
    await client.ask('SIEVE.CREATE', 'grows')
    await client.ask('SIEVE.ADD', 'grows', ...urls(0, 5000))
    const { faults } = first.registry
    let added = 0
    while (faults.list().length === 0 && added < 1100) {
      await client.ask('SIEVE.ADD', 'small', ...urls(added, 10))
      added += 10
    }
    expect(added).toBeGreaterThan(1000)
    expect(added).toBeLessThan(1050)
    const past = { kind: 'past-capacity', sieve: 'small', message: expect.stringContaining('1000 URLs') }
    expect(faults.list()).toMatchObject([past])
    await first.close()
    const second = await served({ registry: { data } })
    expect(second.registry.faults.list()).toMatchObject([past])
    expect(await (await second.connect()).ask('DEL', 'small')).toBe(1)
    expect(second.registry.faults.list()).toEqual([])
  })

  it('a filter of BF.RESERVE that refuses what is past its capacity is not past it', async () => {
    const one = await served()
    const client = await one.connect()
    await client.ask('BF.RESERVE', 'f', '0.001', '100', 'NONSCALING')
    for (let i = 0; i < 5; i++) await client.ask('BF.MADD', 'f', ...urls(50 * i, 50))
    expect(one.registry.faults.list()).toEqual([])
    expect(await client.ask('BF.CARD', 'f')).toBe(100)
  })
})

const hasLimits = spawnSync('prlimit', ['--version']).status === 0

it.skipIf(!hasLimits)(
  'a disk that refuses writes: not ready until it takes them, with a line each',
  async () => {
    const server = await started(['--data', folder()])
    const client = await server.connect()
    const readiness = async () => (await fetch(`http://127.0.0.1:${server.httpPort}/readyz`)).status
    const events = () =>
      server
        .output()
        .split('\n')
        .filter((line) => line.includes('"fault'))
        .map((line) => JSON.parse(line) as object)
    const until = async (status: number) => {
      while ((await readiness()) !== status) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const limit = (bytes: string) =>
      spawnSync('prlimit', ['--pid', String(server.child.pid), `--fsize=${bytes}:`])
    await client.ask('SIEVE.CREATE', 'a')
    expect(await client.ask('SIEVE.ADD', 'a', 'https://example.com/1')).toEqual([1])
    limit('0')
    for (let i = 0; i < 20; i++) {
      expect(await client.ask('SIEVE.ADD', 'a', `https://example.com/refused/${i}`)).toMatch(
        /^!MISCONF cannot write/,
      )
    }
    expect(await readiness()).toBe(503)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(await readiness()).toBe(503)
    expect(await client.ask('SIEVE.HAS', 'a', 'https://example.com/1')).toEqual([1])
    limit('unlimited')
    await until(200)
    expect(events()).toMatchObject([
      {
        level: 'error',
        event: 'fault',
        kind: 'disk',
        sieve: 'a',
        message: expect.stringContaining('may not grow'),
      },
      { level: 'info', event: 'fault over', kind: 'disk', sieve: 'a' },
    ])
    expect(await client.ask('SIEVE.ADD', 'a', 'https://example.com/refused/1')).toEqual([1])
    server.child.kill('SIGTERM')
    expect(await server.ended()).toBe(0)
  },
)
