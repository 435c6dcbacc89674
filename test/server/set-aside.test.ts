// One damaged sieve never stops the others: it is named and set aside, its files stay as they are, and its name is refused
// until they are repaired or dropped. A load that is cut short by kill -9 leaves nothing, or the whole filter: 3 of them;
// URLSIEVE_FULL=1: 100.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Items } from '../../src/index.ts'
import { LocalRegistry } from '../../src/server/local-registry.ts'
import { main } from '../e2e/command.ts'
import { randomFrom } from '../support/random.mjs'
import { started } from './process.ts'
import { encoded } from './raw.ts'
import { folder } from './serving.ts'

const MB = 1024 ** 2
const open = (data: string) => LocalRegistry.open({ data, memoryBytes: 256 * MB, mostSieves: 100 })

function item(text: string): Items {
  const bytes = Buffer.from(text)
  return { bytes, starts: Uint32Array.of(0), ends: Uint32Array.of(bytes.length) }
}

const filesOf = (path: string) =>
  readdirSync(path)
    .sort()
    .map((name) => [name, readFileSync(join(path, name), 'latin1')])

/** A folder with two sieves, `good` and `bad`, each with the URL x. */
async function two(): Promise<string> {
  const data = folder()
  const registry = await open(data)
  for (const name of ['good', 'bad']) {
    const served = await registry.create(name, { profile: 'raw' })
    await served.add(item('x'))
    await served.save()
    await served.add(item('y'))
  }
  await registry.close()
  return data
}

const snapshotIn = (path: string) => join(path, readdirSync(path).find((name) => name.endsWith('.sieve'))!)
const logIn = (path: string) => join(path, readdirSync(path).find((name) => name.startsWith('log-'))!)

const damages: Record<string, (path: string) => void> = {
  'half a snapshot': (path) => truncateSync(snapshotIn(path), statSync(snapshotIn(path)).size >> 1),
  'half a snapshot without an entry, as an older server left it': (path) => {
    truncateSync(snapshotIn(path), statSync(snapshotIn(path)).size >> 1)
    writeFileSync(join(path, 'server.json.moved'), readFileSync(join(path, 'server.json')))
    spawnSync('rm', [join(path, 'server.json')])
  },
  'a flipped byte in a log': (path) => {
    const bytes = readFileSync(logIn(path))
    bytes[4]! ^= 1
    writeFileSync(logIn(path), bytes)
  },
  'an entry that is no JSON': (path) => writeFileSync(join(path, 'server.json'), '{'),
  'an entry of another sieve': (path) => cpSync(join(path, '../good/server.json'), join(path, 'server.json')),
}

describe('a damaged sieve is set aside', () => {
  it.for(Object.keys(damages))('%s', async (kind) => {
    const data = await two()
    const path = join(data, 'bad')
    damages[kind]!(path)
    const before = filesOf(path)
    const registry = await open(data)
    // The other one is served.
    expect(registry.list().map(({ name }) => name)).toEqual(['good'])
    const good = registry.get('good')!
    expect([...(await good.has(item('x'))), ...(await good.has(item('y')))]).toEqual([1, 1])
    // This one is named, with the reason and what to do.
    const [fault, ...more] = registry.faults.list()
    expect(more).toEqual([])
    expect(fault).toMatchObject({ kind: 'set-aside', sieve: 'bad' })
    expect(fault!.message).toContain(`urlsieve verify --repair ${path}`)
    // Its name is not free, over RESP neither.
    const bloom = { capacity: 100, errorRate: 0.01, expansion: 2 }
    await expect(registry.create('bad', {})).rejects.toThrow(/sieve 'bad' is set aside: /)
    await expect(registry.create('bad', {}, bloom)).rejects.toThrow(/sieve 'bad' is set aside: /)
    expect(filesOf(path)).toEqual(before)
    await registry.close()
    // And after another start.
    const again = await open(data)
    expect(again.faults.list()).toHaveLength(1)
    expect(filesOf(path)).toEqual(before)
    // Dropped, it is gone, and its name is free.
    expect(await again.drop('bad')).toBe(true)
    expect(again.faults.list()).toEqual([])
    expect(existsSync(path)).toBe(false)
    await again.create('bad', {})
    await again.close()
  })

  it('also when its folder cannot be read', async () => {
    const data = await two()
    mkdirSync(join(data, 'bad', 'server.json.draft-1'))
    const registry = await open(data)
    expect(registry.list().map(({ name }) => name)).toEqual(['good'])
    expect(registry.faults.list()).toMatchObject([{ kind: 'set-aside', sieve: 'bad' }])
    await registry.close()
  })

  it('comes back when it is repaired', async () => {
    const data = await two()
    const path = join(data, 'bad')
    const bytes = readFileSync(snapshotIn(path))
    bytes[bytes.length >> 1]! ^= 1
    writeFileSync(snapshotIn(path), bytes)
    const registry = await open(data)
    expect(registry.list().map(({ name }) => name)).toEqual(['good'])
    // While the server runs: it does not hold what it does not serve.
    const repair = spawnSync(process.execPath, [main, 'verify', '--repair', path], { encoding: 'utf8' })
    expect([repair.status, repair.stderr]).toEqual([0, ''])
    await registry.close()
    const again = await open(data)
    expect(again.faults.list()).toEqual([])
    expect([...(await again.get('bad')!.has(item('y')))]).toEqual([1])
    await again.close()
  })

  it('is no other folder that happens to lie there', async () => {
    const data = await two()
    mkdirSync(join(data, 'notes'))
    writeFileSync(join(data, 'notes', 'a.txt'), 'a')
    const registry = await open(data)
    expect(registry.faults.list()).toEqual([])
    await expect(registry.create('notes', {})).rejects.toThrow(/it exists already/)
    expect(readFileSync(join(data, 'notes', 'a.txt'), 'utf8')).toBe('a')
    await registry.close()
  })
})

