// The sieves of a server: in memory and in folders, found again after a restart, within their memory.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { Sieve, SieveError } from '../../src/index.ts'
import { LocalRegistry, type LocalRegistryOptions } from '../../src/server/local-registry.ts'
import { checkName, folderOf, nameBytes, nameFrom, nameOfFolder } from '../../src/server/names.ts'
import { matcherOf } from '../../src/server/resp/pattern.ts'
import { optionsOf, plannedBytes } from '../../src/server/sieve-spec.ts'
import * as disk from '../../src/store/file.ts'
import { itemsOf } from '../support/items.mjs'
import { randomFrom } from '../support/random.mjs'
import { folder } from './serving.ts'

vi.mock('../../src/store/file.ts', { spy: true })

const MB = 1024 ** 2

const open = (options: Partial<LocalRegistryOptions> = {}) =>
  LocalRegistry.open({ memoryBytes: 64 * MB, mostSieves: 100, ...options })

const urls = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => `https://example.com/${from + i}`)

/** What lies in a folder, but for the socket of its lock. */
const filesIn = (path: string) =>
  readdirSync(path)
    .filter((name) => !name.endsWith('.sock'))
    .sort()

async function refusal(act: Promise<unknown>): Promise<SieveError> {
  const error = await act.then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(SieveError)
  return error as SieveError
}

describe('names', () => {
  it('go to bytes and to folders and back, and no two meet', () => {
    const random = randomFrom(7)
    const seen = new Map<string, string>()
    for (let i = 0; i < 3000; i++) {
      const bytes = Buffer.from(
        Array.from({ length: 1 + Math.floor(random() * 6) }, () =>
          random() < 0.5 ? 97 + Math.floor(random() * 4) : Math.floor(random() * 256),
        ),
      )
      const name = nameFrom(bytes)
      expect(nameBytes(name).equals(bytes)).toBe(true)
      checkName(name)
      const path = folderOf(name)
      expect(path).toMatch(/^[a-z0-9_%-]+$/)
      expect(nameOfFolder(path)).toBe(name)
      const before = seen.get(path.toLowerCase())
      if (before !== undefined) expect(before).toBe(name)
      seen.set(path.toLowerCase(), name)
    }
    for (const name of ['..', '.', '/etc/passwd', 'a/../b', 'CON', '.dropped-1', 'ÄÖ', '日本', '%41']) {
      expect(folderOf(name)).not.toMatch(/[./A-Z]/)
      expect(nameOfFolder(folderOf(name))).toBe(name)
    }
    const long = folderOf('Ä'.repeat(100))
    expect(long).toMatch(/^~[0-9a-f]{64}$/)
    expect(() => checkName('Ä'.repeat(101))).toThrow(/a name of 202 bytes: expected at most 200/)
    expect(() => checkName('')).toThrow(/empty/)
    expect(() => checkName('é\udc80')).toThrow(/not valid text/)
  })

  it('match patterns as Redis does', () => {
    const cases: [pattern: string, yes: string[], no: string[]][] = [
      ['*', ['', 'abc'], []],
      ['a*c', ['ac', 'abc', 'abcbc'], ['ab', 'bac']],
      ['a?c', ['abc'], ['ac', 'abbc']],
      ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
      ['[^a-c]x', ['dx'], ['ax']],
      ['[c-a]x', ['bx'], ['dx']],
      ['\\*', ['*'], ['a']],
      ['[\\]]', [']'], ['a']],
      ['', [''], ['a']],
      ['**a', ['a', 'ba'], ['ab']],
    ]
    for (const [pattern, yes, no] of cases) {
      const isMatch = matcherOf(Buffer.from(pattern))
      for (const name of yes) expect(isMatch(Buffer.from(name)), `${pattern} ${name}`).toBe(true)
      for (const name of no) expect(isMatch(Buffer.from(name)), `${pattern} ${name}`).toBe(false)
    }
    const started = performance.now()
    expect(matcherOf(Buffer.from(`${'*a'.repeat(100)}b`))(Buffer.alloc(200, 'a'))).toBe(false)
    expect(performance.now() - started).toBeLessThan(100)
  })
})

