// `dedupe --state --max-memory` over several runs, and the commands that read its folder.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectFailure, linesOf, temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()
const path = (name: string) => join(folder, name)
const url = (i: number) => `https://host${i % 7}.example/page/${i}`
const textOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `${url(from + i)}\n`).join('')

const dedupe = (name: string, input: string, ...more: string[]) =>
  urlsieve(['dedupe', '--max-memory', '150M', '--state', path(name), ...more], { input })

async function printed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await urlsieve(args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.toString()
}

describe('a disk sieve in its folder', () => {
  it('remembers across runs, with its profile', async () => {
    expect(linesOf((await dedupe('seen', textOf(0, 3000), '--profile', 'whatwg')).stdout)).toHaveLength(3000)
    expect((await dedupe('seen', textOf(0, 3000))).stdout.length).toBe(0)
    expect((await dedupe('seen', textOf(2000, 4000))).stdout.toString()).toBe(textOf(3000, 4000))
    expect((await dedupe('seen', textOf(3990, 4010), '--repeated')).stdout.toString()).toBe(
      textOf(3990, 4000),
    )
    const { stderr } = await dedupe('seen', 'not a URL\n', '--stats')
    expect(JSON.parse(stderr)).toMatchObject({ lines: 1, new: 1, seen: 0, invalid: 1 })
    expectFailure(await dedupe('seen', '', '--profile', 'raw'), 2, /has --profile 'whatwg', not 'raw'/)
    expectFailure(
      await urlsieve(['dedupe', '--state', path('seen')], { input: '' }),
      2,
      /is a disk sieve: open it with urlsieve\/disk, or --max-memory/,
    )
  })

  it('inspect, check, verify and export', async () => {
    const stats = JSON.parse(await printed('inspect', path('seen'), '--json'))
    expect(stats).toMatchObject({ filter: 'disk', profile: 'whatwg', urls: 4011, seen: 4010, invalid: 1 })
    expect(await printed('inspect', path('seen'))).toMatch(/^URLs +4,011$/m)
    expect(await printed('check', '--state', path('seen'), url(1), url(4005))).toMatch(/^seen .*\nseen /)
    expect((await urlsieve(['check', '--state', path('seen'), url(9999)])).code).toBe(1)
    expect(await printed('verify', path('seen'))).toContain('manifest')
    const hashes = (await printed('export', path('seen'))).trim().split('\n')
    expect(new Set(hashes).size).toBe(4011)
    expect(hashes.every((hash) => /^[0-9a-f]{16}$/.test(hash))).toBe(true)
  })

  it('merge: copies that went on apart', async () => {
    cpSync(path('seen'), path('other'), { recursive: true })
    await dedupe('other', textOf(8000, 9000))
    expect(await printed('merge', path('seen'), path('other'), '-o', path('both'))).toContain(
      '5,011 URLs of 2',
    )
    expect((await dedupe('both', textOf(0, 4000) + textOf(8000, 9000))).stdout.length).toBe(0)
    await dedupe('stranger', textOf(0, 10))
    const strange = await urlsieve(['merge', path('seen'), path('stranger'), '-o', path('none')])
    expectFailure(strange, 2, /different rules or secret keys/)
  })

  it('damage is found, and repair leaves it out', async () => {
    const name = readdirSync(path('other')).find((file) => file.startsWith('run-'))!
    const file = join(path('other'), name)
    const bytes = readFileSync(file)
    bytes[5000]! ^= 4
    writeFileSync(file, bytes)
    const found = await urlsieve(['verify', path('other')])
    expect(found.code).toBe(3)
    expect(found.stdout.toString()).toContain('a block does not match its checksum')
    await printed('verify', path('other'), '--repair')
    await printed('verify', path('other'))
    const { urls } = JSON.parse(await printed('inspect', path('other'), '--json'))
    expect(urls).toBeLessThan(5011)
    expect(urls).toBeGreaterThan(0)
  })
})
