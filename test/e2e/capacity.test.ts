// A filter past its capacity is a visible event in every command that adds; a sieve on the disk remembers only what
// reached the output. Some filters; URLSIEVE_FULL=1: all.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bash, cases, expectQuiet, linesOf, temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()
const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const urls = Array.from({ length: 60_000 }, (_, i) => `https://example.com/page/${i}`)
const many = file('many.txt', `${urls.join('\n')}\n`)

const WARNINGS =
  /^urlsieve: warning: filter '[a-z-]+' is past its capacity of 1,000 URLs: [^\n]+\nurlsieve: warning: [\d,]+ URLs in a filter for 1,000: [\d.]+ % of new URLs are dropped as seen now, where 0\.1 % was promised\n/

/** Several times what is read at once. */
const some = file('some.txt', `${urls.slice(0, 20_000).join('\n')}\n`)

describe.each(cases(['classic', 'eigenvalue'], ['blocked', 'prefix-layers']))('%s', (filter) => {
  it('dedupe warns once when it happens and once at the end, and --stats says it', async () => {
    const args = ['dedupe', '--filter', filter, '--urls', '1000', '--fpr', '1e-3', '--stats', some]
    const ended = await urlsieve(args)
    expect(ended.code).toBe(0)
    expect(ended.stderr).toMatch(WARNINGS)
    const stats = JSON.parse(ended.stderr.trimEnd().split('\n').at(-1)!)
    expect(stats).toMatchObject({ promisedRate: 0.001, pastCapacity: true })
    expect(stats.expectedRate).toBeGreaterThan(0.001)
  })
})

it.each(cases(['multilayer'], ['keyword-layers']))('%s warns too, and promises no rate', async (filter) => {
  const ended = await urlsieve(['dedupe', '--filter', filter, '--urls', '1000', '--stats', some])
  expect(ended.stderr).toMatch(
    /URLs in a filter for 1,000: no rate is promised, new URLs whose \w+ are those of /,
  )
  const stats = JSON.parse(ended.stderr.trimEnd().split('\n').at(-1)!)
  expect(stats).toMatchObject({ expectedRate: null, promisedRate: null, pastCapacity: true })
})

it.each(['poly31', 'djb2', 'xor17'])(
  'a hash with too few bits for its filter is refused: %s',
  async (hash) => {
    for (const filter of ['blocked', 'cuckoo', 'scalable', 'fingerprint', 'window']) {
      const ended = await urlsieve(['dedupe', '--filter', filter, '--hash', hash, '--urls', '1000', some])
      expect([ended.code, ended.stdout.length]).toEqual([2, 0])
      expect(ended.stderr).toMatch(
        /^urlsieve: --hash '\w+': expected siphash or xxh64; hash '\w+' has 32 bits, [^\n]+\n/,
      )
    }
  },
)

it('within its capacity nothing is said, and --stats has the rates', async () => {
  const ended = await urlsieve([
    'dedupe',
    '--filter',
    'classic',
    '--urls',
    '100k',
    '--fpr',
    '1e-3',
    '--stats',
    many,
  ])
  const stats = JSON.parse(ended.stderr)
  expect(stats).toMatchObject({ promisedRate: 0.001, pastCapacity: false })
  expect(stats.expectedRate).toBeLessThan(0.001)
})

it('run warns too', async () => {
  const commands = file(
    'commands.txt',
    urls
      .slice(0, 20_000)
      .map((url) => `ADD ${url}\n`)
      .join(''),
  )
  const ended = await urlsieve(['run', commands, '--urls', '1000', '--fpr', '1e-3'])
  expect(ended.stderr).toMatch(WARNINGS)
})

it('a filter that grows has no capacity', async () => {
  expectQuiet(await urlsieve(['dedupe', '--urls', '1000', many, '-o', join(folder, 'out')]))
})

describe('what was not written is not remembered', () => {
  const dedupe = 'node "$URLSIEVE" dedupe --state "$STATE" --profile raw "$MANY"'
  const run = (script: string, state: string) =>
    bash(script, { env: { MANY: many, STATE: join(folder, state) } })

  it('after a reader that went away, the next run prints all but what the pipe took', async () => {
    const first = await run(`${dedupe} | head -c 1000 > /dev/null`, 'head')
    expectQuiet(first)
    const second = linesOf((await run(dedupe, 'head')).stdout)
    // A pipe holds 64 KiB, and head may have read as much again before it went.
    expect(second.length).toBeGreaterThan(urls.length - (256 * 1024) / urls[0]!.length)
    expect(second).toEqual(urls.slice(-second.length))
  })

  it.skipIf(!existsSync('/dev/full'))('after a full disk, the next run prints all', async () => {
    const first = await run(`${dedupe} > /dev/full`, 'full')
    expect(first).toMatchObject({ code: 4 })
    expect(linesOf((await run(dedupe, 'full')).stdout)).toEqual(urls)
  })

  it.skipIf(!existsSync('/dev/full'))(
    'the same with a filter that cannot delete, and with threads',
    async () => {
      for (const more of ['--filter blocked --urls 100k', '--threads 2']) {
        const state = more.replaceAll(/\W/g, '')
        const first = await run(`${dedupe} ${more} > /dev/full`, state)
        expect(first).toMatchObject({
          code: 4,
          stderr: 'urlsieve: cannot write stdout: no space left on the device\n',
        })
        expect(linesOf((await run(`${dedupe} ${more}`, state)).stdout)).toEqual(urls)
      }
    },
  )
})
