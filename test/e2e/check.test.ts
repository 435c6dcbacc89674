// `urlsieve check`: URLs as arguments, in files and on stdin.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()
const state = join(folder, 'seen')
const known = Array.from({ length: 30_000 }, (_, i) => `https://example.com/${i}`)
const other = Array.from({ length: 30_000 }, (_, i) => `https://example.org/${i}`)
/** Known and unknown in turn. */
const mixed = known.flatMap((url, i) => [url.toUpperCase().replace('HTTPS', 'https'), other[i]!])

beforeAll(async () => {
  const made = await urlsieve(['dedupe', '--state', state], { input: `${known.join('\n')}\n` })
  expect(made.code).toBe(0)
  writeFileSync(join(folder, 'mixed.txt.gz'), gzipSync(mixed.join('\n')))
})

describe('check', () => {
  it('prints the verdict of each line of stdin', async () => {
    const input = `${mixed.join('\n')}` // the last line has no newline
    const { stdout, code, stderr } = await urlsieve(['check', '--state', state], { input })
    expect(stderr).toBe('')
    expect(code).toBe(1)
    const expected = mixed.map((url, i) => `${i % 2 === 0 ? 'seen  ' : 'new   '}${url}\n`).join('')
    expect(stdout.toString()).toBe(expected)
  })

  it.each([
    ['new', other],
    ['seen', mixed.filter((_, i) => i % 2 === 0)],
  ])('--only %s prints those lines, of a packed file', async (only, expected) => {
    const packed = join(folder, 'mixed.txt.gz')
    const { stdout, code } = await urlsieve(['check', '--state', state, '--in', packed, '--only', only])
    expect(code).toBe(1)
    expect(stdout.toString()).toBe(`${expected.join('\n')}\n`)
  })

  it('marks nothing, and ends with 0 when all were seen', async () => {
    const input = `${other.join('\n')}\n`
    for (let i = 0; i < 2; i++) {
      expect((await urlsieve(['check', '--state', state, '--only', 'seen'], { input })).stdout.length).toBe(0)
    }
    const all = await urlsieve(['check', '--state', state, '--only', 'new'], { input: known.join('\n') })
    expect(all).toMatchObject({ code: 0, stderr: '' })
    expect(all.stdout.length).toBe(0)
    expect(await urlsieve(['check', '--state', state], { input: '' })).toMatchObject({ code: 0, stderr: '' })
  })

  it('warns when most lines are not URLs', async () => {
    const input = Array.from({ length: 20 }, (_, i) => `${i}\n`).join('')
    const { stderr } = await urlsieve(['check', '--state', state], { input })
    expect(stderr).toMatch(/^urlsieve: warning: 20 of 20 lines are not URLs [^\n]+\n$/)
  })

  it.each([
    [['https://example.com/', '--in', 'a'], /'https:\/\/example\.com\/' with --in: expected URLs or files/],
    [['--json'], /--json is for URLs given as arguments/],
    [['https://example.com/', '--only', 'new'], /--only is for lines: give the URLs by --in/],
    [['--in', 'missing.txt'], /missing\.txt/],
  ])('%j is refused in one line', async (args, message) => {
    const { code, stderr, stdout } = await urlsieve(['check', '--state', state, ...args], { input: '' })
    expect(code).toBeGreaterThan(1)
    expect(stderr).toMatch(/^urlsieve: [^\n]+\n$/)
    expect(stderr).toMatch(message)
    expect(stdout.length).toBe(0)
  })
})
