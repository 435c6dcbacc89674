// `urlsieve run` as a user runs it, on the built command, against the paper's program written plainly. Some filters and
// smaller inputs; URLSIEVE_FULL=1: all.
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Commands, type FilterName, filterNames, Sieve } from '../../src/index.ts'
import { calculateSize, initiateUrlCaching } from '../oracles/url-caching.ts'
import { randomFrom } from '../support/random.mjs'
import { cases, isFull } from './command.ts'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const COMMANDS = isFull ? 1_000_000 : 20_000
const PAPER_HASH = ['poly31', 'djb2', 'xor17'] as const

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'urlsieve-run-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function run(args: string[], input?: Buffer | string, env = process.env) {
  const options = { input, env, maxBuffer: 1 << 30 }
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'run', ...args], options)
  return { status, stdout, text: String(stdout), stderr: String(stderr) }
}

function file(name: string, content: Buffer | string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** Whole numbers below a limit, from a seed. */
function random(seed: number): (limit: number) => number {
  const next = randomFrom(seed)
  return (limit) => Math.floor(next() * 2 ** 32) % limit
}

const ODD_LINES = [
  '',
  '   \t ',
  'ADD',
  '\tCHECK  ',
  'FETCH https://example.com/',
  'ADDhttps://example.com/',
  'ADD: https://example.com/',
  '# a remark',
  'https://example.com/',
  `${'x'.repeat(100)} y`,
  'A\u0000D https://example.com/',
  '\u00ff\u00fe\u0080',
  'ad\u0001 x',
].map((text) => Buffer.from(text, 'latin1'))

/** Seeded commands in every shape: runs and alternations, any case, white space, CRLF, odd bytes, bad lines. */
function commands(count: number, seed: number): Buffer {
  const below = random(seed)
  const pick = <T>(choices: readonly T[]): T => choices[below(choices.length)]!
  const parts: Buffer[] = []
  let isAdd = true
  let added = 0
  for (let i = 0; i < count; i++) {
    const end = below(20) === 0 ? '\r\n' : '\n'
    if (below(50) === 0) {
      parts.push(pick(ODD_LINES), Buffer.from(end))
      continue
    }
    if (i % 4096 < 2048 ? below(64) === 0 : below(2) === 0) isAdd = !isAdd
    const word = isAdd
      ? pick(['ADD', 'ADD', 'add', 'Add', 'aDD'])
      : pick(['CHECK', 'CHECK', 'check', 'cHECk'])
    const before = pick(['', '', '', ' ', '\t', ' \v\f '])
    const gap = pick([' ', ' ', ' ', '\t', '   '])
    const after = pick(['', '', '', ' ', ' \t\r'])
    const number = isAdd ? added++ : below(2 * added + 1)
    const tail = pick(['', '', '', '/', '?q=a b', '\u0000', '\u00e9\u00ff', '#x'])
    const url = `http://${number % 97}.example/${(number * 7919).toString(36)}${isAdd ? '' : pick(['', '', tail])}`
    parts.push(Buffer.from(`${before}${word}${gap}${url}${after}${end}`, 'latin1'))
  }
  parts.push(Buffer.from('check http://last.example/without-newline'))
  return Buffer.concat(parts)
}

const grouped = (count: number) => count.toLocaleString('en-US')

describe('the program of the paper', () => {
  it(`gives the plain program's output on ${COMMANDS} commands, by file and by .gz`, () => {
    const input = commands(COMMANDS, 1)
    const { output, errors } = initiateUrlCaching(input)
    const out = join(folder, 'answers.txt')
    const first = run([file('commands.txt', input), '-o', out])
    expect(first.status).toBe(6)
    expect(first.text).toBe('')
    expect(first.stderr).toMatch(
      new RegExp(`^urlsieve: ${grouped(errors)} of ${grouped(COMMANDS + 1)} lines could not be read.*\n$`),
    )
    expect(Buffer.compare(readFileSync(out), output)).toBe(0)
    const zipped = run([file('commands.txt.gz', gzipSync(input, { level: 1 }))])
    expect(Buffer.compare(zipped.stdout, output)).toBe(0)
  })

  it('by --size too, from a file and from stdin, and past a byte order mark', () => {
    const input = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), commands(5_000, 2)])
    const { output } = initiateUrlCaching(input, 10_007)
    expect(Buffer.compare(run([file('sized.txt', input), '--size', '10007']).stdout, output)).toBe(0)
    expect(Buffer.compare(run(['-', '--size', '10007'], input).stdout, output)).toBe(0)
  })

  it.each(['one byte', 'random'])('in %s cuts', async (cuts) => {
    const input = commands(8_000, 3)
    const bits = 40_009
    const sieve = await Sieve.create({
      filter: 'classic',
      profile: 'raw',
      hash: PAPER_HASH,
      hashes: 3,
      bits,
    })
    const program = new Commands(sieve)
    const below = random(4)
    const answers: Buffer[] = []
    for (let at = 0; at < input.length; ) {
      const piece = input.subarray(at, at + 1 + (cuts === 'random' ? below(3_000) : 0))
      program.reserve(piece.length).set(piece)
      answers.push(Buffer.from(program.push(piece.length)))
      at += piece.length
    }
    answers.push(Buffer.from(program.end()))
    const { output, errors } = initiateUrlCaching(input, bits)
    expect(Buffer.compare(Buffer.concat(answers), output)).toBe(0)
    expect(program.errors).toBe(errors)
  })

  it('a line longer than any buffer', () => {
    const long = `http://long.example/${'a'.repeat(3_000_000)}`
    const input = Buffer.from(`check ${long}\nADD ${long}\nCHECK ${long}\nCHECK ${long}b`)
    expect(Buffer.compare(run([file('long.txt', input)]).stdout, initiateUrlCaching(input).output)).toBe(0)
  })

  it('a file of nothing but lines that cannot be read', () => {
    const { status, text } = run([file('bad.txt', '\nfoo\n\nADD')])
    expect(status).toBe(6)
    expect(text).toBe(
      "error line 2: unknown command 'foo': expected ADD or CHECK\nerror line 4: ADD without a URL\n",
    )
  })

  it('an empty file, and one without an ADD', () => {
    expect(run([file('empty.txt', '')])).toMatchObject({ status: 0, text: '', stderr: '' })
    const { status, text } = run([file('checks.txt', 'CHECK a\n\n\n check  b ')])
    expect({ status, text }).toEqual({ status: 0, text: 'not-present a\nnot-present b\n' })
  })
})