describe('a registry with a folder', () => {
  it('finds its sieves again, of both kinds, with all they held', async () => {
    const data = folder()
    let registry = await open({ data })
    const strange = nameFrom(Buffer.from([0xff, 0x2f, 0x2e]))
    await registry.create('Sieve/../x', {
      filter: 'blocked',
      expectedUrls: 1000,
      falsePositiveRate: 1e-4,
      profile: 'whatwg',
    })
    await registry.create(strange, {}, { capacity: 500, errorRate: 0.01, expansion: 4 })
    await registry.create('fixed', {}, { capacity: 3, errorRate: 1e-7, expansion: 0 })
    for (const name of ['Sieve/../x', strange]) await registry.get(name)!.add(itemsOf(urls(0, 400)))
    await registry.get('fixed')!.add(itemsOf(['a', 'b']))
    const before = registry.list().map((served) => [served.name, served.kind, served.bloom, served.createdAt])
    const { urls: count } = await registry.get(strange)!.stats()
    await registry.close()
    registry = await open({ data })
    expect(
      registry.list().map((served) => [served.name, served.kind, served.bloom, served.createdAt]),
    ).toEqual(before)
    expect(await registry.get('Sieve/../x')!.stats()).toMatchObject({
      filter: 'blocked',
      profile: 'whatwg',
      urls: 400,
    })
    expect((await registry.get(strange)!.stats()).urls).toBe(count)
    expect([...(await registry.get(strange)!.has(itemsOf(urls(0, 400))))]).toEqual(new Array(400).fill(1))
    // The count of a filter that may not grow lasts too: one more goes in, no other.
    expect([...(await registry.get('fixed')!.add(itemsOf(['a', 'c'])))]).toEqual([0, 1])
    expect(() => registry.get('fixed')!.add(itemsOf(['d']))).toThrow('non scaling filter is full')
    await registry.close()
  })

  it('drops a sieve with its folder, and its name is free', async () => {
    const data = folder()
    const registry = await open({ data })
    await registry.create('a', {})
    await registry.get('a')!.add(itemsOf(['x']))
    expect(filesIn(data)).toEqual(['a', 'lock'])
    const [dropped, again, made] = await Promise.all([
      registry.drop('a'),
      registry.drop('a'),
      registry.create('a', {}),
    ])
    expect([dropped, again]).toEqual([true, false])
    expect((await made.stats()).urls).toBe(0)
    expect(await registry.drop('nope')).toBe(false)
    await registry.drop('a')
    expect(filesIn(data)).toEqual(['lock'])
    await registry.close()
  })

  it('is of one server at a time', async () => {
    const data = folder()
    const registry = await open({ data })
    expect((await refusal(open({ data }))).code).toBe('locked')
    await registry.close()
    await (await open({ data })).close()
  })

  it('takes in a store that was made without a server, and leaves strangers alone', async () => {
    const data = folder()
    const sieve = await Sieve.open(join(data, 'crawl'), { profile: 'raw' })
    sieve.add('x')
    await sieve.close()
    mkdirSync(join(data, 'not-ours'))
    writeFileSync(join(data, 'not-ours', 'file'), '')
    writeFileSync(join(data, 'notes.txt'), '')
    const registry = await open({ data })
    expect(registry.list().map(({ name, kind }) => [name, kind])).toEqual([['crawl', 'sieve']])
    expect([...(await registry.get('crawl')!.has(itemsOf(['x', 'y'])))]).toEqual([1, 0])
    await registry.close()
    expect(existsSync(join(data, 'not-ours', 'file'))).toBe(true)
  })

  it('mends what a crash in the middle of making or dropping left', async () => {
    const data = folder()
    let registry = await open({ data })
    await registry.create('half', {}, { capacity: 10, errorRate: 0.1, expansion: 2 })
    await registry.create('gone', {})
    await registry.close()
    for (const name of readdirSync(join(data, 'half'))) {
      if (name !== 'server.json') rmSync(join(data, 'half', name))
    }
    renameSync(join(data, 'gone'), join(data, '.dropped-1-0'))
    registry = await open({ data })
    expect(registry.list().map(({ name, kind }) => [name, kind])).toEqual([['half', 'bloom']])
    expect([...(await registry.get('half')!.add(itemsOf(['x'])))]).toEqual([1])
    expect(filesIn(data)).toEqual(['half', 'lock'])
    await registry.close()
  })

  it('says which file is damaged', async () => {
    const data = folder()
    const registry = await open({ data })
    await registry.create('a', {})
    await registry.close()
    for (const [text, why] of [
      ['{', /cannot read .*server\.json/],
      ['{"version":9}', /server\.json has version 9/],
    ] as const) {
      writeFileSync(join(data, 'a', 'server.json'), text)
      const again = await open({ data })
      expect(again.faults.list()).toMatchObject([{ kind: 'set-aside', sieve: 'a' }])
      expect(again.faults.list()[0]!.message).toMatch(why)
      await again.close()
    }
  })

  it.each([false, true])(
    'of many who make a name while it is dropped one makes it; in a folder: %s',
    async (isStored) => {
      const registry = await open(isStored ? { data: folder() } : {})
      await registry.create('a', { profile: 'raw' })
      const dropped = registry.drop('a')
      await null
      const [first, ...others] = await Promise.allSettled(
        Array.from({ length: 3 }, async () => {
          const made = await registry.create('a', { profile: 'raw' })
          return made.add(itemsOf(['x']))
        }),
      )
      expect(await dropped).toBe(true)
      expect(first).toEqual({ status: 'fulfilled', value: Uint8Array.of(1) })
      for (const other of others)
        expect(other).toMatchObject({ reason: { message: expect.stringContaining("'a' is taken") } })
      expect(await registry.get('a')!.has(itemsOf(['x']))).toEqual(Uint8Array.of(1))
      await registry.close()
    },
  )

  it('one that cannot be dropped is served on, and its old faults are over', async () => {
    const data = folder()
    const registry = await open({ data })
    const served = await registry.create('a', { profile: 'raw' })
    await served.add(itemsOf(['x']))
    registry.faults.begin('disk', 'no space', 'a')
    // What would take its place is there already, and no folder.
    for (let i = 0; i < 5; i++) writeFileSync(join(data, `.dropped-${process.pid}-${i}`), '')
    expect((await refusal(registry.drop('a'))).code).toBe('disk')
    expect(await registry.get('a')!.has(itemsOf(['x']))).toEqual(Uint8Array.of(1))
    expect(registry.faults.list()).toEqual([])
    await registry.close()
  })

  it('one whose folder could not be put on the disk is not there after a restart', async () => {
    const data = folder()
    const registry = await open({ data })
    const later = vi.spyOn(disk, 'syncFolderLater').mockImplementation(async (path) => {
      if (path === data) throw Object.assign(new Error('i/o error'), { code: 'EIO' })
    })
    expect((await refusal(registry.create('a', {}))).code).toBe('disk')
    later.mockRestore()
    expect(filesIn(data)).toEqual(['lock'])
    await registry.create('a', {})
    await registry.close()
  })

  it('a sieve that cannot be made leaves no folder', async () => {
    const data = folder()
    const registry = await open({ data })
    await refusal(registry.create('bad', { filter: 'blocked' }))
    await refusal(registry.create('bad', { profile: 'nope' as 'raw' }))
    expect(filesIn(data)).toEqual(['lock'])
    await registry.close()
  })
})

