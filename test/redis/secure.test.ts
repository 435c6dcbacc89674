// TLS with certificates of both sides, users with the rights that docs/cluster.md names, and lists of nodes of which some
// are away: through the library and the command.
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectionOptions } from '../../src/options/connection-options.ts'
import { connectRedis, RedisSieve } from '../../src/redis/index.ts'
import { expectFailure, expectQuiet, linesOf, urlsieve } from '../e2e/command.ts'
import { root } from '../support/built.ts'
import { type Certificates, makeCertificates, tlsSettings, whyNoOpenssl } from './certificates.ts'
import { freePort, type RedisCluster, startCluster, startNode, whyNoRedis } from './servers.ts'
import { all, urlsOf } from './urls.ts'

const page = readFileSync(`${root}docs/cluster.md`, 'utf8')

it('docs/cluster.md has every option of a connection, with its flag', () => {
  for (const { name, flag } of connectionOptions) {
    expect(page).toMatch(new RegExp(`^\\| \`${name}\` +\\| \`${flag}\` `, 'm'))
  }
})

describe('options of a connection that are refused before anything is connected', () => {
  const pem = '-----BEGIN CERTIFICATE-----'
  it.each([
    ['redis://a:1', { tlsCa: pem }, 'tlsCa without TLS: expected rediss://host:port'],
    ['rediss://a:1', { tlsCert: pem }, 'tlsCert without tlsKey: expected both, or neither'],
    ['rediss://a:1', { tlsKey: pem }, 'tlsKey without tlsCert: expected both, or neither'],
    ['rediss://a:1', { tlsCa: 'ca.pem' }, 'tlsCa has no PEM text in it: expected PEM text, with -----BEGIN'],
    ['redis://a:1', { username: '' }, "username '': expected a text that is not empty"],
    [
      ['redis://a:1', 'rediss://b:1'],
      {},
      'redis:// and rediss:// together: expected all URLs with TLS, or none',
    ],
    [[], {}, 'no URL of Redis: expected redis://host:port'],
    ['redis://a:1,b:2', {}, "Redis at 'redis://a:1,b:2': expected redis://host:port or rediss://host:port"],
    ['redis://:%zz@a:1', {}, 'the password in the URL of Redis: expected % only before two hex digits'],
    ['redis://a:1/zero', {}, "database 'zero' of Redis: expected a number"],
  ])('%s %o', async (url, options, message) => {
    await expect(connectRedis(url, options)).rejects.toMatchObject({ code: 'option', message })
  })
})

