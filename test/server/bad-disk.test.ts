// A server whose disk is full or read-only when it starts, and one that was killed while an add created its sieve.
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeApp } from '../../src/server/http/app.ts'
import { HTTP_LIMITS } from '../../src/server/http/index.ts'
import { LocalRegistry } from '../../src/server/local-registry.ts'
import { itemsOf } from '../support/items.mjs'
import { atEnd } from './ends.ts'
import { folder, served } from './serving.ts'

const MB = 1024 ** 2
const open = (data: string) => LocalRegistry.open({ data, memoryBytes: 256 * MB, mostSieves: 50 })

/** A file system of its own, or null where only root may make one. */
function fileSystem(): string | null {
  const path = folder()
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'none', path]).status !== 0) return null
  atEnd(() => spawnSync('umount', ['-l', path]))
  return path
}
const canMount = fileSystem() !== null

function fillUp(path: string): void {
  const piece = Buffer.alloc(4096)
  try {
    for (;;) appendFileSync(join(path, 'ballast'), piece)
  } catch {
    // full
  }
}

describe.skipIf(!canMount)(
  `a disk that takes no writes${canMount ? '' : ' (skipped: only root may mount)'}`,
  () => {
    it.each([
      ['full', fillUp, (path: string) => rmSync(join(path, 'ballast'))],
      [
        'read-only',
        (path: string) => spawnSync('mount', ['-o', 'remount,ro', path]),
        (path: string) => spawnSync('mount', ['-o', 'remount,rw', path]),
      ],
    ])(
      '%s at the start: what is there is answered, nothing is taken, /readyz says why',
      async (_, spoil, mend) => {
        const path = fileSystem()!
        const data = join(path, 'data')
        mkdirSync(data)
        const first = await open(data)
        for (const name of ['a', 'b'])
          await (await first.create(name, {})).add(itemsOf(['https://a.example/1']))
        await first.create('s', {}, 'set', true)
        await first.close()
        mkdirSync(join(data, '.dropped-1-1'))
        spoil(path)
        const before = readdirSync(data).sort()

        const server = await served({ registry: { data } })
        const client = await server.connect()
        expect(await client.ask('SIEVE.HAS', 'a', 'https://a.example/1', 'https://a.example/2')).toEqual([
          1, 0,
        ])
        const refused = [
          ['SIEVE.ADD', 'a', 'https://a.example/2'],
          ['SIEVE.FORGET', 'a', 'https://a.example/1'],
          ['SIEVE.SAVE', 'a'],
          ['SIEVE.CREATE', 'c'],
          ['SADD', 'new', 'x'],
          ['EXPIRE', 'a', '1'],
          ['RENAME', 'a', 'c'],
          ['DEL', 'a'],
          ['BF.ADD', 'f', 'x'],
        ]
        for (const command of refused) {
          const reply = await client.ask(...command)
          expect(JSON.stringify(reply), command[0]).toMatch(/(no space left|read-only).*restart the server/)
        }
        expect(await client.ask('SIEVE.HAS', 'a', 'https://a.example/1', 'https://a.example/2')).toEqual([
          1, 0,
        ])
        expect(await client.ask('DBSIZE')).toBe(3)
        const { app, close } = await makeApp(server.registry, {
          host: '127.0.0.1',
          port: 0,
          server: server.info,
          limits: HTTP_LIMITS,
        })
        const ready = await app.inject('/readyz')
        expect([ready.statusCode, ready.json().faults[0].kind]).toEqual([503, 'disk'])
        await close()
        await server.close()
        expect(readdirSync(data).sort()).toEqual(before)

        mend(path)
        const again = await open(data)
        expect(again.faults.isReady).toBe(true)
        expect(await again.get('a')!.add(itemsOf(['https://a.example/1', 'https://a.example/2']))).toEqual(
          Uint8Array.of(0, 1),
        )
        await again.close()
      },
    )

    it.each([
      ['prefix-layers', { filter: 'prefix-layers', expectedUrls: 5000, falsePositiveRate: 1e-3 }],
      ['classic', { filter: 'classic', expectedUrls: 5000, falsePositiveRate: 1e-3 }],
    ] as const)(
      'what was refused is not seen, and fills no filter: %s past its capacity',
      async (_, spec) => {
        const path = fileSystem()!
        const registry = await open(path)
        const sieve = await registry.create('p', spec)
        const list = (kind: string, count: number) =>
          itemsOf(Array.from({ length: count }, (_, i) => `https://h${i % 50}.example/${kind}/${i % 7}/${i}`))
        const seenOf = async (kind: string) =>
          (await sieve.has(list(kind, 20_000))).reduce((sum, seen) => sum + seen, 0)
        await sieve.add(list('base', 6000))
        expect(await seenOf('never')).toBeLessThan(300) // at its rate past its capacity, under secret keys
        fillUp(path)
        const all = list('refused', 20_000)
        let refused = 0
        for (let i = 0; i < 20_000; i += 100) {
          const some = { ...all, starts: all.starts.slice(i, i + 100), ends: all.ends.slice(i, i + 100) }
          await Promise.resolve()
            .then(() => sieve.add(some))
            .catch(() => {
              refused += 100
            })
        }
        expect(refused).toBeGreaterThan(19_000) // the last page of the log may have had room
        // Of the first batch that the disk refused the bits stay; its URLs are known to be new.
        expect(await seenOf('refused')).toBeLessThan(500)
        expect(await seenOf('never')).toBeLessThan(500)
        expect(await sieve.add(list('base', 6000))).toEqual(new Uint8Array(6000)) // known ones are answered
        expect((await sieve.stats()).urls).toBeLessThan(7000)
        await registry.close().catch(() => {}) // the disk is full
      },
    )

    it('a second server on a full disk does not read behind the back of the first', async () => {
      const path = fileSystem()!
      const first = await open(path)
      fillUp(path)
      await expect(open(path)).rejects.toThrow(/is held by process/)
      await first.close()
    })
  },
)

