// `urlsieve dedupe --max-memory`: the least memory that works, so that 1.7 million lines do not fit; the output
// is that without a limit, byte for byte.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../support/random.mjs'
import { bash, type Ended, expectFailure, expectQuiet, temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()
const path = (name: string) => join(folder, name)
const temp = path('temp')
let tooLittle: Ended
let least = ''

beforeAll(async () => {
  mkdirSync(temp)
  const random = randomFrom(5)
  const lines: string[] = []
  for (let i = 0; i < 1_700_000; i++) {
    const n = random() < 0.2 ? Math.floor(random() * i) : i
    lines.push(`https://host${n % 97}.example/${n}`)
  }
  writeFileSync(path('all.txt'), `${lines.join('\n')}\n`)
  writeFileSync(path('some.txt'), `${lines.slice(0, 100_000).join('\n')}\n`)
  tooLittle = await urlsieve(['dedupe', '--max-memory', '1M', path('all.txt')])
  least = /at least (\d+M)/.exec(tooLittle.stderr)?.[1] ?? ''
})

// What the process needs before it begins differs by a little from run to run.
const limit = () => `${Number(least.slice(0, -1)) + 4}M`
const limited = (args: readonly string[], input?: Uint8Array) =>
  urlsieve(['dedupe', '--max-memory', limit(), '--temp', temp, '--profile', 'raw', ...args], {
    ...(input && { input }),
  })

it.runIf(process.platform === 'linux')('more files than may be open at a time', async () => {
  const many = path('many')
  mkdirSync(many)
  for (let i = 0; i < 300; i++)
    writeFileSync(join(many, `${i}.txt`), `https://a.example/${i}\nhttps://b.example/\n`)
  const ended = await bash(
    `ulimit -n 128; $URLSIEVE dedupe --max-memory ${limit()} --temp ${temp} ${many}/*.txt | wc -l`,
  )
  expectQuiet(ended)
  expect(ended.stdout.toString().trim()).toBe('301')
})

it('lines of 8 MB, and longer ones where there is more memory', async () => {
  const line = (bytes: number, i: number) => `https://a.example/${i}?${'x'.repeat(bytes - 20)}\n`
  const text = `${line(8e6, 1)}${line(8e6, 2)}https://b.example/\n`
  writeFileSync(path('long.txt'), text + text)
  const ended = await limited([path('long.txt')])
  expectQuiet(ended)
  expect(ended.stdout.toString()).toBe(text)
  writeFileSync(path('longer.txt'), line(9e6, 1))
  expectFailure(
    await limited([path('longer.txt')]),
    3,
    /a line of more than 8\.0 MiB: .* a larger --max-memory takes/,
  )
  expectQuiet(await urlsieve(['dedupe', '--max-memory', '3G', path('longer.txt')]))
})

describe('dedupe --max-memory', () => {
  it('states the least that works', () => {
    expectFailure(tooLittle, 2, /^urlsieve: --max-memory '1M': expected at least \d+M$/m)
  })

  it('prints what it prints without a limit: of a file, a pipe, gzip and several', async () => {
    const all = path('all.txt')
    const whole = await urlsieve(['dedupe', '--profile', 'raw', '--stats', all])
    const { stdout } = whole
    writeFileSync(path('unique.txt'), stdout)
    const file = await limited(['--stats', all])
    expect(file.stdout.equals(stdout)).toBe(true)
    const stats = JSON.parse(file.stderr)
    const { lines, new: fresh, seen, bytes, invalid } = JSON.parse(whole.stderr)
    expect(stats).toMatchObject({ lines, new: fresh, seen, bytes, invalid })
    expect(stats.disk.runs).toBeGreaterThan(0)
    const script = `cat ${all} | $URLSIEVE dedupe --profile raw --max-memory ${limit()} --temp ${temp} | cmp - ${path('unique.txt')}`
    expectQuiet(await bash(script))
    const inputs = [path('all.txt.gz'), path('some.txt')]
    writeFileSync(inputs[0]!, gzipSync(readFileSync(all), { level: 1 }))
    const packed = await limited([inputs[0]!])
    expect(packed.stdout.equals(stdout)).toBe(true)
    const repeated = await limited(['--repeated', ...inputs])
    const expected = await urlsieve(['dedupe', '--profile', 'raw', '--repeated', ...inputs])
    expect(repeated.stdout.equals(expected.stdout)).toBe(true)
    expect(readdirSync(temp)).toEqual([])
  }, 60_000)

  it.runIf(process.platform === 'linux')(
    'stays below the limit: a packed file, into a store',
    async () => {
      const [packed, peak, preload] = [path('packed.gz'), path('peak'), path('watch.cjs')]
      const url = 'https://host.example/a-folder/of-some-length/and-another/%08.0f.html'
      expectQuiet(await bash(`seq -f '${url}' 6000000 | gzip -1 > ${packed}`))
      const status = `/VmHWM:\\s*(\\d+)/.exec(require('fs').readFileSync('/proc/self/status', 'utf8'))[1]`
      writeFileSync(preload, `process.once('exit', () => require('fs').writeFileSync('${peak}', ${status}))`)
      const run = (limit: string) =>
        urlsieve(
          ['dedupe', '--quiet', '--max-memory', limit, '--temp', temp, '--state', path('store'), packed],
          { env: { ...process.env, NODE_OPTIONS: `--require ${preload}` } },
        )
      const megabytes = Number(/at least (\d+)M/.exec((await run('1M')).stderr)![1]) + 5
      expectQuiet(await run(`${megabytes}M`))
      const peakKilobytes = Number(readFileSync(peak, 'utf8'))
      expect(peakKilobytes).toBeGreaterThan(50_000)
      expect(peakKilobytes).toBeLessThan(megabytes * 1024)
    },
    60_000,
  )

  it('a folder for temporary files that is missing, or a file: one clear line', async () => {
    const run = (folder: string) =>
      urlsieve(['dedupe', '--max-memory', limit(), '--temp', folder, path('all.txt'), '-o', '/dev/null'])
    expectFailure(await run(path('gone')), 4, /cannot write temporary files to .*gone: no such folder/)
    expectFailure(await run(path('all.txt')), 4, /cannot write temporary files to .*: it is not a folder/)
  })

  it('a folder for temporary files that is read-only or full: one clear line', async () => {
    const all = path('all.txt')
    chmodSync(folder, 0o755)
    mkdirSync(path('locked'), { mode: 0o555 })
    const other = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
    const args = ['dedupe', '--max-memory', limit(), '--temp', path('locked'), all, '-o', '/dev/null']
    expectFailure(
      await urlsieve(args, other),
      4,
      /cannot write temporary files to .*locked: permission denied/,
    )
    const script = `cat ${all} | (trap '' XFSZ; ulimit -S -f 1024; "$URLSIEVE" dedupe --max-memory ${limit()} --temp ${temp} -o /dev/null)`
    const full = await bash(script)
    expectFailure(
      full,
      4,
      /cannot write temporary files to .*temp: the file may not grow further on this system/,
    )
    expect(readdirSync(temp)).toEqual([])
  }, 60_000)

  it('an output that is closed early is a normal end; a line longer than memory is an error', async () => {
    const all = path('all.txt')
    const closed = await bash(
      `"$URLSIEVE" dedupe --profile raw --max-memory ${limit()} --temp ${temp} ${all} | head -n 3`,
    )
    expectQuiet(closed)
    const three = await bash(`head -n 3 ${all}`)
    expect(closed.stdout.equals(three.stdout)).toBe(true)
    const long = `head -c 64000000 /dev/zero | tr '\\0' a | "$URLSIEVE" dedupe --profile raw --max-memory ${limit()} --temp ${temp}`
    expectFailure(await bash(long), 3, /a line of more than 8\.0 MiB/)
    const none = await limited(['-'], new Uint8Array(0))
    expect({ code: none.code, out: none.stdout.length, stderr: none.stderr }).toEqual({
      code: 0,
      out: 0,
      stderr: '',
    })
    expect(readdirSync(temp)).toEqual([])
  }, 60_000)

  it('options that do not go together', async () => {
    for (const [args, words] of [
      [['--filter', 'blocked'], /--max-memory with --filter blocked: expected fingerprint/],
      [['--hash', 'xxh64'], /--max-memory hashes by siphash: leave --hash out/],
      [['--fpr', '0.1'], /--max-memory with --fpr: expected one of them/],
    ] as const) {
      expectFailure(await urlsieve(['dedupe', '--max-memory', '1G', ...args]), 2, words)
    }
    expectQuiet(await urlsieve(['dedupe', '--temp', folder], { input: '' }))
  })
})
