// Every failure of the command: one line on stderr, the documented exit code (src/cli/exit.ts), no stack trace, and
// on stdout nothing or what was already written. Some of those that are alike; URLSIEVE_FULL=1: all.
import { chmodSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { EXIT } from '../../src/cli/exit.ts'
import { filterNames, filters } from '../../src/filters/registry.ts'
import { awk } from './awk.ts'
import { badInputs, expectAsPlain, lines, plainly, writeBadInputs } from './bad-inputs.ts'
import { bash, cases, type Ended, expectFailure, links, temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()
const unique = awk(lines)
const big = join(folder, 'big.txt')

beforeAll(() => {
  writeFileSync(big, lines)
  writeBadInputs(folder)
})

const run = (args: readonly string[], input?: string) =>
  urlsieve(args, { cwd: folder, ...(input === undefined ? {} : { input }) })
const shell = (script: string) => bash(script, { cwd: folder, env: { LINKS: links } })

function expectNothingWritten(ended: Ended): void {
  expect(ended.stdout.toString()).toBe('')
}

describe('an option that cannot be', () => {
  const sized = ['dedupe', '--filter', 'classic']
  const own: [string[], RegExp][] = [
    [['dedupe', '--filter', 'sponge'], /--filter.*sponge.*fingerprint, classic, blocked/],
    [['dedupe', '--hash', 'crc'], /hash.*crc.*siphash, xxh64/],
    [['dedupe', '--unknown'], /unknown option '--unknown'/],
    [['dedupe', '--filter'], /--filter.*missing/],
    [['sift'], /unknown command 'sift'/],
    [['dedup'], /unknown command 'dedup'.*dedupe/],
    [['help', 'sift'], /command/],
    [['--'], /command/],
    [['plan'], /--urls.*not specified/],
    [['plan', 'more', '--urls', '5'], /too many arguments/],
    [['explain'], /missing required argument 'urls'/],
    [['explain', 'http://a.example/', '--filter', 'classic'], /classic/],
    [
      ['dedupe', '--window', '5', '--filter', 'classic'],
      /^urlsieve: --window 5: filter 'classic' does not take it; expected one of --urls, /,
    ],
    [
      ['dedupe', '--memory', '64M'],
      /^urlsieve: --memory 67108864: filter 'fingerprint' grows as it needs; leave it out/,
    ],
    [
      ['dedupe', '--filter', 'multilayer', '--urls', '9', '--depth', 'x'],
      /^urlsieve: --depth 'x': expected one of join, grow/,
    ],
    [
      ['crawl', 'http://a.example/', '--filter', 'multilayer', '--urls', '9', '--filter-depth', 'x'],
      /^urlsieve: --filter-depth 'x': expected one of join, grow/,
    ],
    [
      ['dedupe', '--filter', 'prefix-layers', '--urls', '9', '--layers', '64'],
      /^urlsieve: --layers 64: expected a whole number from 1 to 63/,
    ],
    [['dedupe', '--filter', 'blocked'], /give --urls with --fpr or --memory, or --bits with --hashes/],
  ]
  const alike: [string[], RegExp][] = [
    [['dedupe', '--profile', 'loud'], /--profile.*loud.*raw, whatwg, web/],
    [['plan', '--urls', '0'], /--urls '0': expected a whole number/],
    [['plan', '--urls', '10', '--fpr', '1'], /--fpr '1': expected a rate between 0 and 1/],
    [
      ['dedupe', '--layers', '3'],
      /^urlsieve: --layers 3: filter 'fingerprint' does not take it; expected one of --urls, --fpr/,
    ],
    [
      ['dedupe', '--filter', 'window', '--window', 'long'],
      /^urlsieve: --window 'long': expected a time such as .*, or a whole number/,
    ],
  ]
  it.each(cases(own, alike))('%j', async (args, words) => {
    const ended = await run(args, '')
    expectFailure(ended, EXIT.usage, words)
    expectNothingWritten(ended)
  })

  const figures: [string, string, RegExp][] = [
    ['--fpr', '1.5', /^urlsieve: --fpr '1\.5': expected a rate between 0 and 1, such as/],
    ['--urls', '0', /^urlsieve: --urls '0': expected a whole number such as/],
    ['--memory', '1P', /^urlsieve: --memory '1P': expected a size of at least 64 bytes, such as/],
  ]
  const moreFigures: [string, string, RegExp][] = [
    ['--fpr', 'half', /^urlsieve: --fpr 'half': expected a rate between 0 and 1, such as/],
    ['--urls', '1e30', /^urlsieve: --urls '1e30': expected a whole number such as/],
    ['--memory', '1', /^urlsieve: --memory '1': expected a size of at least 64 bytes, such as/],
  ]
  it.each(cases(figures, moreFigures))('%s %s', async (option, value, words) => {
    const ended = await run([...sized, '--urls', '100', option, value, links])
    expectFailure(ended, EXIT.usage, words)
    expectNothingWritten(ended)
  })

  const fixed = filterNames.filter((name) => !filters[name].can.grow)
  it.each(cases(fixed.slice(-1), fixed.slice(0, -1)))('--filter %s without a size', async (filter) => {
    const ended = await run(['dedupe', '--filter', filter, links])
    expectFailure(ended, EXIT.usage, new RegExp(filter))
    expectNothingWritten(ended)
  })
})

describe('more than there can be', () => {
  it.each([
    [['dedupe', '--urls', '1e15']],
    [['dedupe', '--filter', 'classic', '--urls', '1e15']],
    [['dedupe', '--filter', 'blocked', '--urls', '100', '--memory', '100T']],
  ])('%j', async (args) => {
    const ended = await run(args, '')
    expectFailure(ended, EXIT.memory, /bytes.*expected at most \d+/)
    expectNothingWritten(ended)
  })

  it('a line that does not fit: the lines before it are printed', async () => {
    const ended = await shell(
      `(echo first; head -c 1200000000 /dev/zero) | "$URLSIEVE" dedupe --profile raw; exit \${PIPESTATUS[1]}`,
    )
    expectFailure(ended, EXIT.memory, /a line of over \d+ bytes does not fit/)
    expect(ended.stdout.toString()).toBe('first\n')
  })
})

describe('an input that cannot be read', () => {
  it.each<[string, RegExp]>([
    ['missing.txt', /cannot read missing\.txt: no such file/],
    ['missing.gz', /cannot read missing\.gz: no such file/],
    ['big.txt/x', /cannot read big\.txt\/x: a part of the path is not a folder/],
    ['folder', /cannot read folder: is a folder, expected a file/],
    ['folder.gz', /cannot read folder\.gz: is a folder, expected a file/],
    ['fake.gz', /cannot read fake\.gz: .*header/],
    ['new\nline \x1b[31m.txt', /cannot read new\\x0aline \\x1b\[31m\.txt: no such file/],
  ])('%j', async (path, words) => {
    const ended = await run(['dedupe', path])
    expectFailure(ended, EXIT.input, words)
    expectNothingWritten(ended)
  })

  it('is known before anything is written, wherever it stands', async () => {
    for (const args of [
      [big, 'missing.txt'],
      ['-', 'missing.txt'],
    ]) {
      const ended = await run(['dedupe', ...args, '-o', 'kept.txt'], 'http://a.example/\n')
      expectFailure(ended, EXIT.input, /cannot read missing\.txt/)
      expect(() => readFileSync(join(folder, 'kept.txt'))).toThrow(/ENOENT/)
    }
  })

  it('a folder as stdin', async () => {
    for (const options of ['', '--filter exact --state of-folder']) {
      const ended = await shell(`"$URLSIEVE" dedupe ${options} < folder`)
      expectFailure(ended, EXIT.input, /cannot read stdin: is a folder, expected a file/)
      expectNothingWritten(ended)
    }
  })

  const isRoot = process.getuid?.() === 0
  const title = isRoot ? 'unreadable (skipped: root may read everything)' : 'unreadable'
  it.skipIf(isRoot)(title, async () => {
    for (const name of ['secret.txt', 'secret.gz']) {
      writeFileSync(join(folder, name), 'http://a.example/\n')
      chmodSync(join(folder, name), 0)
      const ended = await run(['dedupe', name])
      expectFailure(ended, EXIT.input, /cannot read secret\.\w+: permission denied/)
      expectNothingWritten(ended)
    }
  })
})

describe('a damaged gzip', () => {
  it.each<[string, RegExp]>([
    ['cut.gz', /ends too early/],
    ['trailer.gz', /ends too early/],
    ['member.gz', /ends too early/],
    ['zero.gz', /ends too early/],
  ])('%s: whole lines that could be read are printed', async (name, words) => {
    const ended = await plainly(folder, name)
    expectFailure(ended, EXIT.input, words)
    expect(ended.stderr).toContain(`cannot read ${name}: `)
    const bytes = readFileSync(join(folder, name))
    const readable = bytes.length
      ? gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH })
      : Buffer.alloc(0)
    const whole = readable.subarray(0, readable.lastIndexOf('\n') + 1)
    if (name !== 'zero.gz') expect(whole.length).toBeGreaterThan(600_000)
    expect(ended.stdout.equals(awk(whole))).toBe(true)
  })

  it.each([
    ['followed by something else', 'more.gz'],
    ['followed by half a header', 'half-header.gz'],
  ])('%s: all of its lines come out, then the error', async (_, name) => {
    const ended = await plainly(folder, name)
    expectFailure(ended, EXIT.input, new RegExp(`cannot read ${name}: `))
    expect(ended.stdout.equals(unique)).toBe(true)
  })

  it('whose sum is wrong: all that it held is printed', async () => {
    const ended = await plainly(folder, 'wrong.gz')
    expectFailure(ended, EXIT.input, /cannot read wrong\.gz: incorrect data check/)
    expect(ended.stdout.equals(unique)).toBe(true)
  })

  it('the files before it are printed', async () => {
    const ended = await run(['dedupe', '--profile', 'raw', links, 'fake.gz', big])
    expectFailure(ended, EXIT.input, /fake\.gz/)
    expect(ended.stdout.equals(awk(readFileSync(links)))).toBe(true)
  })
})

describe('a bad input with --filter exact', () => {
  it.each(badInputs)('%s: as without it', async (name) => {
    await expectAsPlain(folder, name, ['--filter', 'exact', '--state', `exact-${name}`])
  })
})

describe('an output that cannot be written', () => {
  it.each(
    cases(['dedupe big.txt', 'plan --urls 1e6', '--help'], ['explain http://a.example/', '--version', '']),
  )('a full device: %s', async (command) => {
    const ended = await shell(`"$URLSIEVE" ${command} > /dev/full`)
    expectFailure(ended, EXIT.output, /cannot write stdout: no space left on the device/)
  })

  it('a full device as -o', async () => {
    const ended = await run(['dedupe', big, '-o', '/dev/full'])
    expectFailure(ended, EXIT.output, /cannot write \/dev\/full: no space left on the device/)
    expectNothingWritten(ended)
  })

  it('a full device as stderr: the exit code stays', async () => {
    const ended = await shell('"$URLSIEVE" dedupe missing.txt 2> /dev/full')
    expect(ended).toMatchObject({ code: EXIT.input, stderr: '' })
    for (const options of ['', '--filter exact --state untold']) {
      const stats = await shell(`"$URLSIEVE" dedupe --profile raw --stats ${options} "$LINKS" 2> /dev/full`)
      expect(stats.code).toBe(EXIT.output)
      expect(stats.stdout.equals(awk(readFileSync(links)))).toBe(true)
    }
    const commands = await shell(
      'echo ADD http://a.example/ > commands; "$URLSIEVE" run commands --stats 2> /dev/full',
    )
    expect(commands.code).toBe(EXIT.output)
    expect(commands.stdout.toString()).toBe('added http://a.example/\n')
  })

  it.each([
    ['dedupe --profile raw big.txt -o limited', 'limited'],
    ['dedupe --profile raw big.txt > limited', 'stdout'],
  ])('a file-size limit: what was written stays (%s)', async (command, name) => {
    const ended = await shell(`rm -f limited; ulimit -f 8; "$URLSIEVE" ${command}`)
    expectFailure(ended, EXIT.output, new RegExp(`cannot write ${name}: file too large`))
    const written = readFileSync(join(folder, 'limited'))
    expect(written).toHaveLength(8 * 1024)
    expect(unique.subarray(0, written.length).equals(written)).toBe(true)
  })

  it.each<[string, RegExp]>([
    ['nowhere/out.txt', /cannot write nowhere\/out\.txt: no such file or folder/],
    ['folder', /cannot write folder: is a folder, expected a file/],
    ['big.txt/out.txt', /cannot write big\.txt\/out\.txt: a part of the path is not a folder/],
  ])('-o %s', async (path, words) => {
    const ended = await run(['dedupe', links, '-o', path])
    expectFailure(ended, EXIT.output, words)
    expectNothingWritten(ended)
  })

  it('the input itself: refused before it is emptied', async () => {
    const path = join(folder, 'own.txt')
    const before = readFileSync(links)
    writeFileSync(path, before)
    symlinkSync('own.txt', join(folder, 'alias.txt'))
    for (const command of [
      'dedupe own.txt -o own.txt',
      'dedupe "$LINKS" own.txt -o alias.txt',
      'dedupe -o own.txt < own.txt',
      'dedupe --repeated own.txt >> own.txt', // would read for ever what it writes
    ]) {
      const ended = await shell(`timeout 20 "$URLSIEVE" ${command}`)
      expectFailure(ended, EXIT.usage, /is both input and output/)
      expect(readFileSync(path).equals(before)).toBe(true)
    }
  })
})

describe('a file that is read whole is read to a limit', () => {
  it.runIf(process.platform === 'linux')('rules, settings and secrets', async () => {
    symlinkSync('/dev/zero', join(folder, 'endless.json'))
    const endless = [
      await run(['dedupe', '--profile', 'endless.json'], ''),
      await run(['learn', '--check', '/dev/zero'], ''),
      await run(['serve', '--config', '/dev/zero']),
      await run(['serve', '--password-file', '/dev/zero']),
    ]
    for (const ended of endless)
      expectFailure(ended, EXIT.input, /longer than \d+(\.\d)? MiB, the most that is expected/)
    expectFailure(await run(['dedupe', '--profile', 'none.json'], ''), EXIT.input, /no such file/)
  })

  it('one that states 3 GB', async () => {
    writeFileSync(join(folder, 'sparse.json'), '{')
    truncateSync(join(folder, 'sparse.json'), 3e9)
    expectFailure(await run(['dedupe', '--profile', 'sparse.json'], ''), EXIT.input, /longer than 64/)
  })
})
