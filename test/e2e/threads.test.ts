// `urlsieve dedupe --threads`: byte for byte what one thread prints, however the input is cut, and one clear error when a
// thread dies. Some options and cuts; URLSIEVE_FULL=1: all.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { randomFrom } from '../support/random.mjs'
import {
  bash,
  cases,
  expectFailure,
  expectQuiet,
  isFull,
  main,
  temporaryFolder,
  urlsieve,
} from './command.ts'

const folder = temporaryFolder()

/** Lines of all kinds, with repeats near and far: usual URLs, other spellings of them, lines that are not URLs. */
function mixedLines(seed: number, lines: number): Buffer {
  const random = randomFrom(seed)
  const below = (n: number) => Math.floor(random() * n)
  const recent: string[] = []
  const line = () => {
    if (recent.length > 0 && random() < 0.3) return recent[below(recent.length)]!
    const n = below(lines)
    const usual = `https://host-${n % 13}.example/path/${n}/page?n=${n % 7}`
    const kind = below(20)
    if (kind === 0) return `HTTP://Host-${n % 13}.EXAMPLE:80/path/../path/${n}/page?n=${n % 7}#top`
    if (kind === 1) return `${usual}\r`
    if (kind === 2) return ['', 'not a link', '\xff\xfe', 'http://[::1'][n % 4]!
    if (kind === 3) return `https://host.example/ä/${n % 50}`
    if (kind === 4 && n % 10 === 0) return `https://host.example/${'long/'.repeat(n % 900)}${n % 3}`
    return usual
  }
  const all = Array.from({ length: lines }, () => {
    const next = line()
    recent[below(40)] = next
    return next
  })
  return Buffer.from(all.map((one) => `${one}\n`).join(''), 'latin1')
}

const input = mixedLines(1, 3000)
const whole = input.subarray(0, -1) // without its last newline
const paths = {
  plain: join(folder, 'plain.txt'),
  packed: join(folder, 'packed.gz'),
  other: join(folder, 'other.txt'),
}
writeFileSync(paths.plain, whole)
writeFileSync(paths.packed, gzipSync(mixedLines(2, 2000)))
writeFileSync(paths.other, mixedLines(3, 1000))

/** The command with chunks of that many bytes: every line is done by threads, also of a short input. */
const inChunks = (
  chunkBytes: number,
  args: readonly string[],
  setting: Parameters<typeof urlsieve>[1] = {},
) =>
  urlsieve(['dedupe', '--quiet', ...args], {
    ...setting,
    env: { ...process.env, URLSIEVE_CHUNK_BYTES: String(chunkBytes), ...setting.env },
  })

/** What one thread prints for the plain file. */
let printed: Promise<Buffer> | undefined
function byOneThread(): Promise<Buffer> {
  printed ??= urlsieve(['dedupe', '--threads', '1', paths.plain]).then(({ stdout }) => stdout)
  return printed
}

const countsOf = (stderr: string) => {
  const { lines, new: fresh, seen, invalid, bytes } = JSON.parse(stderr.slice(stderr.lastIndexOf('\n{') + 1))
  return { lines, new: fresh, seen, invalid, bytes }
}

/** Runs with one thread and with more, and compares what both print and count. */
async function expectSame(
  args: readonly string[],
  runs: readonly (readonly [threads: number, chunkBytes: number])[],
  stdin?: Uint8Array,
): Promise<void> {
  const setting = stdin === undefined ? {} : { input: stdin }
  const one = await urlsieve(['dedupe', '--quiet', '--stats', '--threads', '1', ...args], setting)
  expect(one.code).toBe(0)
  for (const [threads, chunkBytes] of runs) {
    const more = await inChunks(chunkBytes, ['--stats', '--threads', String(threads), ...args], setting)
    const name = `${threads} threads, ${chunkBytes} bytes`
    expect(more.code, name).toBe(0)
    expect(more.stdout.equals(one.stdout), name).toBe(true)
    expect(countsOf(more.stderr), name).toEqual(countsOf(one.stderr))
  }
}

