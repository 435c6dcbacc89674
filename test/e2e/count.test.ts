// `dedupe --count` and `dedupe -0`: counts are exact, lines may end with NUL. Some refusals; URLSIEVE_FULL=1: all.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { HashCounts } from '../../src/cli/hash-counts.ts'
import { randomFrom } from '../support/random.mjs'
import { cases, expectFailure, expectQuiet, temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()
const random = randomFrom(18)
const urls = Array.from({ length: 20_000 }, () => `https://example.com/${Math.floor(random() ** 2 * 9000)}`)

const countOf = new Map<string, number>()
for (const url of urls) countOf.set(url, (countOf.get(url) ?? 0) + 1)
const row = (url: string, count: number, end = '\n') => `${String(count).padStart(7)} ${url}${end}`

describe('--count', () => {
  it('every URL once, after its count, in the order of first occurrence', async () => {
    const ended = await urlsieve(['dedupe', '--count'], { input: urls.join('\n') })
    expectQuiet(ended)
    expect(ended.stdout.toString()).toBe([...countOf].map(([url, count]) => row(url, count)).join(''))
  })

  it('--repeated: only what came more than once', async () => {
    const ended = await urlsieve(['dedupe', '--count', '--repeated', '--stats'], { input: urls.join('\n') })
    const repeated = [...countOf].filter(([, count]) => count > 1)
    expect(ended.stdout.toString()).toBe(repeated.map(([url, count]) => row(url, count)).join(''))
    const { size } = countOf
    expect(JSON.parse(ended.stderr)).toMatchObject({ lines: 20_000, new: size, seen: 20_000 - size })
  })

  it('by key, over rows and files: the first row is printed', async () => {
    writeFileSync(join(folder, 'a.csv'), 'id,url\n1,https://a.example/#top\n2,"https://b.example/"\n')
    writeFileSync(join(folder, 'b.csv'), 'id,url\n3,http://A.example/\n')
    const args = ['dedupe', '--count', '--field', 'url', 'a.csv', 'b.csv']
    const { stdout } = await urlsieve(args, { cwd: folder })
    expect(stdout.toString()).toBe(
      `        id,url\n${row('1,https://a.example/#top', 2)}${row('2,"https://b.example/"', 1)}`,
    )
  })

  it('large lines go to a temporary file, of which nothing is left', async () => {
    const temp = temporaryFolder()
    const long = Array.from({ length: 70 }, (_, i) => `https://example.com/${i}/${'x'.repeat(1024 ** 2)}`)
    const path = join(folder, 'long.txt')
    writeFileSync(path, [...long, ...long.slice(0, 3)].map((url) => `${url}\n`).join(''))
    const ended = await urlsieve(['dedupe', '--count', '--temp', temp, path])
    expectQuiet(ended)
    const expected = long.map((url, i) => row(url, i < 3 ? 2 : 1)).join('')
    expect(ended.stdout.equals(Buffer.from(expected))).toBe(true)
    expect(readdirSync(temp)).toEqual([])
  })

  it('of a cut input: the counts of what was read, then one line', async () => {
    const path = join(folder, 'cut.gz')
    const packed = gzipSync(urls.map((url) => `${url}\n`).join(''))
    writeFileSync(path, packed.subarray(0, packed.length - 3000))
    const ended = await urlsieve(['dedupe', '--count', path])
    expectFailure(ended, 3, /cut\.gz/)
    const rows = ended.stdout.toString().split('\n').slice(0, -1)
    expect(rows.length).toBeGreaterThan(100)
    expect(rows.map((line) => line.slice(8))).toEqual([...countOf.keys()].slice(0, rows.length))
  })

  it('ends with one error where there is no memory for more', () => {
    const counts = new HashCounts(0)
    const fill = () => {
      for (let i = 0; ; i++) counts.add(i, i)
    }
    expect(fill).toThrow('no memory left to count more than 32,768 distinct URLs')
    expect(counts.count(0)).toBe(1)
  })

  const own: [string[], RegExp][] = [
    [['--state', 'seen'], /--count with --state: expected one of them/],
    [['--redis', 'redis://127.0.0.1:1'], /--count with --redis/],
    [['--keep-per-shape', '3'], /--count with limits by shape/],
  ]
  const alike: [string[], RegExp][] = [
    [['--max-memory', '1G'], /--count with --max-memory/],
    [['--filter', 'blocked'], /--count with --filter/],
  ]
  it.each(cases(own, alike))('with %j is refused', async (flags, message) => {
    expectFailure(await urlsieve(['dedupe', '--count', ...flags], { input: '' }), 2, message)
  })
})

describe('-0', () => {
  it('the same URLs as of lines, each with NUL', async () => {
    const ended = await urlsieve(['dedupe', '-0'], { input: urls.join('\0') })
    expectQuiet(ended)
    expect(ended.stdout.toString()).toBe([...countOf.keys()].map((url) => `${url}\0`).join(''))
    const counted = await urlsieve(['dedupe', '--null', '--count'], { input: urls.join('\0') })
    expect(counted.stdout.toString()).toBe([...countOf].map(([url, count]) => row(url, count, '\0')).join(''))
  })

  it('newlines are bytes like others', async () => {
    const input = 'a\nb\0ab\0a\nb\0\0a\n\0'
    const { stdout } = await urlsieve(['dedupe', '-0', '--profile', 'raw'], { input })
    expect(stdout.toString()).toBe('a\nb\0ab\0\0a\n\0')
  })

  it.each([['--extract'], ['--format', 'csv'], ['--field', '1']])('with %s is refused', async (...flags) => {
    const ended = await urlsieve(['dedupe', '-0', ...flags], { input: '' })
    expectFailure(ended, 2, new RegExp(`--null.*${flags[0]}|${flags[0]}.*--null`))
  })
})
