// `merge` and `freeze`, killed at each of their calls to the file system: what they write is there whole or not at all, and
// the next run takes away what the killed one left.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { DiskSieve } from '../../src/disk/index.ts'
import { verifyDisk } from '../../src/disk/verify.ts'
import { Sieve } from '../../src/index.ts'
import { verifySieve } from '../../src/store/verify.ts'
import { builtLibrary } from '../support/built.ts'
import { newFolders } from '../support/folders.ts'
import { batchOf } from './batches.mjs'

const BATCH_URLS = 300
/** More calls than any of them makes. */
const MOST_CALLS = 200
const built = builtLibrary()
const child = fileURLToPath(new URL('killed-at.mjs', import.meta.url))
const newFolder = newFolders()
const memory = { maxMemory: 32 * 1024 ** 2 }

async function diskStores(folder: string): Promise<string[]> {
  const paths = ['a', 'b'].map((name) => join(folder, name))
  const first = await DiskSieve.open(paths[0]!, memory)
  await first.addMany(batchOf(0, BATCH_URLS))
  await first.close()
  cpSync(paths[0]!, paths[1]!, { recursive: true })
  const second = await DiskSieve.open(paths[1]!, memory)
  await second.addMany(batchOf(1, BATCH_URLS))
  await second.close()
  return paths
}

async function files(folder: string): Promise<string[]> {
  const key = new Uint8Array(16).fill(3)
  const paths = ['a.sieve', 'b.sieve'].map((name) => join(folder, name))
  for (const [i, path] of paths.entries()) {
    const sieve = await Sieve.create({ key })
    sieve.addMany(batchOf(i, BATCH_URLS))
    await sieve.save(path)
  }
  return paths
}

const both = [...batchOf(0, BATCH_URLS), ...batchOf(1, BATCH_URLS)]
const kinds = {
  stores: {
    make: diskStores,
    async expectWhole(path: string) {
      expect((await verifyDisk(path)).flatMap(({ damage }) => damage)).toEqual([])
      await using sieve = await DiskSieve.open(path, { ...memory, readOnly: true })
      expect((await sieve.hasMany(both)).includes(0)).toBe(false)
    },
  },
  merge: {
    make: files,
    async expectWhole(path: string) {
      expect((await verifySieve(path)).flatMap(({ damage }) => damage)).toEqual([])
      expect((await Sieve.load(path)).hasMany(both).includes(0)).toBe(false)
    },
  },
  freeze: {
    make: files,
    async expectWhole(path: string) {
      expect((await verifySieve(path)).flatMap(({ damage }) => damage)).toEqual([])
      expect((await Sieve.load(path)).hasMany(batchOf(0, BATCH_URLS)).includes(0)).toBe(false)
    },
  },
}

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('%s, killed at each call', (kind) => {
  it('leaves the whole result or none', { timeout: 300_000 }, async () => {
    const { make, expectWhole } = kinds[kind]
    const folder = newFolder()
    const from = await make(folder)
    const output = join(folder, 'out.sieve')
    const names = from.map((path) => basename(path)).sort()
    let kills = 0
    for (let killAt = 0; killAt < MOST_CALLS; killAt++) {
      const options = JSON.stringify({ built, kind, from, output, killAt })
      const { signal, status, stderr } = spawnSync(process.execPath, [child, options], { encoding: 'utf8' })
      const isThere = existsSync(output)
      if (isThere) await expectWhole(output)
      if (signal !== 'SIGKILL') {
        expect({ status, stderr, isThere }).toEqual({ status: 0, stderr: '', isThere: true })
        break
      }
      kills++
      rmSync(output, { recursive: true, force: true })
      const drafts = readdirSync(folder).filter((name) => !names.includes(name))
      expect(drafts.length, `after call ${killAt}: ${drafts}`).toBeLessThanOrEqual(1)
    }
    expect(kills).toBeGreaterThan(2)
    expect(readdirSync(folder).sort()).toEqual([...names, 'out.sieve'])
  })
})
