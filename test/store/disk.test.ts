// A disk that is full, or read-only: one clear line, the sieve goes on answering, nothing acknowledged is lost, what
// was refused is still new, and it goes on when there is room.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { SieveError } from '../../src/errors.ts'
import type { StoreOptions } from '../../src/journal.ts'
import type { SieveOptions } from '../../src/sieve.ts'
import { Sieve } from '../../src/sieve.ts'
import { batchOf } from '../crash/batches.mjs'
import { builtLibrary } from '../support/built.ts'

const BATCH_URLS = 100
/** Always the same, so that a filter errs in every run or in none. */
const key = new Uint8Array(16).fill(11)
const root = mkdtempSync(join(tmpdir(), 'urlsieve-disk-'))
const mounts: string[] = []
afterAll(() => {
  for (const folder of mounts) spawnSync('umount', ['-l', folder])
  rmSync(root, { recursive: true, force: true })
})

/** A file system of its own, or null where only root may make one. */
function fileSystem(name: string, options: string): string | null {
  const folder = mkdtempSync(join(root, `${name}-`))
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'none', folder]).status !== 0) return null
  mounts.push(folder)
  return folder
}
const canMount = fileSystem('try', 'size=64k') !== null
const withMounts = canMount ? describe : describe.skip
const why = canMount ? '' : ' (skipped: only root may mount a small file system)'

const settings: readonly { name: string; options: SieveOptions & StoreOptions }[] = [
  { name: 'fingerprint', options: {} },
  { name: 'fingerprint, always', options: { durability: 'always' } },
  { name: 'fingerprint with keys', options: { keepKeys: true } },
  { name: 'blocked', options: { filter: 'blocked', expectedUrls: 120_000 } },
  { name: 'multilayer', options: { filter: 'multilayer', expectedUrls: 20_000, falsePositiveRate: 1e-4 } },
  { name: 'scalable', options: { filter: 'scalable', expectedUrls: 1000, falsePositiveRate: 1e-9 } },
]

const sum = (answers: Uint8Array) => answers.reduce((total, answer) => total + answer, 0)
const held = (sieve: Sieve, batch: number) => sum(sieve.hasMany(batchOf(batch, BATCH_URLS)))

/** Adds batches until the disk refuses one; which that is, and what it said. */
function fill(sieve: Sieve, from: number): { refused: number; error: SieveError } {
  for (let batch = from; batch < from + 5000; batch++) {
    try {
      expect(sum(sieve.addMany(batchOf(batch, BATCH_URLS)))).toBe(BATCH_URLS)
    } catch (error) {
      if (error instanceof SieveError) return { refused: batch, error }
      throw error
    }
  }
  throw new Error('the disk was never full')
}

function expectFull(error: SieveError): void {
  expect(error.code).toBe('disk')
  expect(error.message).toMatch(/^cannot write \S+: no space left on the device/)
  expect(error.message).not.toContain('\n')
}

