// Systems that cannot sync a folder, as Windows: whatever keeps state works there all the same.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { Frontier } from '../../src/crawlers/frontier.ts'
import { DiskSieve } from '../../src/disk/index.ts'
import { ExactSieve } from '../../src/exact/index.ts'
import { Sieve } from '../../src/index.ts'
import { LocalRegistry } from '../../src/server/local-registry.ts'

const failing = vi.hoisted(() => ({ code: '', onOpen: false, times: 0 }))

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  const refusal = (isFolder: boolean, onOpen: boolean) => {
    if (!isFolder || failing.code === '' || failing.onOpen !== onOpen) return null
    failing.times++
    return Object.assign(new Error(`${failing.code}: operation refused`), { code: failing.code })
  }
  const isFolder = (path: unknown) =>
    typeof path === 'string' && fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  const isOfFolder = (fd: number) => fs.fstatSync(fd).isDirectory()
  type Done = (error: Error | null, ...rest: unknown[]) => void
  return {
    ...fs,
    openSync(...args: Parameters<typeof fs.openSync>) {
      const error = refusal(isFolder(args[0]), true)
      if (error) throw error
      return fs.openSync(...args)
    },
    open(path: string, flags: string, done: Done) {
      const error = refusal(isFolder(path), true)
      if (error) done(error)
      else fs.open(path, flags, done)
    },
    fsyncSync(fd: number) {
      const error = refusal(isOfFolder(fd), false)
      if (error) throw error
      fs.fsyncSync(fd)
    },
    fsync(fd: number, done: Done) {
      const error = refusal(isOfFolder(fd), false)
      if (error) done(error)
      else fs.fsync(fd, done)
    },
  }
})

const root = mkdtempSync(join(tmpdir(), 'urlsieve-unsyncable-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const url = 'https://example.com/'
const limits = { memoryBytes: 64 * 1024 ** 2, mostSieves: 10 }

const keepers: Record<string, (folder: string) => Promise<void>> = {
  'Sieve.open': async (folder) => {
    const sieve = await Sieve.open(folder, { durability: 'always' })
    expect(sieve.add(url)).toBe(true)
    await sieve.save()
    await sieve.save(`${folder}.sieve`)
    await sieve.close()
    await using again = await Sieve.open(folder)
    expect(again.has(url)).toBe(true)
  },
  'DiskSieve.open': async (folder) => {
    const sieve = await DiskSieve.open(folder, { maxMemory: 32 * 1024 ** 2 })
    expect(await sieve.add(url)).toBe(true)
    await sieve.close()
    await using again = await DiskSieve.open(folder, { maxMemory: 32 * 1024 ** 2 })
    expect(await again.has(url)).toBe(true)
  },
  'ExactSieve.open': async (folder) => {
    const sieve = await ExactSieve.open(folder)
    expect(await sieve.add(url)).toBe(true)
    await sieve.sync()
    await sieve.close()
    await using again = await ExactSieve.open(folder)
    expect(await again.has(url)).toBe(true)
  },
  'Frontier.open': async (folder) => {
    const frontier = Frontier.open({ folder })
    frontier.release(frontier.hold(['{}']))
    frontier.close()
    const again = Frontier.open({ folder })
    expect(again.pending).toBe(1)
    again.close()
  },
  'the data of a server': async (data) => {
    const registry = await LocalRegistry.open({ ...limits, data })
    await registry.create('seen', {})
    await registry.create('gone', {})
    await registry.drop('gone')
    await registry.close()
    const again = await LocalRegistry.open({ ...limits, data })
    expect(again.list().map(({ name }) => name)).toEqual(['seen'])
    await again.close()
  },
}

const ways = [
  ['EPERM', false],
  ['EINVAL', false],
  ['ENOTSUP', false],
  ['EISDIR', true],
  ['EACCES', true],
] as const

describe.each(ways)('a folder that answers %s (when it is opened: %s)', (code, onOpen) => {
  beforeEach(() => {
    Object.assign(failing, { code: '', onOpen, times: 0 })
  })

  it.each(Object.keys(keepers))('%s', async (name) => {
    const folder = mkdtempSync(join(root, 'folder-'))
    failing.code = code
    await keepers[name]!(folder)
    expect(failing.times).toBeGreaterThan(0)
  })
})

it('a device that reports an error is still one', async () => {
  Object.assign(failing, { code: 'EIO', onOpen: false })
  await expect(Sieve.open(mkdtempSync(join(root, 'folder-')))).rejects.toMatchObject({ code: 'disk' })
  failing.code = ''
})
