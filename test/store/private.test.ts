// What holds a secret key or the URLs themselves is readable by its owner only.
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ownOutput } from '../../src/cli/own-output.ts'
import { Frontier } from '../../src/crawlers/frontier.ts'
import { KeptLog } from '../../src/crawlers/kept-log.ts'
import { ExactSieve } from '../../src/exact/index.ts'
import { freeze } from '../../src/freeze.ts'
import { LocalRegistry } from '../../src/server/local-registry.ts'
import { Sieve } from '../../src/sieve.ts'
import { Log } from '../../src/store/log.ts'
import { newFolders } from '../support/folders.ts'

const newFolder = newFolders()

const modeOf = (path: string) => statSync(path).mode & 0o777

/** The files below a folder that others may read or write, but for the lock, in which there is no secret. */
function open(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (/^lock/.test(entry.name) || (modeOf(path) & 0o077) === 0) return []
    return entry.isDirectory() ? open(path) : [path]
  })
}

describe('a link in the place of a file that is written', () => {
  it.each([
    ['a log', (path: string) => new Log(path)],
    ['a log that is continued', (path: string) => new Log(path, 2)],
    ['the URLs that limits have kept', (path: string) => new KeptLog(path)],
    ['a report', (path: string) => ownOutput(path)],
    ['the lines of a host', (path: string) => ownOutput(path, true)],
  ])('is not followed: %s', (_, write) => {
    const folder = newFolder()
    const [path, other] = [join(folder, 'file'), join(folder, 'other')]
    writeFileSync(other, 'mine')
    symlinkSync(other, path)
    expect(() => write(path)).toThrow(/symbolic link/)
    expect(readFileSync(other, 'utf8')).toBe('mine')
  })
})

describe('files that hold keys', () => {
  it.each([{}, { keepKeys: true }])('of a store, %o', async (options) => {
    const folder = newFolder()
    const sieve = await Sieve.open(folder, options)
    for (let round = 0; round < 3; round++) {
      sieve.addMany([`https://example.com/${round}`])
      await sieve.save()
    }
    sieve.add('https://example.com/last')
    expect(readdirSync(folder).length).toBeGreaterThan(options.keepKeys ? 5 : 3)
    expect(open(folder)).toEqual([])
    await sieve.close()
    expect(open(folder)).toEqual([])
  })

  it('saved and frozen', async () => {
    const folder = newFolder()
    const sieve = await Sieve.create()
    sieve.add('https://example.com/')
    await sieve.save(join(folder, 'one.sieve'))
    await (await freeze(sieve)).save(join(folder, 'frozen.sieve'))
    expect(open(folder)).toEqual([])
    expect(readdirSync(folder)).toHaveLength(2)
  })

  it('of an exact sieve, a frontier and a server', async () => {
    const folder = newFolder()
    const sieve = await ExactSieve.open(join(folder, 'exact'))
    await sieve.add('https://example.com/')
    await sieve.close()
    const frontier = Frontier.open({ folder: join(folder, 'frontier') })
    frontier.release(frontier.hold(['https://example.com/']))
    frontier.close()
    const registry = await LocalRegistry.open({
      data: join(folder, 'data'),
      memoryBytes: 2 ** 30,
      mostSieves: 10,
    })
    await registry.create('a', {})
    await registry.close()
    expect(open(folder)).toEqual([])
  })
})