describe.concurrent('the same as one thread', () => {
  it.each(cases(['raw', 'aggressive'], ['whatwg', 'web', 'crawlee', 'scrapy']))(
    '--profile %s',
    async (profile) => {
      await expectSame(['--profile', profile, paths.plain], [[2, 1000]])
    },
  )

  it('chunks of all sizes, lines longer than a chunk', async () => {
    await expectSame(
      [paths.plain],
      cases<readonly [number, number]>(
        [
          [2, 64],
          [2, 262_144],
          [8, 500],
        ],
        [[3, 7777]],
      ),
    )
    await expectSame(
      ['--profile', 'raw'],
      cases<readonly [number, number]>([[2, 1]], [[2, 100]]),
      whole.subarray(0, 5000),
    )
  })

  it.each(
    cases(['--repeated', '--keys', '--keep-per-shape 5'], ['--keys --repeated', '--hash xxh64', '--urls 1M']),
  )('%s', async (options) => {
    await expectSame([...options.split(' '), paths.plain], [[2, 1000]])
  })

  it('keys that need more memory from line to line', async () => {
    const growing = Array.from(
      { length: 40 },
      (_, i) => `https://host.example/${'ä'.repeat(60 * i * i)}${i}\n`,
    )
    await expectSame(['--keys'], [[2, 1000]], Buffer.from(growing.join('')))
  })

  it('several files, packed and plain, and stdin among them', async () => {
    await expectSame(
      [paths.plain, paths.packed, '-', paths.other, paths.plain],
      cases<readonly [number, number]>([[3, 900]], [[2, 50_000]]),
      input,
    )
  })

  it('stdin as a pipe and as a file', async () => {
    await expectSame([], [[2, 300]], input)
    const two = await bash(`"$URLSIEVE" dedupe --quiet --threads 2 < ${paths.plain}`, {
      env: { URLSIEVE_CHUNK_BYTES: '300' },
    })
    expectQuiet(two)
    expect(two.stdout.equals(await byOneThread())).toBe(true)
  })

  it('no input, one newline, one line without', async () => {
    for (const text of cases(['', '\n', 'a'], ['\n\n', 'a\na'])) {
      await expectSame([], [[2, 5]], Buffer.from(text))
    }
    const empty = join(folder, 'empty.txt')
    writeFileSync(empty, '')
    await expectSame([empty, paths.other, empty], [[2, 64]])
  })

  it('an output file', async () => {
    const output = join(folder, 'out.txt')
    const ended = await inChunks(2000, ['--threads', '2', '-o', output, paths.plain])
    expectQuiet(ended)
    expect(readFileSync(output).equals(await byOneThread())).toBe(true)
  })

  it.each(
    cases(
      ['scalable --urls 100 --fpr 1e-9', 'window --window 1M'],
      ['blocked --urls 10k --fpr 1e-9', 'cuckoo --urls 10k --fpr 1e-9', 'hash-set'],
    ),
  )('--filter %s', async (filter) => {
    await expectSame(['--filter', ...filter.split(' '), '--hash', 'xxh64', paths.plain], [[2, 1000]])
  })

  it.each([[[]], [['--keep-keys']], [['--filter', 'blocked', '--urls', '10k', '--fpr', '1e-9']]])(
    '--state %s, and the next run',
    async (args) => {
      const name = args.join('')
      const runs = { one: '1', two: '2' }
      // Of the other file some lines were seen in the run before.
      for (const path of isFull ? [paths.plain, paths.plain, paths.other] : [paths.plain, paths.other]) {
        const [one, two] = await Promise.all(
          Object.entries(runs).map(([run, threads]) =>
            inChunks(1000, [
              '--stats',
              '--state',
              join(folder, run + name),
              ...args,
              '--threads',
              threads,
              path,
            ]),
          ),
        )
        expect({ one: one!.code, two: two!.code }).toEqual({ one: 0, two: 0 })
        expect(two!.stdout.equals(one!.stdout)).toBe(true)
        expect(countsOf(two!.stderr)).toEqual(countsOf(one!.stderr))
      }
    },
  )

  it('the main thread begins alone and shares the work from the middle on', async () => {
    const lines = mixedLines(5, 120_000)
    const path = join(folder, 'middle.txt')
    writeFileSync(path, lines)
    const one = await urlsieve(['dedupe', '--quiet', '--threads', '1', path])
    for (const args of [[path], ['-']]) {
      const two = await urlsieve(['dedupe', '--quiet', '--threads', '2', ...args], { input: lines })
      expectQuiet(two)
      expect(two.stdout.equals(one.stdout)).toBe(true)
    }
    // What the main thread has seen alone is known to all owners of parts.
    const four = await urlsieve(['dedupe', '--quiet', '--threads', '4', ...Array<string>(8).fill(path)])
    expectQuiet(four)
    expect(four.stdout.equals(one.stdout)).toBe(true)
  })
})

describe.concurrent('a pipe', () => {
  it('cut anywhere', async () => {
    const random = randomFrom(7)
    const some = input.subarray(0, 6000)
    const expected = (await urlsieve(['dedupe', '--threads', '1'], { input: some })).stdout
    const child = start(['--threads', '2'], 512)
    const out: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    for (let at = 0; at < some.length; ) {
      const size = 1 + Math.floor(random() * 300)
      child.stdin.write(some.subarray(at, at + size))
      at += size
      await sleep(5)
    }
    child.stdin.end()
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    expect(Buffer.concat(out).equals(expected)).toBe(true)
  })

  it('a whole line is answered before the next one comes', async () => {
    const child = start(['--threads', '3'], 4096)
    try {
      for (const [piece, answer] of [
        ['http://a.example/\nhttp://b.exam', 'http://a.example/\n'],
        ['ple/\nhttp://a.example/\nhttp://c.example/\nhttp', 'http://b.example/\nhttp://c.example/\n'],
        ['://d.example/\n', 'http://d.example/\n'],
      ] as const) {
        child.stdin.write(piece)
        let got = ''
        while (got.length < answer.length) {
          const [chunk] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(20_000) })
          got += chunk
        }
        expect(got).toBe(answer)
      }
    } finally {
      child.kill()
    }
  })

  it('whose reader has gone is a normal end', async () => {
    const ended = await bash(
      `yes "$(head -c 20000 ${paths.plain})" | head -c 20000000 | "$URLSIEVE" dedupe --repeated --threads 2 | head -n 2; echo "\${PIPESTATUS[2]}"`,
    )
    expect(ended.stderr).toBe('')
    expect(ended.stdout.toString('latin1').trim().split('\n').at(-1)).toBe('0')
  })

  it('that ends within packed data: all that is readable, then one error', async () => {
    const packed = gzipSync(input)
    const cut = packed.subarray(0, packed.length - 1000)
    const one = await urlsieve(['dedupe', '--threads', '1', '-'], { input: cut })
    const two = await inChunks(1000, ['--threads', '2', '-'], { input: cut })
    expectFailure(two, one.code!, /truncated|too early/)
    expect(two.stdout.equals(one.stdout)).toBe(true)
  })
})