describe.skipIf(whyNoRedis || whyNoOpenssl)('a cluster of one node with TLS and users', () => {
  let files: Certificates
  let servers: RedisCluster
  let url: string
  let away: string
  let trusted: { tlsCa: string; tlsCert: string; tlsKey: string }
  beforeAll(async () => {
    files = makeCertificates()
    const port = await freePort()
    servers = await startCluster({ primaries: 1, replicas: 0 }, tlsSettings(files, port))
    url = `rediss://127.0.0.1:${port}`
    away = `rediss://127.0.0.1:${await freePort()}`
    trusted = {
      tlsCa: files.text('ca.pem'),
      tlsCert: files.text('client.pem'),
      tlsKey: files.text('client.key'),
    }
  })
  afterAll(async () => {
    await servers?.stop()
    files?.remove()
  })

  it('is connected to with the certificates, and calls go through TLS', async () => {
    const { client, isCluster, close } = await connectRedis(url, trusted)
    try {
      expect(isCluster).toBe(true)
      const sieve = await RedisSieve.open({ client, name: 'tls' })
      expect(await sieve.addMany(urlsOf(0, 500))).toEqual(all(500, 1))
      expect(await sieve.addMany(urlsOf(0, 500))).toEqual(all(500, 0))
    } finally {
      await close()
    }
  })

  it.each([
    [
      'without a certificate',
      () => ({ tlsCa: trusted.tlsCa }),
      /certificate required|alert|closed|ECONNRESET/i,
    ],
    [
      'with one of another authority',
      () => ({ ...trusted, tlsCert: files.text('stranger.pem'), tlsKey: files.text('stranger.key') }),
      /unknown ca|alert|closed|ECONNRESET/i,
    ],
    [
      'that does not trust the server',
      () => ({ ...trusted, tlsCa: files.text('other-ca.pem') }),
      /certificate/,
    ],
    ['of another name', () => ({ ...trusted, tlsServerName: 'elsewhere.test' }), /elsewhere\.test/],
  ])('a client %s is refused in one line', async (_, options, why) => {
    const error = await connectRedis(url, { ...options(), connectTimeoutMs: 5000 }).catch((e: Error) => e)
    expect((error as Error).message).toMatch(/^cannot connect to Redis at 127\.0\.0\.1:\d+: [^\n]+$/)
    expect((error as Error).message).toMatch(why)
  })

  it('a certificate may be checked against a name', async () => {
    const { close } = await connectRedis(url, { ...trusted, tlsServerName: 'redis.test' })
    await close()
  })

  it('of a list one node has to answer; when none does, each is named', async () => {
    const { isCluster, close } = await connectRedis([away, url], trusted)
    expect(isCluster).toBe(true)
    await close()
    await expect(connectRedis(`${away},${away}`, trusted)).rejects.toThrow(
      /^cannot connect to Redis; 127\.0\.0\.1:\d+: connect ECONNREFUSED [^;]+; 127\.0\.0\.1:\d+: connect ECONNREFUSED/,
    )
  })

  it('the command: certificates, user and password from files, with the documented rights', async () => {
    const [, rights] = /^ACL SETUSER crawler on >SECRET (.+)$/m.exec(page)!
    const set = ['ACL', 'SETUSER', 'crawler', 'on', '>pass', ...rights!.split(' ')]
    expect(await servers.nodes[0]!.ask(...set)).toBe('OK')
    writeFileSync(files.path('password'), 'pass\nmore\n')
    const flags = [
      ...['--redis', `${away},${url}`, '--redis-ca', files.path('ca.pem'), '--redis-user', 'crawler'],
      ...['--redis-cert', files.path('client.pem'), '--redis-key', files.path('client.key')],
    ]
    const input = `${urlsOf(0, 3000).join('\n')}\n`
    const done = await urlsieve(
      ['dedupe', ...flags, '--redis-password-file', files.path('password'), '--window', '1h', '--stats'],
      { input },
    )
    expect(linesOf(done.stdout)).toHaveLength(3000)
    expect(JSON.parse(done.stderr)).toMatchObject({ new: 3000, unknown: 0 })

    const { client, close } = await connectRedis(url, { ...trusted, username: 'crawler', password: 'pass' })
    try {
      const job = () => RedisSieve.open({ client, name: 'rights', job: 'crawl' })
      const first = await job()
      await first.addMany(urlsOf(0, 200))
      await first.confirm()
      await first.addMany(urlsOf(200, 300))
      await first.close()
      const second = await job()
      expect(await second.addMany(urlsOf(0, 300))).toEqual(Uint8Array.of(...all(200, 0), ...all(100, 1)))
      await second.confirm()
      await second.clear()
      await second.close()
    } finally {
      await close()
    }
    const again = await urlsieve(['dedupe', ...flags], {
      input,
      env: { ...process.env, URLSIEVE_REDIS_PASSWORD: 'pass' },
    })
    expectQuiet(again)
    expect(again.stdout.length).toBe(0)
    const refused = await urlsieve(['dedupe', ...flags], {
      input,
      env: { ...process.env, URLSIEVE_REDIS_PASSWORD: 'no' },
    })
    expectFailure(refused, 3, /WRONGPASS/)
    expectFailure(
      await urlsieve(['dedupe', '--redis', url, '--redis-ca', '/no/such/file'], { input }),
      3,
      /no such file/,
    )
  })
})

describe.skipIf(whyNoRedis)('several URLs', () => {
  it('of a single node are refused', async () => {
    const node = await startNode()
    try {
      await expect(connectRedis([node.url, node.url])).rejects.toThrow(
        /^several URLs, and Redis at 127\.0\.0\.1:\d+ is a single node: expected nodes of one cluster, or sentinel$/,
      )
    } finally {
      await node.kill()
    }
  })
})
