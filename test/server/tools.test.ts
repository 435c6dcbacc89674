// Tools that people point at a Redis: redis-cli with its modes and its help, Prometheus' exporter, and clients in the ways
// that they batch. Each must find what it reads.
import { spawn } from 'node:child_process'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../redis/servers.ts'
import { whyMissing } from '../support/debian.ts'
import { atEnd } from './ends.ts'
import { type Served, served } from './serving.ts'

const noTools = whyMissing('redis-tools')
const noPython = whyMissing('python3-redis')
const noExporter = whyMissing('prometheus-redis-exporter')

let server: Served
let port = ''
beforeAll(async () => {
  server = await served()
  port = String(server.listener.port)
  const client = await server.connect()
  await client.ask('SADD', 'urls', ...Array.from({ length: 300 }, (_, i) => `https://example.com/${i}`))
  await client.ask('SADD', 'few', 'a')
  await client.ask('BF.RESERVE', 'filter', '0.001', '100000')
  await client.ask('EXPIRE', 'few', '1000')
})

/** Runs a program until it ends, or until its output matches. */
function outputOf(program: string, args: readonly string[], until?: RegExp, input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    atEnd(() => child.kill('SIGKILL'))
    let text = ''
    const take = (chunk: Buffer) => {
      text += chunk
      if (until?.test(text)) child.kill('SIGKILL')
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.on('error', reject)
    child.on('close', () => resolve(text))
    child.stdin.end(input)
  })
}

const cli = (...args: string[]) => outputOf('redis-cli', ['-p', port, ...args])

describe.each(['-2', '-3'])('redis-cli %s', (version) => {
  it.skipIf(noTools)(`--scan, --bigkeys, --memkeys ${noTools}`, async () => {
    const names = (await cli(version, '--scan')).trim().split('\n').sort()
    expect(names).toEqual(['few', 'filter', 'urls'])
    const big = await cli(version, '--bigkeys')
    expect(big).toMatch(/Biggest +set found .*urls.* has 300 members/)
    expect(big).toMatch(/2 sets with 301 members/)
    const memory = await cli(version, '--memkeys')
    expect(memory).toMatch(/Biggest MBbloom-- found .*filter.* has \d+ bytes/)
    expect(memory).toMatch(/Biggest +set found .* has \d+ bytes/)
  })

  it.skipIf(noTools)(`--stat ${noTools}`, async () => {
    const text = await outputOf(
      'stdbuf',
      ['-oL', 'redis-cli', '-p', port, version, '--stat', '-i', '0.01'],
      /\n3 .*\n/,
    )
    // keys, memory, clients, blocked, requests, connections
    expect(text).toMatch(/\n3 +[\d.]+M +\d+ +0 +\d+ \(\+\d+\) +\d+/)
    expect(text).not.toMatch(/-9223372036854775808/)
  })

  it.skipIf(noTools)(`--pipe with SADD ${noTools}`, async () => {
    const lines = Array.from(
      { length: 500 },
      (_, i) => `SADD piped${version} https://example.com/${i % 400}\r\n`,
    )
    const text = await outputOf('redis-cli', ['-p', port, version, '--pipe'], undefined, lines.join(''))
    expect(text).toMatch(/errors: 0, replies: 500/)
    const client = await server.connect()
    expect(await client.ask('SCARD', `piped${version}`)).toBe(400)
    await client.ask('DEL', `piped${version}`)
  })

  it.skipIf(noTools || noPython)(
    `interactive: the syntax of a command and its help ${noTools}`,
    { timeout: 150_000 },
    async () => {
      const script = new URL('terminal.py', import.meta.url).pathname
      const text = await outputOf('/usr/bin/python3', [script, port, version])
      const { hint, help, reply } = JSON.parse(text) as Record<string, string>
      expect(hint).toContain('key seconds [NX|XX|GT|LT]')
      expect(help).toContain('BF.INSERT key [CAPACITY capacity] [ERROR error]')
      expect(help).toContain('summary: Marks items, and creates their filter if necessary')
      expect(reply).toContain('(integer) 300')
    },
  )
})

