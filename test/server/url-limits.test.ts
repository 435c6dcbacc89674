// URLs that are too long to be worked on in one step are refused before anything is marked.
import { expect, it } from 'vitest'
import { encoded, plain } from './raw.ts'
import { fresh, served } from './serving.ts'

const server = await served()
const urlOf = (bytes: number, i = 0) => `https://example.com/${i}?`.padEnd(bytes, 'a')

it.each(['aggressive', 'scrapy', 'crawlee', 'raw'])(
  '%s: 64 KiB, and 16 KiB to be explained',
  async (profile) => {
    const client = await server.connect()
    const name = fresh()
    await client.ask('SIEVE.CREATE', name, 'PROFILE', profile)
    const [longest, tooLong] = [urlOf(65_536), urlOf(65_537)]
    const refused = '!ERR a URL of 65537 bytes: expected at most 65536'
    expect(await client.ask('SIEVE.ADD', name, 'a', tooLong, 'b')).toBe(refused)
    for (const verb of ['HAS', 'EXPLAIN', ...(profile === 'raw' ? [] : ['FORGET'])]) {
      expect(await client.ask(`SIEVE.${verb}`, name, tooLong)).toBe(refused)
    }
    expect(await client.ask('SIEVE.ADD', name, 'a', longest)).toEqual([1, 1])
    expect(await client.ask('SIEVE.HAS', name, 'a', 'b', longest)).toEqual([1, 0, 1])
    expect(await client.ask('SIEVE.EXPLAIN', name, urlOf(16_385))).toBe(
      '!ERR a URL of 16385 bytes: expected at most 16384 to be explained',
    )
    expect(await client.ask('SIEVE.EXPLAIN', name, urlOf(16_384))).toContain('verdict')
  },
)

it('within a pipeline too, and the commands after it are done', async () => {
  const client = await server.connect()
  const name = fresh()
  await client.ask('SIEVE.CREATE', name)
  const lines = Array.from({ length: 9 }, (_, i) =>
    encoded('SIEVE.ADD', name, urlOf(i === 4 ? 70_000 : 100, i)),
  )
  client.write(Buffer.concat(lines))
  for (let i = 0; i < 9; i++) {
    const answer = plain(await client.read())
    expect(answer).toEqual(i === 4 ? '!ERR a URL of 70000 bytes: expected at most 65536' : [1])
  }
})
