// `urlsieve dedupe --profile raw` prints what `awk '!s[$0]++'` does, byte for byte, for whatever bytes. Some of each
// kind; URLSIEVE_FULL=1: all.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { randomFrom } from '../support/random.mjs'
import { awk, linesOfBytes, randomBytes } from './awk.ts'
import { expectQuiet, isFull, spawned, temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()
const codes = (text: string) => [...Buffer.from(text, 'latin1')]

/** Larger than what is read at a time (256 KiB), so that lines are cut there. */
const SIZE = 700_000
const samples: Record<string, Buffer> = {
  'all bytes': randomBytes(
    randomFrom(11),
    SIZE,
    Array.from({ length: 256 }, (_, i) => i),
  ),
  'short lines with NUL, CR and broken UTF-8': randomBytes(
    randomFrom(13),
    SIZE,
    codes('\n\r\0\xff\xc3\xa9a'),
  ),
  'long lines': randomBytes(randomFrom(15), SIZE, [10, ...Array<number>(40_000).fill(97)]),
  ...(isFull && {
    'mostly newlines': randomBytes(randomFrom(12), SIZE, codes('\n\n\nab')),
    'NUL only': randomBytes(randomFrom(14), SIZE, codes('\n\0\0\0\0\0\0\0')),
  }),
}
const texts: Record<string, Buffer> = {
  'what looks like numbers': randomBytes(randomFrom(21), SIZE, codes('\n\n01+-.e x')),
  'CRLF and blanks': randomBytes(randomFrom(22), SIZE, codes('\n\n\n\r \tab')),
  'bytes above 127': randomBytes(randomFrom(23), SIZE, codes('\n\n\xe2\x82\xac\xff\xfe')),
}
const small: Record<string, string> = {
  nothing: '',
  newlines: '\n\n\n',
  'one line without a newline': 'a',
  'a last line that was there, without its newline': 'a\n\nb\na',
  'CRLF and NUL': 'a\r\na\n\r\na\r\n\0\n\0\0\n\0\n\r',
  'broken UTF-8 and byte-order marks':
    '\xff\n\xfe\n\xff\n\xef\xbf\xbd\na\n\xef\xbb\xbfa\n\xef\xbb\xbfa\n\xc3',
}

async function expectAsAwk(input: Buffer): Promise<void> {
  const ended = await urlsieve(['dedupe', '--profile', 'raw'], { input })
  expectQuiet(ended)
  expect(ended.stdout.equals(awk(input))).toBe(true)
}

describe('random bytes', () => {
  it.each(Object.entries(samples))('%s', async (_, input) => {
    const lines = linesOfBytes(input)
    expect(lines.length).toBeGreaterThan(10) // the sample is a sample
    await expectAsAwk(input)
  })

  it('--repeated prints the rest', async () => {
    const input = samples['short lines with NUL, CR and broken UTF-8']!
    const ended = await urlsieve(['dedupe', '--profile', 'raw', '--repeated'], { input })
    expectQuiet(ended)
    expect(awk(input, true).length).toBeGreaterThan(1000)
    expect(ended.stdout.equals(awk(input, true))).toBe(true)
  })

  it('from a file as from stdin', async () => {
    const input = samples['all bytes']!
    const path = join(folder, 'bytes')
    writeFileSync(path, input)
    const ended = await urlsieve(['dedupe', '--profile', 'raw', path])
    expectQuiet(ended)
    expect(ended.stdout.equals(awk(input))).toBe(true)
  })
})

describe('small inputs', () => {
  it.each(Object.entries(small))('%s', (_, text) => expectAsAwk(Buffer.from(text, 'latin1')))
})

it.each(Object.entries(texts))('prints what awk does: %s', (_, input) => expectAsAwk(input))

describe.each(['mawk', 'gawk'])('%s itself', (name) => {
  const missing = spawnSync(name, ['BEGIN{}']).error !== undefined
  const title = missing ? `prints the same (skipped: no ${name} on the PATH)` : 'prints the same'
  it.skipIf(missing).each(Object.entries(texts))(`${title}: %s`, async (_, input) => {
    const real = await spawned(name, ['!s[$0]++'], { input, env: { ...process.env, LC_ALL: 'C' } })
    expect(real.code).toBe(0)
    expect(real.stdout.equals(awk(input))).toBe(true) // the oracle is right
  })
})

describe('a line of 100 MB', () => {
  it('is a line like any other, in bounded memory', async () => {
    const size = 100_000_000
    const line = Buffer.alloc(size + 1, 'a')
    line[size] = 10
    const peak = join(folder, 'peak')
    const watch = `process.on('exit',()=>require('fs').writeFileSync('${peak}',String(process.resourceUsage().maxRSS)))`
    const preload = join(folder, 'watch.cjs')
    writeFileSync(preload, watch)
    const input = Buffer.concat([line, Buffer.from('x\n'), line, Buffer.from('x\n')])
    const ended = await urlsieve(['dedupe', '--profile', 'raw', '--stats'], {
      input,
      env: { ...process.env, NODE_OPTIONS: `--require ${preload}` },
    })
    expect(ended.code).toBe(0)
    expect(JSON.parse(ended.stderr)).toMatchObject({ lines: 4, new: 2, seen: 2 })
    expect(ended.stdout.equals(input.subarray(0, size + 3))).toBe(true)
    // The line, the old buffer while it grows, and the copy on its way out; never one for each of the lines.
    const peakBytes = Number(readFileSync(peak, 'utf8')) * 1024
    expect(peakBytes).toBeGreaterThan(size)
    expect(peakBytes).toBeLessThan(6 * size)
  })
})
