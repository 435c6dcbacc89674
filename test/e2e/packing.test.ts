// Packed inputs are known by their first bytes, whatever their name; what is certainly not a list of URLs is refused with
// one line, and a list that mostly is not URLs is warned of. Some ways to read each; URLSIEVE_FULL=1: all.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { randomFrom } from '../support/random.mjs'
import { awk, urlLines } from './awk.ts'
import {
  bash,
  cases,
  expectFailure,
  expectQuiet,
  isFull,
  links,
  temporaryFolder,
  urlsieve,
} from './command.ts'

const folder = temporaryFolder()
const lines = urlLines(randomFrom(41), 20_000, 12_000)
const expected = awk(lines)
const file = (name: string, bytes: Uint8Array | string) => {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

function pack(program: string, bytes: Uint8Array): Buffer | null {
  const { status, stdout } = spawnSync(program, ['-cq'], { input: bytes, maxBuffer: 1 << 28 })
  return status === 0 ? stdout : null
}

describe.each(['gzip', 'zstd', 'bzip2', 'xz'])('%s', (program) => {
  const packed = program === 'gzip' ? gzipSync(lines) : pack(program, lines)

  it.skipIf(packed === null)('a file without the usual name, stdin and a pipe give the lines', async () => {
    const path = file(`lines-${program}`, packed!)
    const dedupe = ['dedupe', '--profile', 'raw']
    const exact = ['--filter', 'exact', '--state', join(folder, `exact-${program}`)]
    const runs = [
      () => urlsieve([...dedupe, path]),
      () => urlsieve(dedupe, { input: packed! }),
      () => bash('node "$URLSIEVE" dedupe --profile raw < "$IN"', { env: { IN: path } }),
      () => urlsieve([...dedupe, ...exact, path]),
    ]
    // All that need a program are read alike: every way of one of them, two of the others.
    for (const run of isFull || ['gzip', 'bzip2'].includes(program) ? runs : runs.slice(0, 2)) {
      const ended = await run()
      expectQuiet(ended)
      expect(ended.stdout.equals(expected)).toBe(true)
    }
  })

  it.skipIf(packed === null)('a truncated one: what is readable, then one line', async () => {
    const ended = await urlsieve([
      'dedupe',
      '--profile',
      'raw',
      file('cut', packed!.subarray(0, packed!.length - 9)),
    ])
    expectFailure(ended, 3, /cannot read .*cut: /)
    const whole = ended.stdout.subarray(0, ended.stdout.lastIndexOf(10) + 1)
    expect(expected.subarray(0, whole.length).equals(whole)).toBe(true)
  })

  it.skipIf(packed === null || program === 'gzip')(
    'without the program: one line that names it',
    async () => {
      const env = { PATH: folder }
      const ended = await urlsieve(['dedupe', file(`none-${program}`, packed!)], { env })
      // zstd needs no program where Node has a decoder.
      if (ended.code !== 0)
        expectFailure(ended, 3, new RegExp(`packed with ${program}, and no ${program} program`))
      else expect(program).toBe('zstd')
    },
  )
})

it.skipIf(pack('bzip2', Buffer.of(10)) === null)(
  'one of many megabytes through a program: no warning',
  async () => {
    const random = randomFrom(43)
    const part = () => Math.floor(random() * 2 ** 32).toString(36)
    const url = () => `https://example.com/${Array.from({ length: 12 }, part).join('')}\n`
    const long = Buffer.from(Array.from({ length: 62_000 }, url).join(''))
    const packed = pack('bzip2', long)!
    expect(packed.length).toBeGreaterThan(3 * 2 ** 20)
    const ended = await urlsieve(['dedupe', '--profile', 'raw', '--quiet', file('long', packed)])
    expectQuiet(ended)
    expect(ended.stdout.equals(long)).toBe(true)
  },
)

it.each([
  ['a zip archive', [0x50, 0x4b, 0x03, 0x04, 0, 0, 0, 0]],
  ['a Parquet file', [...Buffer.from('PAR1abcdef')]],
  ['UTF-16 text', [0xff, 0xfe, 0x68, 0, 0x74, 0]],
  ['an lz4 file', [0x04, 0x22, 0x4d, 0x18, 0, 0]],
])('%s is refused', async (name, bytes) => {
  expectFailure(
    await urlsieve(['dedupe', file('binary', Buffer.from(bytes))]),
    3,
    new RegExp(`it is ${name}`),
  )
  if (!isFull && name !== 'a zip archive') return
  expectFailure(
    await urlsieve(['dedupe'], { input: Buffer.from(bytes) }),
    3,
    new RegExp(`stdin: it is ${name}`),
  )
})

it('inputs shorter than any mark', async () => {
  for (const text of cases(['', 'BZ', '\x1f'], ['a'])) {
    const ended = await urlsieve(['dedupe', '--profile', 'raw', file('short', text)])
    expectQuiet(ended)
    expect(ended.stdout.toString()).toBe(text === '' ? '' : `${text}\n`)
  }
})

it('a list that mostly is not URLs: all lines, and one warning', async () => {
  const log = Array.from({ length: 50 }, (_, i) => `no URL, but ${i}`).join('\n')
  for (const args of [[], ['--filter', 'exact', '--state', join(folder, 'exact')]]) {
    const ended = await urlsieve(['dedupe', ...args], { input: `${log}\nhttps://example.com/\n` })
    expect(ended.code).toBe(0)
    expect(ended.stderr).toMatch(/^urlsieve: warning: 50 of 51 lines are not URLs [^\n]+\n$/)
    expect(ended.stdout.toString().split('\n')).toHaveLength(52)
  }
  expectQuiet(await urlsieve(['dedupe', '--profile', 'raw'], { input: log }))
  expectQuiet(await urlsieve(['dedupe'], { input: readFileSync(links) }))
})