withMounts(`a full disk${why}`, () => {
  it.for(settings)(
    '$name: refuses in one line, answers, and goes on when there is room',
    async ({ options }) => {
      const disk = fileSystem('full', 'size=1500k')!
      writeFileSync(join(disk, 'ballast'), Buffer.alloc(800_000))
      const folder = join(disk, 'store')
      const sieve = await Sieve.open(folder, { ...options, key, profile: 'raw', foldBytes: 100_000 })
      const { refused, error } = fill(sieve, 0)
      expectFull(error)
      // It answers: what was acknowledged is seen, what was refused is new.
      for (let batch = 0; batch < refused; batch++) expect(held(sieve, batch)).toBe(BATCH_URLS)
      expect(held(sieve, refused)).toBe(0)
      expect(sieve.stats().urls).toBe(refused * BATCH_URLS)
      // Tried again without room, it is refused again.
      expect(() => sieve.addMany(batchOf(refused, BATCH_URLS))).toThrow(/no space left/)
      expect(() => sieve.addMany(batchOf(refused + 1, BATCH_URLS))).toThrow(/no space left/)
      expect(held(sieve, refused) + held(sieve, refused + 1)).toBe(0)
      // With room it is new, once; a repeat within the batch is seen.
      unlinkSync(join(disk, 'ballast'))
      const urls = batchOf(refused, BATCH_URLS)
      expect(sum(sieve.addMany([...urls, ...urls]))).toBe(BATCH_URLS)
      expect(sum(sieve.addMany(urls))).toBe(0)
      expect(held(sieve, refused)).toBe(BATCH_URLS)
      expect(held(sieve, refused + 1)).toBe(0)
      await sieve.close()
      for (const readOnly of [true, false]) {
        const again = await Sieve.open(folder, { readOnly, foldBytes: 100_000 })
        for (let batch = 0; batch <= refused; batch++) expect(held(again, batch)).toBe(BATCH_URLS)
        expect(again.stats().urls).toBe((refused + 1) * BATCH_URLS)
        await again.close()
      }
    },
  )

  it.for(settings)(
    '$name: what was refused is still new after a snapshot and a reopening',
    async ({ options }) => {
      const disk = fileSystem('owed', 'size=5000k')!
      writeFileSync(join(disk, 'ballast'), Buffer.alloc(4_200_000))
      const folder = join(disk, 'store')
      const sieve = await Sieve.open(folder, { ...options, key, profile: 'raw' })
      const { refused, error } = fill(sieve, 0)
      expectFull(error)
      unlinkSync(join(disk, 'ballast'))
      await sieve.save()
      expect(held(sieve, refused)).toBe(0)
      await sieve.close()
      for (const readOnly of [true, false]) {
        const again = await Sieve.open(folder, { readOnly })
        for (let batch = 0; batch < refused; batch++) expect(held(again, batch)).toBe(BATCH_URLS)
        expect(held(again, refused)).toBe(0)
        if (!readOnly) {
          expect(sum(again.addMany(batchOf(refused, BATCH_URLS)))).toBe(BATCH_URLS)
          expect(again.stats().urls).toBe((refused + 1) * BATCH_URLS)
        }
        await again.close()
      }
      const last = await Sieve.open(folder, { readOnly: true })
      expect(held(last, refused)).toBe(BATCH_URLS)
      expect(last.stats().urls).toBe((refused + 1) * BATCH_URLS)
    },
  )

  it('save, delete and clear that find no room change nothing, and work later', async () => {
    const disk = fileSystem('verbs', 'size=300k')!
    const folder = join(disk, 'store')
    const sieve = await Sieve.open(folder, { profile: 'raw' })
    sieve.addMany(batchOf(1, BATCH_URLS))
    const url = batchOf(1, 1)[0]!
    fillUp(join(disk, 'ballast'))
    await expect(sieve.save()).rejects.toMatchObject({ code: 'disk' })
    await expect(sieve.save()).rejects.toMatchObject({ code: 'disk' })
    const { refused } = fill(sieve, 10)
    expect(() => sieve.delete(url)).toThrow(SieveError)
    expect(sieve.has(url)).toBe(true)
    unlinkSync(join(disk, 'ballast'))
    expect(sieve.delete(url)).toBe(true)
    expect(sieve.has(url)).toBe(false)
    expect(sum(sieve.addMany(batchOf(refused, BATCH_URLS)))).toBe(BATCH_URLS)
    const urls = (refused - 10 + 1 + 1) * BATCH_URLS - 1
    expect(sieve.stats().urls).toBe(urls)
    await sieve.save()
    await sieve.close()
    const again = await Sieve.open(folder)
    expect(again.stats().urls).toBe(urls)
    expect(again.has(url)).toBe(false)
    fillUp(join(disk, 'ballast'))
    expect(() => again.clear()).toThrow(SieveError)
    expect(again.stats().urls).toBe(urls)
    expect(held(again, 1)).toBe(BATCH_URLS - 1)
    unlinkSync(join(disk, 'ballast'))
    expect(again.add(url)).toBe(true)
    await again.close()
    const kept = await Sieve.open(folder)
    expect(kept.stats().urls).toBe(urls + 1)
    expect(held(kept, 1)).toBe(BATCH_URLS)
    kept.clear()
    await kept.close()
    const cleared = await Sieve.open(folder, { readOnly: true })
    expect(cleared.stats().urls).toBe(0)
    expect(cleared.has(url)).toBe(false)
  })

  it('a new store, and a .sieve file, where there is no room: one line and no trace', async () => {
    const disk = fileSystem('small', 'size=8k')!
    await expect(Sieve.open(join(disk, 'store'))).rejects.toMatchObject({ code: 'disk' })
    const sieve = await Sieve.create()
    sieve.add('https://example.com/')
    await expect(sieve.save(join(disk, 'one.sieve'))).rejects.toMatchObject({ code: 'disk' })
    const { readdirSync } = await import('node:fs')
    expect(readdirSync(disk).filter((name) => name !== 'store')).toEqual([])
  })
})