describe('memory for all sieves', () => {
  it('refuses to make what would not fit, before it is made', async () => {
    const registry = await open({ memoryBytes: 8 * MB })
    const spec = { filter: 'blocked', sizeBytes: 5 * MB, expectedUrls: 1000 } as const
    await registry.create('a', spec)
    const error = await refusal(registry.create('b', spec))
    expect(error.code).toBe('memory')
    expect(error.message).toMatch(
      /^no memory to create this sieve: \d+ bytes are used, \d+ more are needed, 8388608 are allowed \(--memory\)$/,
    )
    await refusal(registry.create('c', { expectedUrls: 1e12 }))
    await refusal(registry.create('d', {}, { capacity: 2 ** 30, errorRate: 1e-9, expansion: 2 }))
    await registry.drop('a')
    await registry.create('b', spec)
    await registry.close()
  })

  it('counts what is being made at the same time', async () => {
    const registry = await open({ memoryBytes: 12 * MB })
    const spec = { filter: 'blocked', sizeBytes: 5 * MB, expectedUrls: 1000 } as const
    const ends = await Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => registry.create(name, spec)))
    const statuses = ends.map(({ status }) => status).sort() // whichever two come first
    expect(statuses).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
    await registry.close()
  })

  it.for([
    ['fingerprint', { filter: 'fingerprint' }],
    ['scalable', { filter: 'scalable', expectedUrls: 10_000, falsePositiveRate: 1e-4 }],
    ['window', { filter: 'window', window: { windowMs: 3_600_000, generations: 8 } }],
  ] as const)('refuses %s to grow past it, and what it answered stands', async ([, spec]) => {
    const memoryBytes = 6 * MB
    const registry = await open({ memoryBytes })
    const served = await registry.create('a', { profile: 'raw', ...spec })
    let added = 0
    let error: unknown
    while (!error && added < 5_000_000) {
      try {
        expect((await served.add(itemsOf(urls(added, 1000)))).length).toBe(1000)
        added += 1000
      } catch (reason) {
        error = reason
      }
    }
    expect(error).toBeInstanceOf(SieveError)
    expect((error as SieveError).message).toMatch(/^no memory to add to 'a': /)
    const { sizeBytes } = await served.stats()
    expect(registry.sizeBytes).toBeLessThanOrEqual(memoryBytes)
    // It is not refused long before it must be.
    expect(sizeBytes).toBeGreaterThan(memoryBytes / 4)
    const answers = await served.has(itemsOf(urls(added - 1000, 1000)))
    expect([...answers]).toEqual(new Array(1000).fill(1))
    await registry.close()
  })

  it.for(['blocked', 'classic', 'fingerprint'])(
    'a window by count of %s goes round within it, in batches longer than a generation',
    async (inner) => {
      const memoryBytes = 6 * MB
      const registry = await open({ memoryBytes })
      const window = { windowUrls: 100_000, generations: 4 }
      const rate = inner === 'fingerprint' ? {} : { falsePositiveRate: 1e-3 }
      const served = await registry.create('a', {
        profile: 'raw',
        filter: 'window',
        inner,
        ...rate,
        window,
      } as never)
      for (let added = 0; added < 500_000; added += 40_000) {
        expect((await served.add(itemsOf(urls(added, 40_000)))).length).toBe(40_000)
        await served.stats()
        expect(registry.sizeBytes).toBeLessThanOrEqual(memoryBytes)
      }
      await registry.close()
    },
  )

  // Memory is only taken where it is touched, but the right to it must be there.
  it.skipIf(freemem() < 3 * 1024 * MB)(
    'BF.RESERVE of 900 million at 0.001 takes what is planned, under 4 GiB (with 3 GiB free)',
    async () => {
      const bloom = { capacity: 900_000_000, errorRate: 1e-3, expansion: 2 }
      const planned = plannedBytes(optionsOf({}, bloom))
      const registry = await open({ memoryBytes: 4 * 1024 * MB })
      const served = await registry.create('a', {}, bloom)
      expect([...(await served.add(itemsOf(urls(0, 1000))))]).toEqual(new Array(1000).fill(1))
      const { sizeBytes } = await served.stats()
      expect(sizeBytes).toBeGreaterThan(0.95 * planned)
      expect(sizeBytes).toBeLessThan(1.05 * planned)
      expect(registry.sizeBytes).toBeLessThan(1.05 * planned)
      await registry.close()
    },
  )

  it('a filter of a fixed size goes on in a full registry', async () => {
    const registry = await open({ memoryBytes: 4 * MB })
    const fixed = await registry.create('fixed', { filter: 'blocked', sizeBytes: 3 * MB, expectedUrls: 1000 })
    expect([...(await fixed.add(itemsOf(['x', 'x'])))]).toEqual([1, 0])
    await registry.close()
  })

  it('what lies in the folder and does not fit is said at the start', async () => {
    const data = folder()
    const registry = await open({ data })
    await registry.create('a', { filter: 'blocked', sizeBytes: 20 * MB, expectedUrls: 1000 })
    await registry.close()
    const error = await refusal(open({ data, memoryBytes: 8 * MB }))
    expect(error.message).toMatch(/^no memory to open the sieves in the folder/)
    await (await open({ data })).close()
  })

  it('there are so many sieves at most', async () => {
    const registry = await open({ mostSieves: 2 })
    await registry.create('a', {})
    await registry.create('b', {})
    expect((await refusal(registry.create('c', {}))).message).toBe(
      'there are 2 sieves, the most allowed (--max-sieves): drop one',
    )
    await registry.drop('a')
    await registry.create('c', {})
    await registry.close()
  })
})