describe('other filters', () => {
  // Exact or almost: the answers are those of a set, over batches of commands that alternate.
  const lines = Array.from({ length: 3_000 }, (_, i) => [
    `ADD http://example.com/${i}`,
    `CHECK http://example.com/${i}`,
    `CHECK http://example.com/${i + 1}`,
  ]).flat()
  const expected = lines.map((line, i) =>
    line.replace(/^\w+/, ['added', 'possibly-present', 'not-present'][i % 3]!),
  )

  const own: readonly FilterName[] = ['fingerprint', 'classic', 'scalable', 'window', 'multilayer']
  const alike = filterNames.filter((name) => !own.includes(name))
  it.each(cases(own, alike))('%s sees exactly the ADDs before a CHECK', (filter) => {
    const sizes = ['--fpr', '1e-9', ...(filter === 'window' ? ['--window', '1M'] : [])]
    const { status, text } = run([file('order.txt', lines.join('\n')), '--filter', filter, ...sizes])
    expect(status).toBe(0)
    const wrong = text.split('\n').filter((line, i) => line !== (expected[i] ?? ''))
    // A layered filter of the papers takes new pages for seen ones as its layers fill: never the other way.
    if (filter === 'multilayer' || filter === 'keyword-layers') {
      expect(wrong.every((line) => line.startsWith('possibly-present'))).toBe(true)
    } else expect(wrong).toEqual([])
  })

  it('spread over several instances', async () => {
    // 300,000 hashes of 8 bytes are more than one instance of 2 MiB can hold.
    const sieve = await Sieve.create({ profile: 'raw', instanceBytes: 2 ** 21 })
    const program = new Commands(sieve)
    const many = Array.from({ length: 600_000 }, (_, i) =>
      i % 2 ? `CHECK ${i % 4 === 1 ? i - 1 : i}` : `ADD ${i}`,
    )
    const input = Buffer.from(`${many.join('\n')}\n`)
    const parts: Buffer[] = []
    for (let at = 0; at < input.length; at += 65_536) {
      const piece = input.subarray(at, at + 65_536)
      program.reserve(piece.length).set(piece)
      parts.push(Buffer.from(program.push(piece.length)))
    }
    const answers = Buffer.concat(parts).toString().trimEnd().split('\n')
    expect(answers.length).toBe(many.length)
    const wrong = answers.filter(
      (line, i) => !line.startsWith(i % 2 === 0 ? 'added' : i % 4 === 1 ? 'possibly' : 'not'),
    )
    expect(wrong).toEqual([])
  })

  it('a profile makes two spellings one', () => {
    const path = file('spellings.txt', 'ADD http://Example.com/a/../b#top\nCHECK https://example.com/b\n')
    expect(run([path]).text).toMatch(/^not-present/m)
    expect(run([path, '--profile', 'web']).text).toBe(
      'added http://Example.com/a/../b#top\npossibly-present https://example.com/b\n',
    )
  })
})