/** Takes all the room there is. */
function fillUp(path: string): void {
  try {
    writeFileSync(path, Buffer.alloc(1_000_000))
  } catch {
    // that is what was wanted
  }
}

describe('a limit on the size of files', () => {
  it('is told in one line, and nothing acknowledged is lost', async () => {
    const built = builtLibrary()
    const folder = join(root, 'limited')
    const script = `
      import { Sieve } from '${built}/index.js'
      import { batchOf } from '${new URL('../crash/batches.mjs', import.meta.url).pathname}'
      const sieve = await Sieve.open('${folder}', { profile: 'raw', durability: 'always' })
      let batch = 0
      try {
        for (;; batch++) sieve.addMany(batchOf(batch, ${BATCH_URLS}))
      } catch (error) {
        console.log(JSON.stringify({ batch, code: error.code, message: error.message, seen: sieve.hasMany(batchOf(0, 1))[0] }))
      }`
    const { stdout, stderr } = spawnSync(
      'bash',
      ['-c', 'ulimit -f 64 && exec "$0" --input-type=module -e "$1"', process.execPath, script],
      { encoding: 'utf8' },
    )
    expect(stderr).toBe('')
    const { batch, code, message, seen } = JSON.parse(stdout)
    expect({ code, seen }).toEqual({ code: 'disk', seen: 1 })
    expect(message).toMatch(/may not grow further/)
    expect(batch).toBeGreaterThan(10)
    const sieve = await Sieve.open(folder, { readOnly: true })
    expect(sieve.stats().urls).toBe(batch * BATCH_URLS)
    for (let i = 0; i < batch; i++) expect(held(sieve, i)).toBe(BATCH_URLS)
  })
})

withMounts(`a read-only file system${why}`, () => {
  it('refuses a writer in one line and lets a reader ask', async () => {
    const disk = fileSystem('readonly', 'size=1m')!
    const folder = join(disk, 'store')
    const sieve = await Sieve.open(folder, { profile: 'raw' })
    sieve.addMany(batchOf(1, BATCH_URLS))
    await sieve.close()
    expect(spawnSync('mount', ['-o', 'remount,ro', disk]).status).toBe(0)
    await expect(Sieve.open(folder)).rejects.toMatchObject({
      code: 'disk',
      message: `cannot write ${join(folder, 'lock')}: the file system is read-only`,
    })
    await expect(Sieve.open(join(disk, 'other'))).rejects.toMatchObject({
      code: 'disk',
      message: expect.stringMatching(/read-only/),
    })
    const reader = await Sieve.open(folder, { readOnly: true })
    expect(held(reader, 1)).toBe(BATCH_URLS)
    expect(held(reader, 2)).toBe(0)
  })
})

const asNobody = process.getuid?.() === 0
describe('a folder without permission', () => {
  it.runIf(asNobody)('is told in one line', () => {
    const built = builtLibrary()
    const locked = mkdtempSync(join(root, 'locked-'))
    const script = `
      import { Sieve } from '${built}/index.js'
      try { await Sieve.open('${locked}/store') } catch (error) { console.log(error.code + ' ' + error.message) }`
    spawnSync('chmod', ['-R', 'a+rX', built, root])
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      uid: 65534,
      gid: 65534,
      cwd: '/',
    })
    expect(stdout).toMatch(/^disk cannot write \S+: permission denied\n$/)
  })
})
