// Several outputs of one run of `dedupe`: every line is in one of them, hostile hosts stay inside their folder.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileNameOf, HostFiles, hostOf } from '../../src/cli/host-files.ts'
import { randomFrom } from '../support/random.mjs'
import { bash, expectFailure, expectQuiet, temporaryFolder, urlsieve } from './command.ts'

const random = randomFrom(181)
const lines = Array.from({ length: 5000 }, (_, i) => {
  const n = Math.floor(random() * 1500)
  return i % 10 === 0 ? `not a URL ${n}` : `https://h${n % 7}.example/${n}`
})
const isUrl = (line: string) => line.startsWith('https://')
const input = lines.map((line) => `${line}\n`).join('')
const text = (some: readonly string[]) => some.map((line) => `${line}\n`).join('')
/** First occurrences, and the others. */
const split = (all: readonly string[]) => {
  const seen = new Set<string>()
  const isFirst = all.map((line) => !seen.has(line) && Boolean(seen.add(line)))
  return { first: all.filter((_, i) => isFirst[i]), repeated: all.filter((_, i) => !isFirst[i]) }
}

const PLACING = { outlivesRun: false, end: { byte: 10, isQuoted: false } }

describe('--new, --repeated-to, --invalid-to', () => {
  it('every line is in one of them, in input order; nothing is left to print', async () => {
    const cwd = temporaryFolder()
    const args = ['dedupe', '--new', 'n', '--repeated-to', 'r', '--invalid-to', 'i', '--stats']
    const ended = await urlsieve(args, { input, cwd })
    const read = (name: string) => readFileSync(join(cwd, name), 'utf8')
    const { first, repeated } = split(lines.filter(isUrl))
    expect(ended.stdout.length).toBe(0)
    expect(read('n')).toBe(text(first))
    expect(read('r')).toBe(text(repeated))
    expect(read('i')).toBe(text(lines.filter((line) => !isUrl(line))))
    expect(JSON.parse(ended.stderr)).toMatchObject({ lines: 5000, invalid: 500 })
  })

  it('what has no file of its own is printed as always', async () => {
    const cwd = temporaryFolder()
    const { first, repeated } = split(lines)
    const both = await urlsieve(['dedupe', '--repeated-to', 'r'], { input, cwd })
    expectQuiet(both)
    expect(both.stdout.toString()).toBe(text(first))
    expect(readFileSync(join(cwd, 'r'), 'utf8')).toBe(text(repeated))
    const repeats = await urlsieve(['dedupe', '--repeated', '--new', 'n'], { input, cwd })
    expect(repeats.stdout.toString()).toBe(text(repeated))
    expect(readFileSync(join(cwd, 'n'), 'utf8')).toBe(text(first))
  })

  it('lines that are not UTF-8 are not URLs', async () => {
    const cwd = temporaryFolder()
    const bytes = Buffer.from('https://a.example/\xff\nhttps://a.example/\n', 'latin1')
    const ended = await urlsieve(['dedupe', '--invalid-to', 'i'], { input: bytes, cwd })
    expect(ended.stdout.toString()).toBe('https://a.example/\n')
    expect(readFileSync(join(cwd, 'i')).equals(bytes.subarray(0, 20))).toBe(true)
  })

  it('files of rows have their header', async () => {
    const cwd = temporaryFolder()
    writeFileSync(
      join(cwd, 'a.csv'),
      'n,url\n1,https://a.example/\n2,https://a.example/\n3,https://b.example/\n',
    )
    const args = ['dedupe', 'a.csv', '--field', 'url', '--repeated-to', 'r.csv', '--by-host', 'hosts']
    expectQuiet(await urlsieve(args, { cwd }))
    expect(readFileSync(join(cwd, 'r.csv'), 'utf8')).toBe('n,url\n2,https://a.example/\n')
    expect(readFileSync(join(cwd, 'hosts/b.example.csv'), 'utf8')).toBe('n,url\n3,https://b.example/\n')
  })

  it('what cannot be written ends the run with one line', async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'in.txt'), input)
    const run = (...flags: string[]) => urlsieve(['dedupe', 'in.txt', ...flags], { cwd })
    expectFailure(await run('--new', '/dev/full'), 4, /cannot write \/dev\/full: no space left on the device/)
    expectFailure(
      await run('--new', 'no/such/folder'),
      4,
      /cannot write no\/such\/folder: no such file or folder/,
    )
    expectFailure(await run('--invalid-to', 'in.txt'), 2, /in.txt is both input and output/)
    expectFailure(await run('--new', 'x', '--repeated-to', 'x'), 2, /x and x are the same file: expected two/)
    expectFailure(await run('-o', 'x', '--repeated-to', 'x'), 2, /x and x are the same file: expected two/)
    expectFailure(
      await run('-o', 'x', '--dropped', './x', '--keep-per-shape', '1'),
      2,
      /x and x are the same file: expected two|x and \.\/x are the same file: expected two/,
    )
    expectFailure(await run('--by-host', 'in.txt'), 4, /cannot write to in.txt/)
    expectFailure(
      await run('--by-host', '.'),
      4,
      /--by-host \.: the folder has files in it: expected an empty one/,
    )
    expectFailure(await run('--new', 'x', '--redis', 'redis://127.0.0.1:1'), 2, /--new with --redis/)
    expectFailure(await run('--by-host', 'x', '--max-share', '5%'), 2, /--by-host with limits by shape/)
    expect(readFileSync(join(cwd, 'in.txt'), 'utf8')).toBe(input)
  })

  it('with --state, what was not written is new again in the next run', async () => {
    const cwd = temporaryFolder()
    const some = text(split(lines.filter(isUrl)).first)
    const failed = await urlsieve(['dedupe', '--state', 'seen', '--new', '/dev/full'], { input: some, cwd })
    expectFailure(failed, 4, /no space left/)
    const again = await urlsieve(['dedupe', '--state', 'seen', '--by-host', 'hosts'], { input: some, cwd })
    expectQuiet(again)
    const files = readdirSync(join(cwd, 'hosts')).map((name) =>
      readFileSync(join(cwd, 'hosts', name), 'utf8'),
    )
    expect(files.join('').length).toBe(some.length)
  })

  it.each([
    ['--bare-hosts', 'in.csv', 'a.example/1\na.example/5"tv\na.example/6\n', 'a.example/7\n', ''],
    [
      '--field url',
      'in.csv',
      'url,n\nhttps://a.example/1,x\nhttps://a.example/2,"y\nz',
      'url,n\nhttps://a.example/3,x\n',
      '"\n',
    ],
    ['--field url', 'in.csv', 'url,n\nhttps://a.example/1,"x\n', 'url,n\nhttps://a.example/3,x\n', '"\n'],
    ['--field url', 'in.csv', 'url,n', 'url,n\nhttps://a.example/3,x\n', '\n'],
  ])('--append keeps what was delivered: %s, %s', async (flags, name, first, second, end) => {
    const cwd = temporaryFolder()
    const args = ['dedupe', '--state', 'seen', '-o', 'out', '--append', ...flags.split(' '), name]
    for (const some of [first, second, second]) {
      writeFileSync(join(cwd, name), some)
      expectQuiet(await urlsieve(args, { cwd }))
    }
    const rows = second.replace('url,n\n', '')
    expect(readFileSync(join(cwd, 'out'), 'utf8')).toBe(first + end + rows)
  })

  it('--append keeps what was delivered of inputs in several formats', async () => {
    const cwd = temporaryFolder()
    const rows = '{"url":"https://a.example/1","n":"5\\""}\n{"url":"https://a.example/2"}\n'
    writeFileSync(join(cwd, 'a.csv'), 'url\nhttps://a.example/0\n')
    writeFileSync(join(cwd, 'b.jsonl'), rows)
    const args = ['dedupe', '--state', 'seen', '-o', 'out', '--append', '--field', 'url', 'a.csv', 'b.jsonl']
    for (let run = 0; run < 2; run++) expectQuiet(await urlsieve(args, { cwd }))
    expect(readFileSync(join(cwd, 'out'), 'utf8')).toBe(`url\nhttps://a.example/0\n${rows}`)
  })

  it
    .runIf(process.platform === 'linux')
    .each(['--new full', '--keep-per-shape 1 --dropped full -o /dev/null'])(
    'signals are heard while nobody reads: %s',
    async (flags) => {
      const cwd = temporaryFolder()
      const many = Array.from({ length: 20_000 }, (_, i) => `https://a.example/page/${i}`)
      writeFileSync(join(cwd, 'in.txt'), text(many))
      // The pipe is held open; what fills it is not read.
      const script = `mkfifo full; exec 3<>full
        node "$URLSIEVE" dedupe in.txt --state seen ${flags} 2> errors & run=$!
        read -n 1 -u 3
        for try in $(seq 100); do kill -TERM $run 2> /dev/null || break; sleep 0.1; done
        kill -KILL $run 2> /dev/null && echo deaf
        wait $run; echo $?`
      const { stdout } = await bash(script, { cwd })
      expect(stdout.toString()).toBe('143\n')
    },
  )
})