/** Loads of a dump that are killed as they end. */
const KILLS = process.env.URLSIEVE_FULL === '1' ? 100 : 3

describe('kill -9', () => {
  it('while a load ends: the filter is there whole or not at all, and the others are served', {
    timeout: 1_800_000,
  }, async () => {
    const data = folder()
    const random = randomFrom(21)
    const urls = Array.from({ length: 3000 }, (_, i) => `https://example.com/${i}`)
    let server = await started(['--data', data])
    let client = await server.connect()
    expect(await client.ask('BF.RESERVE', 'good', '0.001', '2000000')).toBe('OK')
    await client.ask('BF.MADD', 'good', ...urls)
    const chunks: [string, Buffer][] = []
    for (let iterator = '0'; ; ) {
      const [next, chunk] = (await client.ask('BF.SCANDUMP', 'good', iterator)) as [number, string]
      if (next === 0) break
      iterator = String(next)
      chunks.push([iterator, Buffer.from(chunk, 'latin1')])
    }
    const [last] = chunks.splice(-1)
    let [whole, none] = [0, 0]
    for (let kill = 0; kill < KILLS; kill++) {
      const name = `loaded${kill}`
      for (const chunk of chunks) expect(await client.ask('BF.LOADCHUNK', name, ...chunk)).toBe('OK')
      client.write(encoded('BF.LOADCHUNK', name, ...last!))
      await new Promise((resolve) => setTimeout(resolve, 25 * random()))
      server.child.kill('SIGKILL')
      await server.ended()
      server = await started(['--data', data])
      client = await server.connect()
      expect(server.output()).not.toContain('set-aside')
      const seen = (await client.ask('BF.MEXISTS', name, ...urls)) as number[]
      const count = seen.reduce((sum, one) => sum + one, 0)
      expect([0, urls.length]).toContain(count)
      if (count === 0) none++
      else whole++
      await client.ask('DEL', name)
      expect(await client.ask('BF.MEXISTS', 'good', ...urls)).toEqual(urls.map(() => 1))
      expect(readdirSync(data).filter((found) => found.startsWith('.'))).toEqual([])
    }
    console.log(`loading a dump: ${KILLS} kills, ${whole} whole, ${none} not there`)
    server.child.kill('SIGTERM')
    expect(await server.ended()).toBe(0)
  })

  it('leaves dumps behind, which the next start removes: none of a living server', async () => {
    const temporary = folder()
    const env = { TMPDIR: temporary }
    const [dead, living] = [await started([], env), await started([], env)]
    for (const server of [dead, living]) {
      const client = await server.connect()
      await client.ask('BF.ADD', 'a', 'x')
      await client.ask('BF.SCANDUMP', 'a', '0')
      client.close()
    }
    const dumps = () => readdirSync(temporary).filter((name) => name.startsWith('urlsieve-dumps-'))
    expect(dumps()).toHaveLength(2)
    for (const name of dumps()) {
      expect(statSync(join(temporary, name)).mode & 0o777).toBe(0o700)
      for (const file of readdirSync(join(temporary, name)).filter((one) => /^\d+$/.test(one))) {
        expect(statSync(join(temporary, name, file)).mode & 0o077).toBe(0)
      }
    }
    dead.child.kill('SIGKILL')
    await dead.ended()
    const next = await started([], env)
    // Cleared in the background.
    for (let i = 0; i < 200 && dumps().length > 1; i++)
      await new Promise((resolve) => setTimeout(resolve, 25))
    expect(dumps()).toHaveLength(1)
    for (const server of [living, next]) {
      server.child.kill('SIGTERM')
      expect(await server.ended()).toBe(0)
    }
    expect(dumps()).toEqual([])
  })
})

describe('any name works with --data', () => {
  it.for(['lock', 'lock.takeover', 'LOCK', '.transfers', '.dropped-1-0', '%6cock', 'server.json', '~x'])(
    '%s',
    async (name) => {
      const data = folder()
      let registry = await open(data)
      await (await registry.create(name, {})).add(item('https://example.com/'))
      await registry.close()
      registry = await open(data)
      expect(registry.list().map((served) => served.name)).toEqual([name])
      expect([...(await registry.get(name)!.has(item('https://example.com/')))]).toEqual([1])
      expect(await registry.drop(name)).toBe(true)
      await registry.close()
    },
  )
})
