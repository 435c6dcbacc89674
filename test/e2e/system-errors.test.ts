// What the system refuses is one line with the path and the exit code of an input or an output, whatever file of a store it
// is about: exit code 70 is for defects.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { systemExit } from '../../src/cli/exit.ts'
import { DiskSieve } from '../../src/disk/index.ts'
import { ExactSieve } from '../../src/exact/index.ts'
import { Sieve } from '../../src/index.ts'
import { cases, expectFailure, temporaryFolder, urlsieve } from './command.ts'

const folder = temporaryFolder()
const url = 'https://example.com/'
const input = `${url}\n${url}other\n`
const memory = { maxMemory: 32 * 1024 ** 2 }

beforeAll(async () => {
  const store = await Sieve.open(join(folder, 'store'), { keepKeys: true })
  store.addMany([url, url, 'not a URL'])
  await store.save()
  store.add(`${url}more`)
  await store.close()
  for (let i = 0; i < 2; i++) {
    const disk = await DiskSieve.open(join(folder, 'disk'), memory)
    await disk.addMany([`${url}${i}`, `${url}${i}`])
    await disk.close()
  }
  const exact = await ExactSieve.open(join(folder, 'exact'))
  await exact.addMany([url, url])
  await exact.close()
})

const dedupe: Record<string, readonly string[]> = {
  store: [],
  disk: ['--max-memory', '150M'],
  exact: ['--filter', 'exact'],
}

/** The files of a store, with the path inside it; those of LevelDB in a folder of theirs. */
const filesOf = (name: string) =>
  readdirSync(join(folder, name), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !/LOCK|LOG|^lock/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, name).length + 1))

const replacements: Record<string, (path: string) => void> = {
  'a folder': (path) => mkdirSync(path),
  'a link to itself': (path) => symlinkSync(path, path),
}

describe.each(['store', 'disk', 'exact'])('%s: in the place of each file', (name) => {
  it.each(cases(['a folder'], ['a link to itself']))('%s', { timeout: 300_000 }, async (what) => {
    for (const file of filesOf(name)) {
      const copy = join(folder, 'copy')
      rmSync(copy, { recursive: true, force: true })
      cpSync(join(folder, name), copy, { recursive: true })
      rmSync(join(copy, file))
      replacements[what]!(join(copy, file))
      const commands: [string[], string?][] = [
        [['verify', copy]],
        [['check', '--state', copy, url]],
        [['dedupe', '--state', copy, ...dedupe[name]!], input],
      ]
      for (const [args, text] of commands) {
        const { code, stdout, stderr } = await urlsieve(args, text === undefined ? {} : { input: text })
        const about = `${args[0]} with ${what} as ${file}: ${stderr}`
        expect([0, 1, 2, 3, 4], about).toContain(code)
        expect(stderr, about).toMatch(/^(urlsieve: [^\n]+\n)?$/)
        if (code! > 1) expect(`${stdout}${stderr}`, about).toContain(copy)
      }
    }
  })
})

describe('a system error that no command has put into words', () => {
  const errorOf = (code: string, syscall: string, path?: string) =>
    Object.assign(new Error(`${code}: message, ${syscall}`), { code, errno: -1, syscall, path })

  it.each([
    ['ENOENT', 'open', 3, 'cannot read a/b: no such file or folder'],
    ['EACCES', 'open', 3, 'cannot read a/b: permission denied'],
    ['EISDIR', 'read', 3, 'cannot read a/b: is a folder, expected a file'],
    ['ENOTDIR', 'scandir', 3, 'cannot read a/b: a part of the path is not a folder'],
    ['EIO', 'read', 3, 'cannot read a/b: input/output error'],
    ['ELOOP', 'stat', 3, 'cannot read a/b: too many symbolic links'],
    ['ENAMETOOLONG', 'lstat', 3, 'cannot read a/b: the name is too long'],
    ['EMFILE', 'open', 3, 'cannot read a/b: too many open files: raise the limit (ulimit -n)'],
    ['EIO', 'write', 4, 'cannot write a/b: input/output error'],
    ['EACCES', 'mkdir', 4, 'cannot write a/b: permission denied'],
    ['ENOTEMPTY', 'rename', 4, 'cannot write a/b: the folder is not empty'],
    ['EROFS', 'open', 4, 'cannot write a/b: read-only file system'],
    ['ENOSPC', 'open', 4, 'cannot write a/b: no space left on the device'],
    ['ENOMEM', 'read', 5, 'cannot read a/b: no memory left'],
  ])('%s of %s', (code, syscall, exit, message) => {
    expect(systemExit(errorOf(code, syscall, 'a/b'))).toEqual({ code: exit, message })
  })

  it('without a path names the call', () => {
    expect(systemExit(errorOf('EIO', 'read'))?.message).toBe('cannot read: input/output error')
  })

  it('is none when only wrong code can cause it', () => {
    for (const error of [errorOf('EBADF', 'close'), new TypeError('x is undefined'), null, 'text']) {
      expect(systemExit(error)).toBeNull()
    }
  })
})

describe('an address in the place of a folder', () => {
  const addresses = ['redis://user:secret@host/seen', 'http://host/seen', 'foo:seen', 'bf://host/x']
  const commands = [
    ['dedupe'],
    ['dedupe', '--filter', 'exact'],
    ['dedupe', '--max-memory', '150M'],
    ['check', url],
    ['forget', url],
    ['crawl', url],
  ]
  it.each(commands.map((command, i) => [command, addresses[i % addresses.length]!] as const))(
    '%j --state %s is refused, and no folder is made',
    async (command, address) => {
      const ended = await urlsieve([...command, '--state', address], { cwd: folder, input })
      expectFailure(ended, 2, /--state begins with '[a-z]+:': expected a folder, not an address/)
      expect(ended.stderr).not.toContain('secret')
      expect(existsSync(join(folder, /^[^/]*/.exec(address)![0]))).toBe(false)
    },
  )

  it('serve --data too', async () => {
    const ended = await urlsieve(['serve', '--data', 'redis://host/x'], { cwd: folder })
    expectFailure(ended, 2, /--data begins with 'redis:'/)
  })

  it('a folder of that name can be written as a path, and a drive is none', async () => {
    expect((await urlsieve(['dedupe', '--state', './foo:seen'], { cwd: folder, input })).code).toBe(0)
    expect((await urlsieve(['dedupe', '--state', 'C:seen'], { cwd: folder, input })).code).toBe(0)
  })
})