describe('--by-host', () => {
  it('new lines, one file per host', async () => {
    const cwd = temporaryFolder()
    const ended = await urlsieve(['dedupe', '--by-host', 'a/hosts'], { input, cwd })
    expectQuiet(ended)
    expect(ended.stdout.length).toBe(0)
    const { first } = split(lines)
    const names = [...Array.from({ length: 7 }, (_, i) => `h${i}.example.txt`), '_no-host.txt']
    expect(readdirSync(join(cwd, 'a/hosts')).sort()).toEqual(names.sort())
    for (const name of names) {
      const host = name.replace(/\.txt$/, '')
      const expected = first.filter((line) =>
        isUrl(line) ? line.includes(`//${host}/`) : host === '_no-host',
      )
      expect(readFileSync(join(cwd, 'a/hosts', name), 'utf8')).toBe(text(expected))
    }
  })

  it('the host of a URL, as the platform reads it', () => {
    for (const url of [
      'https://Example.COM/a',
      'http://a.example:8080/',
      'https://user@b.example/',
      'https://0x7f.1/',
      'http://[::1]/',
      'https://xn--bcher-kva.example/',
      'https://a..example/',
      'http://../',
      'ftp://f.example/x',
      'foo://%2e%2e%2fetc/x',
    ]) {
      expect(hostOf(url)).toBe(new URL(url).hostname)
    }
    expect(hostOf(Buffer.from('https://bücher.example/').toString('latin1'))).toBe('xn--bcher-kva.example')
    for (const url of ['mailto:a@example.com', 'nothing', 'https://', 'https://a b/'])
      expect(hostOf(url)).toBe(null)
  })

  it('names are one file each, inside the folder, and different for different hosts', () => {
    const hosts = [
      '..',
      '.',
      'a/b',
      'a\\b',
      '-rf',
      '_no-host',
      'con',
      'nul.example',
      '[::1]',
      'a%2fb',
      'A',
      '\0',
      'ä',
    ]
    hosts.push('x'.repeat(300), `${'x'.repeat(299)}y`, 'a.example', 'a_b.example')
    const names = hosts.map(fileNameOf)
    expect(new Set(names).size).toBe(hosts.length)
    for (const name of names) {
      expect(name).toMatch(/^(?![._-]|con\b|nul\b)[a-zA-Z\d._%~-]{1,180}$/)
    }
    expect(fileNameOf('a_b.example')).toBe('a_b.example')
    expect(fileNameOf('..')).toBe('%2E.')
  })

  it('what is being put on the disk counts as not there yet', async () => {
    const folder = temporaryFolder()
    const files = new HostFiles(join(folder, 'hosts'), 'txt', { ...PLACING, outlivesRun: true })
    for (const host of ['a', 'b']) files.add(`https://${host}.example/`, `https://${host}.example/\n`)
    files.flush(true)
    const later = files.syncLater()
    rmSync(join(folder, 'hosts/b.example.txt'))
    expect(() => files.sync()).toThrow(/cannot write .*b\.example\.txt/)
    await expect(later).rejects.toThrow(/cannot write .*b\.example\.txt/)
    expect(() => files.sync()).toThrow(/cannot write .*b\.example\.txt/)
  })

  it('more hosts than there may be files share one', () => {
    const folder = join(temporaryFolder(), 'hosts')
    const files = new HostFiles(folder, 'txt', PLACING, 3)
    for (let i = 0; i < 10; i++) files.add(`https://h${i}.example/`, `${i}\n`)
    files.add('https://h1.example/', 'again\n')
    files.flush(true)
    expect(readdirSync(folder).sort()).toEqual(
      ['_other-hosts.txt', 'h0.example.txt', 'h1.example.txt', 'h2.example.txt'].sort(),
    )
    expect(readFileSync(join(folder, '_other-hosts.txt'), 'utf8')).toBe('3\n4\n5\n6\n7\n8\n9\n')
    expect(readFileSync(join(folder, 'h1.example.txt'), 'utf8')).toBe('1\nagain\n')
    mkdirSync(join(folder, 'x'))
    expect(() => new HostFiles(folder, 'txt', PLACING)).toThrow('expected an empty one')
    expect(existsSync(join(folder, 'x'))).toBe(true)
  })
})
