// `urlsieve dedupe --redis`: the real command on one node and on a cluster. Some bad inputs; URLSIEVE_FULL=1: all.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectRedis, RedisSieve } from '../../src/redis/index.ts'
import { badInputs, expectAsPlain, writeBadInputs } from '../e2e/bad-inputs.ts'
import { type Ended, expectFailure, expectQuiet, linesOf, temporaryFolder, urlsieve } from '../e2e/command.ts'
import { startProxy } from './proxy.ts'
import { type RedisNode, startCluster, startNode, whyNoRedis } from './servers.ts'
import { repeating } from './urls.ts'

const lines = repeating(30_000, 40_000, 3)
const input = `${lines.join('\n')}\n`
const unique = [...new Set(lines)]

describe.skipIf(whyNoRedis)('urlsieve dedupe --redis', () => {
  let node: RedisNode
  beforeAll(async () => {
    node = await startNode()
  })
  afterAll(() => node?.kill())
  const dedupe = (...args: string[]): Promise<Ended> =>
    urlsieve(['dedupe', '--redis', node.url, ...args], { input })

  it('prints what is new for everyone; a second run has seen all', async () => {
    const first = await dedupe('--redis-name', 'a')
    expectQuiet(first)
    expect(linesOf(first.stdout)).toEqual(unique)
    const second = await dedupe('--redis-name', 'a', '--stats')
    expect(second.stdout.length).toBe(0)
    expect(JSON.parse(second.stderr)).toMatchObject({
      lines: 30_000,
      new: 0,
      seen: 30_000,
      unknown: 0,
      invalid: 0,
    })
    const repeated = await dedupe('--redis-name', 'a', '--repeated', '--filter', 'fingerprint')
    expect(linesOf(repeated.stdout)).toEqual(lines)
  })

  it('works on a cluster, two runs at once share the work', async () => {
    const servers = await startCluster({ replicas: 0 })
    try {
      const args = [
        'dedupe',
        '--redis',
        servers.url,
        '--filter',
        'compact',
        '--urls',
        '50k',
        '--profile',
        'raw',
      ]
      const runs = await Promise.all([urlsieve(args, { input }), urlsieve(args, { input })])
      for (const run of runs) expectQuiet(run)
      const [one, two] = runs.map((run) => linesOf(run.stdout)) as [string[], string[]]
      expect(one.length + two.length).toBe(unique.length)
      expect(new Set([...one, ...two]).size).toBe(unique.length)
    } finally {
      await servers.stop()
    }
  })

  it('says in one line what cannot be', async () => {
    expectFailure(
      await urlsieve(['dedupe', '--redis', 'redis://127.0.0.1:1'], { input }),
      3,
      /cannot connect to Redis/,
    )
    expectFailure(
      await urlsieve(['dedupe', '--redis', 'nowhere'], { input }),
      2,
      /expected redis:\/\/host:port/,
    )
    expectFailure(await urlsieve(['dedupe', '--filter', 'compact'], { input }), 2, /needs --redis/)
    expectFailure(await dedupe('--filter', 'blocked'), 2, /expected fingerprint or compact/)
    expectFailure(await dedupe('--filter', 'compact'), 2, /needs --urls/)
    expectFailure(await dedupe('--state', 'x'), 2, /--redis with --state/)
    expectFailure(await dedupe('--redis-name', 'a b'), 2, /name "a b"/)
    expectQuiet(await dedupe('--redis-name', 'web'))
    expectFailure(await dedupe('--redis-name', 'web', '--profile', 'raw'), 2, /has --profile web, not raw/)
  })

  describe('a bad input', () => {
    const folder = temporaryFolder()
    beforeAll(() => writeBadInputs(folder))
    it.each(badInputs)('%s: as without Redis', async (name) => {
      await expectAsPlain(folder, name, ['--redis', node.url, '--redis-name', name])
    })
  })

  it('a Redis that goes away: whatever was marked is printed, and one line says why it ended', async () => {
    const proxy = await startProxy(node.port)
    const connection = await connectRedis(node.url)
    try {
      const sieve = await RedisSieve.open({ client: connection.client, name: 'gone' })
      proxy.cutAfter(20_000)
      const url = `redis://127.0.0.1:${proxy.port}`
      const ended = await urlsieve(
        ['dedupe', '--redis', url, '--redis-name', 'gone', '--redis-retry', '1s', '--stats'],
        { input },
      )
      const [figures, ...why] = ended.stderr.split('\n')
      expectFailure(
        { ...ended, stderr: why.join('\n') },
        3,
        /Redis does not answer, for 1 s \(--redis-retry\): .+; stopped there: [\d,]+ lines without a verdict were printed as new$/m,
      )
      // Lines whose verdict is unknown are printed and counted, but not as new.
      const stats = JSON.parse(figures!) as Record<'lines' | 'new' | 'seen' | 'unknown', number>
      expect(stats.unknown).toBeGreaterThan(0)
      expect(stats.new + stats.seen + stats.unknown).toBe(stats.lines)
      expect(linesOf(ended.stdout).length).toBe(stats.new + stats.unknown)
      expect(Number(/([\d,]+) lines without/.exec(ended.stderr)![1]!.replaceAll(',', ''))).toBe(stats.unknown)
      const printed = new Set(linesOf(ended.stdout))
      const isMarked = await sieve.hasMany(unique)
      const marked = unique.filter((_, i) => isMarked[i] === 1)
      expect(marked.length).toBeGreaterThan(5000)
      expect(marked.length).toBeLessThan(unique.length)
      expect(marked.filter((line) => !printed.has(line))).toEqual([])
    } finally {
      await connection.close()
      await proxy.stop()
    }
  })
})
