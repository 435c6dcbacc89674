// `urlsieve dedupe`: which lines it prints, from where it reads, and what each of its options changes. Some filters
// (help.test.ts runs the example of each); URLSIEVE_FULL=1: all.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { filterNames } from '../../src/filters/registry.ts'
import { randomFrom } from '../support/random.mjs'
import { awk, urlLines } from './awk.ts'
import { cases, expectQuiet, linesOf, links, temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()
const examples = linesOf(readFileSync(links))
/** Lines of examples/links.txt that are new, counted from 1: of each page the first spelling. */
const NEW = [1, 5, 9, 10, 11, 13, 14, 16, 18, 19, 22, 23, 25, 26, 27, 29, 31, 33, 34, 35]
const unique = NEW.map((n) => examples[n - 1]!)
const repeats = examples.filter((_, i) => !NEW.includes(i + 1))

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

// Warnings come before it.
const stats = (stderr: string) =>
  JSON.parse(stderr.slice(stderr.lastIndexOf('\n{') + 1)) as Record<string, number>

describe('what it prints', () => {
  it('the first spelling of every page, as it came', async () => {
    const ended = await urlsieve(['dedupe', links])
    expectQuiet(ended)
    expect(linesOf(ended.stdout)).toEqual(unique)
  })

  it('--repeated: all the others', async () => {
    const ended = await urlsieve(['dedupe', '--repeated', links])
    expectQuiet(ended)
    expect(repeats).toHaveLength(15)
    expect(linesOf(ended.stdout)).toEqual(repeats)
  })

  it('--keys: the key of each line it would print', async () => {
    const input =
      'HTTP://Example.com:80/a/../b#top\nhttps://example.com/b\nnot a link\nhttps://example.com/ä\n'
    const kept = await urlsieve(['dedupe', '--keys'], { input })
    expectQuiet(kept)
    expect(kept.stdout.toString()).toBe('https://example.com/b\nnot a link\nhttps://example.com/%C3%A4\n')
    const repeated = await urlsieve(['dedupe', '--keys', '--repeated'], { input })
    expect(repeated.stdout.toString()).toBe('https://example.com/b\n')
  })

  it('its own keys, all of them: a key is its own key', async () => {
    const keys = (await urlsieve(['dedupe', '--keys', links])).stdout
    expect(linesOf(keys)).toHaveLength(unique.length)
    const again = await urlsieve(['dedupe', '--keys'], { input: keys })
    expect(again.stdout.equals(keys)).toBe(true)
  })

  it('lines that are no URL as they stand, and counts them', async () => {
    const no = [
      '',
      'not a link',
      'not a link ',
      'http://[::1',
      'http://exa mple/',
      '\xff\xfe',
      '\xff\xfd',
      '\0',
    ]
    const input = Buffer.from(
      [...no, 'http://a.example/', ...no].map((line) => `${line}\n`).join(''),
      'latin1',
    )
    const ended = await urlsieve(['dedupe', '--stats'], { input })
    expect(ended.stdout.toString('latin1')).toBe([...no, 'http://a.example/', ''].join('\n'))
    expect(stats(ended.stderr)).toMatchObject({ lines: 17, new: 9, seen: 8, invalid: 16 })
    expect(ended.stderr).toMatch(/^urlsieve: warning: 16 of 17 lines are not URLs/)
  })

  it('a line with CRLF as it came, and knows it again without the CR', async () => {
    const ended = await urlsieve(['dedupe'], {
      input: 'http://a.example/\r\nhttp://a.example/\nhttp://b.example/\nhttp://b.example/\r\n',
    })
    expect(ended.stdout.toString()).toBe('http://a.example/\r\nhttp://b.example/\n')
  })

  it.each([
    ['raw', 34],
    ['whatwg', 24],
    ['aggressive', 15],
  ])('--profile %s: %i of the 35 links', async (profile, count) => {
    const ended = await urlsieve(['dedupe', '--profile', profile, links])
    expectQuiet(ended)
    expect(linesOf(ended.stdout)).toHaveLength(count)
  })
})

describe('where it reads', () => {
  it('stdin without a file, and for -', async () => {
    const input = readFileSync(links)
    for (const args of [['dedupe'], ['dedupe', '-']]) {
      const ended = await urlsieve(args, { input })
      expectQuiet(ended)
      expect(linesOf(ended.stdout)).toEqual(unique)
    }
  })

  it('nothing: prints nothing', async () => {
    for (const path of ['-', file('empty.gz', gzipSync(''))]) {
      const ended = await urlsieve(['dedupe', path], { input: '' })
      expectQuiet(ended)
      expect(ended.stdout).toHaveLength(0)
    }
  })

  it('several files as one, in their order, - among them', async () => {
    const first = file('first.txt', 'http://a.example/\nhttp://b.example/\n')
    const last = file('last.txt', 'http://a.example/#x\nhttp://c.example/\nhttp://d.example/\n')
    const ended = await urlsieve(['dedupe', first, '-', last, first], {
      input: 'http://d.example/\nhttp://b.example/\n',
    })
    expectQuiet(ended)
    expect(ended.stdout.toString()).toBe(
      'http://a.example/\nhttp://b.example/\nhttp://d.example/\nhttp://c.example/\n',
    )
  })

  it('a file without a last newline, not glued to the next', async () => {
    const plain = file('no-newline.txt', 'http://a.example/')
    const packed = file('no-newline.gz', gzipSync('http://b.example/'))
    const next = file('next.txt', 'http://c.example/\nhttp://a.example/')
    const ended = await urlsieve(['dedupe', '--stats', plain, packed, '-', next], {
      input: 'http://d.example/',
    })
    expect(ended.stdout.toString()).toBe(
      'http://a.example/\nhttp://b.example/\nhttp://d.example/\nhttp://c.example/\n',
    )
    expect(stats(ended.stderr)).toMatchObject({ lines: 5, new: 4, seen: 1, invalid: 0 })
  })

  it('.gz, also of several members cut in the middle of a line', async () => {
    const lines = urlLines(randomFrom(1), 25_000, 10_000)
    const cuts = [0, 1, 999_983, 1_000_000, lines.length]
    const members = cuts.slice(1).map((end, i) => gzipSync(lines.subarray(cuts[i], end)))
    for (const packed of [gzipSync(lines), Buffer.concat(members)]) {
      const ended = await urlsieve(['dedupe', '--profile', 'raw', '--stats', file('lines.gz', packed)])
      expect(ended.code).toBe(0)
      expect(ended.stdout.equals(awk(lines))).toBe(true)
      expect(stats(ended.stderr)).toMatchObject({ lines: 25_000, bytes: lines.length })
    }
  })

  it('a file whose name starts with a dash, after --', async () => {
    writeFileSync(join(folder, '--stats'), 'http://a.example/\n')
    const ended = await urlsieve(['dedupe', '--', '--stats'], { cwd: folder })
    expectQuiet(ended)
    expect(ended.stdout.toString()).toBe('http://a.example/\n')
  })
})

describe('where it writes', () => {
  it('-o: that file and nothing else, whatever it held', async () => {
    const path = file('unique.txt', 'x'.repeat(100_000))
    const ended = await urlsieve(['dedupe', links, '-o', path])
    expectQuiet(ended)
    expect(ended.stdout).toHaveLength(0)
    expect(linesOf(readFileSync(path))).toEqual(unique)
  })

  it('--stats: one JSON object on stderr', async () => {
    const ended = await urlsieve(['dedupe', '--stats', links])
    expect(ended.code).toBe(0)
    expect(linesOf(ended.stdout)).toEqual(unique)
    expect(ended.stderr).toMatch(/^\{[^\n]*\}\n$/)
    const got = stats(ended.stderr)
    expect(Object.keys(got).sort()).toEqual(
      [
        ...['lines', 'new', 'seen', 'invalid', 'bytes', 'seconds', 'urlsPerSecond', 'sizeBytes'],
        ...['expectedRate', 'promisedRate', 'pastCapacity'],
      ].sort(),
    )
    expect(got).toMatchObject({ lines: 35, new: 20, seen: 15, invalid: 1, bytes: readFileSync(links).length })
    expect(got.seconds).toBeGreaterThan(0)
    expect(got.seconds).toBeLessThan(60)
    expect(Math.abs(got.urlsPerSecond! - got.lines! / got.seconds!)).toBeLessThanOrEqual(0.5)
    expect(got.sizeBytes).toBeGreaterThanOrEqual(20 * 8)
  })

  it('--quiet: the same lines, and no word', async () => {
    const ended = await urlsieve(['dedupe', '--quiet', links])
    expectQuiet(ended)
    expect(linesOf(ended.stdout)).toEqual(unique)
  })
})

/** What a filter asks for besides --urls and --fpr. */
const OWN_OPTIONS: Readonly<Record<string, readonly string[]>> = {}

describe('what remembers', () => {
  const own = ['fingerprint', 'classic', 'window', 'multilayer']
  const alike = filterNames.filter((name) => !own.includes(name))
  it.each(cases<string>(own, alike))('--filter %s never prints a page twice', async (filter) => {
    const sizes = ['--urls', '100k', '--fpr', '1e-9', ...(OWN_OPTIONS[filter] ?? [])]
    const ended = await urlsieve(['dedupe', '--stats', '--filter', filter, ...sizes, links])
    expect(ended.code, ended.stderr).toBe(0)
    const printed = linesOf(ended.stdout)
    // Every filter may err towards "seen", so what it prints is a part of what is new, in the same order.
    expect(unique.filter((line) => printed.includes(line))).toEqual(printed)
    const isSure = ['fingerprint', 'classic', 'blocked'].includes(filter)
    expect(printed.length).toBeGreaterThanOrEqual(isSure ? unique.length : unique.length / 2)
    expect(stats(ended.stderr)).toMatchObject({ lines: 35, new: printed.length, seen: 35 - printed.length })
  })

  it('--hash xxh64 gives the same answer', async () => {
    const ended = await urlsieve(['dedupe', '--hash', 'xxh64', links])
    expectQuiet(ended)
    expect(linesOf(ended.stdout)).toEqual(unique)
  })

  it('--urls and --fpr size the filter by the formula', async () => {
    // m = −n · ln p / (ln 2)², in bytes.
    for (const [urls, fpr, n, p] of [
      ['1e6', '1e-3', 1e6, 1e-3],
      ['200k', '0.01%', 2e5, 1e-4],
    ] as const) {
      const args = ['dedupe', '--stats', '--filter', 'classic', '--urls', urls, '--fpr', fpr]
      const { sizeBytes } = stats((await urlsieve(args, { input: '' })).stderr)
      const bytes = (-n * Math.log(p)) / Math.LN2 ** 2 / 8
      expect(sizeBytes! / bytes).toBeGreaterThan(0.999)
      expect(sizeBytes! / bytes).toBeLessThan(1.02)
    }
  })

  it.each(['classic', 'blocked'])('--memory sizes the %s filter', async (filter) => {
    const args = ['dedupe', '--stats', '--filter', filter, '--urls', '1000', '--memory', '1.5MiB']
    expect(stats((await urlsieve(args, { input: '' })).stderr).sizeBytes).toBe(1.5 * 1024 ** 2)
  })

  it('--fpr is what is lost: a half loses many, a billionth none', async () => {
    const input = Buffer.from(Array.from({ length: 1000 }, (_, i) => `http://a.example/${i}\n`).join(''))
    const printed = async (fpr: string) =>
      linesOf(
        (await urlsieve(['dedupe', '--filter', 'classic', '--urls', '1000', '--fpr', fpr], { input })).stdout,
      )
    expect(await printed('1e-9')).toHaveLength(1000)
    // One hash and 1443 bits: the i-th is lost with 1 − e^(−i/1443), 211 of 1000 on average (less for those lost).
    const { length } = await printed('0.5')
    expect(length).toBeGreaterThan(650)
    expect(length).toBeLessThan(900)
  })
})