describe('--compare', () => {
  const urls = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `http://example.com/${((from + i) * 7919).toString(36)}`)
  const text = [
    ...urls(0, 20_000).map((url) => `ADD ${url}`),
    '',
    ...urls(10_000, 60_000).map((url) => `CHECK ${url}`),
  ].join('\n')

  it('finds every false positive, with its line, and the rate is the predicted one', () => {
    const out = join(folder, 'compared.txt')
    const { status, text: report, stderr } = run([file('c.txt', text), '--compare', '--json', '-o', out])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const answers = readFileSync(out, 'utf8')
    expect(answers).toBe(initiateUrlCaching(Buffer.from(text)).output.toString())
    const result = JSON.parse(report)
    const present = answers.split('\n').slice(30_000, 70_000) // the CHECKs of URLs never added
    const falsePositives = present.flatMap((line, i) =>
      line.startsWith('possibly') ? [{ line: 30_002 + i, url: line.replace('possibly-present ', '') }] : [],
    )
    expect(result.falsePositives).toEqual(falsePositives)
    expect(result).toMatchObject({
      adds: 20_000,
      checks: 50_000,
      absentChecks: 40_000,
      falsePositiveCount: falsePositives.length,
      falseNegativeCount: 0,
      measuredRate: falsePositives.length / 40_000,
      filter: { bits: calculateSize(20_000), hashes: 3, sizeBytes: Math.ceil(calculateSize(20_000) / 8) },
    })
    expect(result.predictedRate).toBeCloseTo(result.finalRate, 9)
    expect(result.hashSet.sizeBytes).toBeGreaterThan(10 * result.filter.sizeBytes)
  })

  it('with a good hash the measured rate is within five deviations of the predicted', () => {
    const key = ['--hash', 'xxh64', '--json', '-o', join(folder, 'x.txt')]
    const { measuredRate, predictedRate } = JSON.parse(run([file('c.txt', text), '--compare', ...key]).text)
    const deviation = Math.sqrt((predictedRate * (1 - predictedRate)) / 40_000)
    expect(Math.abs(measuredRate - predictedRate)).toBeLessThan(5 * deviation)
  })

  it('goes to stderr without -o, for people', () => {
    const { text: answers, stderr } = run([file('c.txt', text), '--compare'])
    expect(answers).toBe(initiateUrlCaching(Buffer.from(text)).output.toString())
    expect(stderr).toMatch(/^false positive line \d+: http:\/\/example\.com\/\w+\n/)
    expect(stderr).toMatch(/^classic +[\d.]+ KiB +[\d.]+ s +\d+$/m)
    expect(stderr).toMatch(/^hash-set +[\d.]+ MiB +[\d.]+ s +0$/m)
    expect(stderr).toMatch(/ of 40000 checks .* measured, .* predicted/)
  })
})

describe('what cannot be', () => {
  const path = () => file('small.txt', 'ADD a\nCHECK a\n')
  it.each([
    [['-'], 2, 'stdin can be read only once'],
    [['--size', '0'], 2, "--size '0': expected"],
    [['--size', '64', '--fpr', '0.1'], 2, 'both --size and --fpr'],
    [['--size', '64', '--filter', 'fingerprint'], 2, 'it grows'],
    [['--json'], 2, '--json without --compare'],
    [['-o', '/nowhere/at/all'], 4, 'cannot write /nowhere/at/all'],
    [['--filter', 'bloom'], 2, 'bloom'],
  ])('%j', (args, code, message) => {
    const { status, text, stderr } = run(args[0] === '-' ? args : [path(), ...args], '')
    expect(stderr).toMatch(/^urlsieve: [^\n]+\n$/)
    expect(stderr).toContain(message)
    expect({ status, text }).toEqual({ status: code, text: '' })
  })

  it('a file that is not there, a folder, and answers over the commands', () => {
    expect(run([join(folder, 'none.txt')])).toMatchObject({ status: 3 })
    expect(run([folder])).toMatchObject({ status: 3 })
    const both = path()
    expect(run([both, '-o', both])).toMatchObject({ status: 2 })
    expect(readFileSync(both, 'utf8')).toBe('ADD a\nCHECK a\n')
  })
})

it('takes no more memory for a long file than for a short one', () => {
  const block = commands(20_000, 5).subarray(0, 1_000_000)
  const short = file('short.txt', block)
  const long = file('long-file.txt', block)
  for (let i = 0; i < 99; i++) appendFileSync(long, block)
  const watch = `process.on('exit',()=>process.stderr.write('rss='+process.resourceUsage().maxRSS))`
  const env = { ...process.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(watch)}` }
  const kilobytes = (path: string) => {
    const { stderr } = run([path, '-o', join(folder, 'rss.txt'), '--size', '1M'], undefined, env)
    return Number(/rss=(\d+)/.exec(stderr)![1])
  }
  expect(kilobytes(long) - kilobytes(short)).toBeLessThan(40_000)
})