describe('a sieve that an add creates', () => {
  it.each([
    ['set', 'set'],
    ['bloom', { capacity: 100, errorRate: 0.01, expansion: 2 }],
  ] as const)('is not there when the server was killed before the add: %s', async (_, purpose) => {
    const data = folder()
    const first = await open(data)
    await first.create('empty', {}, purpose, true)
    await (await first.create('used', {}, purpose, true)).add(itemsOf(['x']))
    await first.close()
    const again = await open(data)
    expect(again.list().map(({ name }) => name)).toEqual(['used'])
    expect(existsSync(join(data, 'empty'))).toBe(false)
    await again.close()
  })

  it('stays when BF.RESERVE made it', async () => {
    const data = folder()
    const first = await open(data)
    await first.create('reserved', {}, { capacity: 100, errorRate: 0.01, expansion: 2 })
    await first.close()
    const again = await open(data)
    expect(again.get('reserved')).toBeDefined()
    await again.close()
  })

  it('is not there when its client was ended meanwhile', async () => {
    const server = await served()
    const other = await server.connect()
    const { create } = server.registry
    let go = () => {}
    let gate = Promise.resolve()
    let made: Promise<unknown> = Promise.resolve()
    server.registry.create = (...asked) => {
      const one = create.apply(server.registry, asked).then(async (sieve) => {
        await gate
        return sieve
      })
      made = one
      return one
    }
    for (const command of ['SADD', 'BF.ADD']) {
      gate = new Promise((resolve) => {
        go = resolve
      })
      const client = await server.connect()
      client.ask(command, 'k', 'x').catch(() => {})
      while (server.registry.list().length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
      expect(await other.ask('CLIENT', 'KILL', 'TYPE', 'NORMAL')).toBe(1)
      await client.closed()
      go()
      await made
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(server.registry.list()).toEqual([])
    }
  })
})
