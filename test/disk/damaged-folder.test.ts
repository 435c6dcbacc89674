// The folder of a disk sieve that is damaged, forged or cut gives one clear error; a reader opens it while a writer works.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { DiskSieve } from '../../src/disk/index.ts'
import { readManifest, writeManifest } from '../../src/disk/manifest.ts'
import { batchOf } from '../crash/batches.mjs'
import { builtLibrary } from '../support/built.ts'
import { newFolders } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'

const newFolder = newFolders()
const BATCH_URLS = 20_000
const writer = fileURLToPath(new URL('../crash/disk-writer.mjs', import.meta.url))
const maxMemory = 25 * 1024 ** 2
const sound = join(newFolder(), 'seen')
const url = (i: number) => `https://example.com/${i}`
const urls = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => url(from + i))

beforeAll(async () => {
  const sieve = await DiskSieve.open(sound, { maxMemory, profile: 'raw' })
  // More than the table takes: there are runs and a log.
  for (let at = 0; at < 250_000; at += 25_000) await sieve.addMany(urls(at, at + 25_000))
  expect(sieve.stats().store.runs).toBeGreaterThan(1)
  await sieve.close()
}, 60_000)

function copyOf(): string {
  const folder = join(newFolder(), 'seen')
  cpSync(sound, folder, { recursive: true })
  return folder
}

const fileOf = (folder: string, kind: string) =>
  join(folder, readdirSync(folder).find((name) => name.startsWith(kind))!)

async function openAndRead(folder: string, readOnly: boolean): Promise<void> {
  const sieve = await DiskSieve.open(folder, { maxMemory, readOnly })
  try {
    await sieve.hasMany(urls(0, 100))
  } finally {
    await sieve.close()
  }
}

const forged = (change: object) => (folder: string) =>
  writeManifest(folder, { ...readManifest(folder), ...change } as never)

const damages: Readonly<Record<string, (folder: string) => void>> = {
  'an empty manifest': (folder) => truncateSync(join(folder, 'manifest'), 0),
  'a manifest cut in the middle': (folder) => truncateSync(join(folder, 'manifest'), 40),
  'a manifest with something behind it': (folder) =>
    appendFileSync(join(folder, 'manifest'), Buffer.alloc(2 ** 20)),
  'a manifest of random bytes': (folder) => {
    const random = randomFrom(3)
    writeFileSync(join(folder, 'manifest'), Buffer.from(Array.from({ length: 300 }, () => random() * 256)))
  },
  'a manifest with a run twice': forged({ runs: [1, 1] }),
  'a manifest with a run that is not there': forged({ runs: [99_999_999] }),
  'a manifest with too many runs': forged({ runs: Array.from({ length: 5000 }, (_, i) => i + 1) }),
  'a manifest with a run of no number': forged({ runs: ['../../etc/passwd'] }),
  'a manifest with a log that is not there': forged({ log: 77 }),
  'a manifest with a log of no number': forged({ log: '../x' }),
  'a manifest with a short key': forged({ key: 'ab' }),
  'a manifest of another set': forged({ set: '0000000000000001' }),
  'a manifest with unknown rules': forged({ profile: { name: 'raw', rules: ['nothing'] } }),
  'an empty run': (folder) => truncateSync(fileOf(folder, 'run-'), 0),
  'a run that is cut': (folder) => truncateSync(fileOf(folder, 'run-'), 100_000),
  'a run that is longer': (folder) => appendFileSync(fileOf(folder, 'run-'), 'x'),
  'a run that is missing': (folder) => rmSync(fileOf(folder, 'run-')),
  'a log that is missing': (folder) => rmSync(fileOf(folder, 'log-')),
  'a log with a byte changed': (folder) => {
    const bytes = readFileSync(fileOf(folder, 'log-'))
    bytes[100]! ^= 1
    writeFileSync(fileOf(folder, 'log-'), bytes)
  },
}

describe('the folder of a disk sieve', () => {
  it.for(Object.entries(damages))('%s: one clear error', async ([, damage]) => {
    const folder = copyOf()
    damage(folder)
    for (const readOnly of [true, false]) {
      const error = await openAndRead(folder, readOnly).then(
        () => null,
        (thrown: unknown) => thrown as Error,
      )
      expect(error).toMatchObject({ name: 'SieveError' })
      expect(error!.message).not.toContain('\n')
      expect(error!.message.length).toBeLessThan(500)
    }
  })

  it('a log that is cut at any byte: what was written whole is there', async () => {
    const bytes = readFileSync(fileOf(sound, 'log-'))
    expect(bytes.length).toBeGreaterThan(1000)
    const random = randomFrom(9)
    for (const size of [
      0,
      1,
      27,
      bytes.length - 1,
      ...Array.from({ length: 5 }, () => random() * bytes.length),
    ]) {
      const folder = copyOf()
      truncateSync(fileOf(folder, 'log-'), Math.floor(size))
      await openAndRead(folder, true)
      await openAndRead(folder, false)
    }
  })

  it('a reader opens it while a writer writes further runs', { timeout: 60_000 }, async () => {
    const folder = join(newFolder(), 'seen')
    const argument = JSON.stringify({
      ...{ built: builtLibrary(), folder, from: 1, batchUrls: BATCH_URLS },
      options: { profile: 'raw', maxMemory, durability: 'never' },
    })
    const child = spawn(process.execPath, [writer, argument], { stdio: ['ignore', 'pipe', 'inherit'] })
    let done = 0
    child.stdout.on('data', (chunk: Buffer) => {
      for (const [, batch] of chunk.toString().matchAll(/^done (\d+)$/gm)) done = Number(batch)
    })
    const ended = once(child, 'close')
    try {
      let opened = 0
      const runs = new Set<number>()
      while (runs.size < 2 || opened < 5) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        if (done === 0) continue
        const batch = batchOf(done, BATCH_URLS).slice(0, 500)
        const reader = await DiskSieve.open(folder, { maxMemory: 2 * maxMemory, readOnly: true })
        expect((await reader.hasMany(batch)).every((seen) => seen === 1)).toBe(true)
        await expect(reader.add(url(0))).rejects.toThrow('read-only')
        runs.add(reader.stats().store.runs)
        await reader.close()
        opened++
      }
    } finally {
      child.kill('SIGKILL')
      await ended
    }
  })
})