describe('prometheus-redis-exporter', () => {
  it.skipIf(noExporter)(`reads memory, keys, expiry and commands ${noExporter}`, async () => {
    const own = await freePort()
    const child = spawn(
      '/usr/bin/prometheus-redis-exporter',
      ['-redis.addr', `redis://127.0.0.1:${port}`, '-web.listen-address', `127.0.0.1:${own}`],
      { stdio: 'ignore' },
    )
    atEnd(() => child.kill('SIGKILL'))
    let text = ''
    for (let i = 0; i < 200 && !text.includes('redis_up'); i++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      text = await fetch(`http://127.0.0.1:${own}/metrics`).then(
        (response) => response.text(),
        () => '',
      )
    }
    child.kill('SIGKILL')
    expect(text).toMatch(/^redis_up 1$/m)
    expect(text).toMatch(/^redis_db_keys\{db="db0"\} 3$/m)
    expect(text).toMatch(/^redis_db_keys_expiring\{db="db0"\} 1$/m)
    expect(text).toMatch(/^redis_memory_used_bytes [1-9]/m)
    expect(text).toMatch(/^redis_memory_used_rss_bytes [1-9]/m)
    expect(text).toMatch(/^redis_connected_clients [1-9]/m)
    expect(text).toMatch(/^redis_blocked_clients 0$/m)
    expect(text).toMatch(/^redis_connections_received_total [1-9]/m)
    expect(text).toMatch(/^redis_keyspace_misses_total \d/m)
    expect(text).toMatch(/^redis_commands_total\{cmd="sadd"\} [1-9]/m)
    expect(text).toMatch(/^redis_commands_duration_seconds_total\{cmd="sadd"\}/m)
    expect(text).toMatch(/^redis_slowlog_length \d/m)
    expect(text).toMatch(/^redis_exporter_last_scrape_error\{err=""\} 0$/m)
  })
})

describe('clients with sets and expiry', () => {
  it.each([2, 3] as const)('the official redis package, RESP%i', async (version) => {
    const client = createClient({ url: `redis://127.0.0.1:${port}`, RESP: version })
    await client.connect()
    const key = `node-${version}`
    expect(await client.sAdd(key, ['a', 'b'])).toBe(2)
    expect(await client.sIsMember(key, 'a')).toBe(1)
    expect(await client.smIsMember(key, ['a', 'z'])).toEqual([1, 0])
    const replies = await client.multi().sAdd(key, 'c').expire(key, 100).ttl(key).sRem(key, 'a').exec()
    expect(replies).toEqual([1, 1, 100, 1])
    expect(await client.rename(key, `${key}-new`)).toBe('OK')
    expect(await client.sCard(`${key}-new`)).toBe(2)
    expect(await client.commandGetKeys(['SADD', 'x', 'y'])).toEqual(['x'])
    expect((await client.commandInfo(['sadd']))[0]).toMatchObject({ name: 'sadd', arity: -3 })
    expect(await client.objectEncoding(`${key}-new`)).toBe('hashtable')
    expect(await client.memoryUsage(`${key}-new`)).toBeGreaterThan(0)
    expect(await client.clientGetName()).toBe(null)
    expect(await client.del(`${key}-new`)).toBe(1)
    await client.close()
  })

  it.each([2, 3] as const)('ioredis with autopipelining, RESP%i', async (protocol) => {
    const client = new Redis({
      port: Number(port),
      protocol,
      enableAutoPipelining: true,
      retryStrategy: () => null,
    })
    const key = `io-${protocol}`
    const added = await Promise.all(Array.from({ length: 100 }, (_, i) => client.sadd(key, `m${i % 60}`)))
    expect(added.filter((one) => one === 1)).toHaveLength(60)
    expect(await client.scard(key)).toBe(60)
    const replies = await client.multi().sadd(key, 'x').pexpire(key, 100_000).srem(key, 'x').exec()
    expect(replies).toEqual([
      [null, 1],
      [null, 1],
      [null, 1],
    ])
    expect(await client.ttl(key)).toBe(100)
    expect(await client.unlink(key)).toBe(1)
    await client.quit()
  })

  it.skipIf(noPython)(`scrapy-redis' duplicate filter, as python3-redis sends it ${noPython}`, async () => {
    const script = `
import json, sys, redis
server = redis.StrictRedis.from_url("redis://127.0.0.1:" + sys.argv[1])
key = "dupefilter"
seen = [server.sadd(key, fp) == 0 for fp in ("a1", "b2", "a1")]
pipe = server.pipeline()
pipe.sadd(key, "c3").sismember(key, "c3").expire(key, 50).scard(key)
print(json.dumps([seen, [int(one) for one in pipe.execute()], server.delete(key)]))
`
    const text = await outputOf('/usr/bin/python3', ['-c', script, port])
    expect(JSON.parse(text)).toEqual([[false, false, true], [1, 1, 1, 3], 1])
  })
})