describe.concurrent('failures', () => {
  const death = new URL('thread-death.mjs', import.meta.url).href
  it.each([
    ['exit', 70, /a thread ended before its work was done: .*the output is incomplete/],
    ['throw', 70, /ended before its work was done: a defect; the output is incomplete/],
    ['memory', 5, /no memory left; the output is incomplete/],
  ])('a thread that dies by %s: one error, and a part of the output in order', async (way, code, words) => {
    const env = { DEATH: way, NODE_OPTIONS: `--import=${death} --max-old-space-size=60` }
    const one = await byOneThread()
    const ended = await inChunks(1000, ['--threads', '2', paths.plain], { env })
    expectFailure(ended, code, words)
    expect(ended.stdout.length).toBeLessThan(one.length)
    expect(one.subarray(0, ended.stdout.length).equals(ended.stdout)).toBe(true)
  })

  it.each(['exit', 'throw'])(
    'a thread that dies by %s leaves nothing in a store that was not written',
    async (way) => {
      const state = join(folder, `dead-${way}`)
      const env = { DEATH: way, NODE_OPTIONS: `--import=${death}` }
      const args = ['--threads', '2', '--state', state, paths.plain]
      const ended = await inChunks(1000, args, { env })
      expect(ended.code).toBe(70)
      const rest = await inChunks(1000, args)
      expectQuiet(rest)
      expect(Buffer.concat([ended.stdout, rest.stdout]).equals(await byOneThread())).toBe(true)
    },
  )

  it('a reader that goes away: a store forgets what was not written', async () => {
    const state = join(folder, 'gone')
    const env = { URLSIEVE_CHUNK_BYTES: '1000', STATE: state, PLAIN: paths.plain }
    const command = '"$URLSIEVE" dedupe --quiet --threads 2 --state "$STATE" "$PLAIN"'
    const first = await bash(`${command} | head -c 3000`, { env })
    expect(first.stderr).toBe('')
    const rest = await bash(command, { env })
    const one = await byOneThread()
    // What the pipe took counts as written: it holds 64 KiB.
    const missing = one.length - rest.stdout.length
    expect(missing).toBeGreaterThan(0)
    expect(one.subarray(-rest.stdout.length).equals(rest.stdout)).toBe(true)
  })

  it('little memory: all lines are printed, by one thread if need be', async () => {
    // Gigabytes of addresses: a kernel instance reserves ten. Which of the threads has none left depends on the number.
    for (const limit of cases([30, 36, 42, 48, 54], [20, 33, 39, 45, 51, 57, 60, 80, 100, 120])) {
      const command = `ulimit -v ${limit * 2 ** 20}; ${process.execPath} ${main} dedupe --quiet --threads 3 ${paths.plain}`
      const ended = await bash(command, { env: { ...process.env, URLSIEVE_CHUNK_BYTES: '1000' } })
      expect(ended.stdout.equals(await byOneThread()), `${limit} GB: ${ended.stderr}`).toBe(true)
      expect(ended.stderr).toMatch(/^(urlsieve: warning: going on with one thread: no memory left .*\n)?$/)
      expect(ended.code).toBe(0)
    }
  })

  it('a full device', async () => {
    // Several times: whichever thread writes first is the one that fails.
    const run = () => inChunks(1000, ['--threads', '2', '-o', '/dev/full', paths.plain])
    for (const ended of await Promise.all([run(), run(), run(), run()])) {
      expectFailure(ended, 4, /cannot write \/dev\/full: no space left/)
    }
  })

  it('--threads that is no number of threads', async () => {
    for (const given of cases(['0', '65', 'x'], ['-1'])) {
      const ended = await urlsieve(['dedupe', '--threads', given, paths.plain])
      expectFailure(ended, 2, /--threads/)
    }
  })
})

function start(args: readonly string[], chunkBytes: number) {
  const env = { ...process.env, URLSIEVE_CHUNK_BYTES: String(chunkBytes) }
  return spawn(process.execPath, [main, 'dedupe', '--quiet', ...args], { env })
}
