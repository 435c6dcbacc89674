// The log cut at every byte of its last records, and bytes flipped anywhere in snapshot, log and key segment: a cut is
// dropped to the last whole record, a flip is named with file and position, and no wrong verdict is ever given.
// URLSIEVE_FULL=1 cuts more records and flips every byte instead of some.
import { cpSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SieveError } from '../../src/errors.ts'
import type { SieveOptions } from '../../src/sieve.ts'
import { Sieve } from '../../src/sieve.ts'
import { readLog } from '../../src/store/log.ts'
import { storedKeys } from '../../src/store/stored-keys.ts'
import { newFolders } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'
import { batchOf } from './batches.mjs'

const FULL = process.env.URLSIEVE_FULL === '1'
const FLIPS = 40
const BATCHES = 6
const BATCH_URLS = 5
const OLDER = 100

const settings: readonly { name: string; options: SieveOptions & { keepKeys?: boolean } }[] = [
  { name: 'fingerprint', options: {} },
  { name: 'blocked', options: { filter: 'blocked', expectedUrls: 2000, falsePositiveRate: 1e-9 } },
  { name: 'multilayer', options: { filter: 'multilayer', expectedUrls: 2000, falsePositiveRate: 1e-6 } },
  { name: 'fingerprint with keys', options: { keepKeys: true } },
]

const newFolder = newFolders()

/** A store with OLDER batches in its snapshot and BATCHES in its log. */
async function made(options: SieveOptions): Promise<string> {
  const folder = newFolder()
  const sieve = await Sieve.open(folder, { ...options, profile: 'raw', key: new Uint8Array(16).fill(5) })
  for (let batch = 0; batch < OLDER; batch++) sieve.addMany(batchOf(batch, BATCH_URLS))
  await sieve.save()
  for (let batch = OLDER; batch < OLDER + BATCHES; batch++) sieve.addMany(batchOf(batch, BATCH_URLS))
  await sieve.close()
  return folder
}

const fileOf = (folder: string, pattern: RegExp) => readdirSync(folder).find((name) => pattern.test(name))!
const allUrls = Array.from({ length: OLDER + BATCHES }, (_, batch) => batchOf(batch, BATCH_URLS)).flat()
const unknown = Array.from({ length: 300 }, (_, i) => `https://new${i}.example/a${i}/b${i}`)

/** It holds the first `batches` batches and nothing else. */
function expectExactly(sieve: Sieve, batches: number, told: string): void {
  expect(sieve.hasMany(allUrls.slice(0, batches * BATCH_URLS)).indexOf(0), told).toBe(-1)
  expect(sieve.hasMany(allUrls.slice(batches * BATCH_URLS)).indexOf(1), told).toBe(-1)
  expect(sieve.hasMany(unknown).indexOf(1), told).toBe(-1)
  expect(sieve.stats().urls, told).toBe(batches * BATCH_URLS)
}

describe.each(settings)('$name', ({ options }) => {
  it('opens with the log cut at every byte of its last records, and holds the whole ones', async () => {
    const folder = await made(options)
    const log = join(folder, fileOf(folder, /^log-/))
    const ends: number[] = []
    let at = 0
    readLog(log, ({ payload }) => {
      at += 28 + payload.length + 4
      ends.push(at)
    })
    expect(ends).toHaveLength(BATCHES)
    expect(at).toBe(readFileSync(log).length)
    const copy = newFolder()
    const copied = () => cpSync(folder, copy, { recursive: true })
    copied()
    for (let cut = at; cut >= ends.at(FULL ? -3 : -2)!; cut--) {
      truncateSync(join(copy, fileOf(copy, /^log-/)), cut)
      const whole = ends.filter((end) => end <= cut).length
      const readOnly = cut % 5 !== 0
      const sieve = await Sieve.open(copy, { readOnly })
      expectExactly(sieve, OLDER + whole, `cut at ${cut}`)
      if (readOnly) continue
      // A writer goes on from there.
      sieve.addMany(['https://after.example/the/cut'])
      await sieve.close()
      const again = await Sieve.open(copy, { readOnly: true })
      expect(again.has('https://after.example/the/cut')).toBe(true)
      expect(again.stats().urls).toBe((OLDER + whole) * BATCH_URLS + 1)
      copied()
    }
  })

  it('names every flipped byte, or gives the same verdicts', { timeout: 1_800_000 }, async () => {
    const folder = await made(options)
    const copy = newFolder()
    const random = randomFrom(3)
    let named = 0
    for (const name of readdirSync(folder)) {
      const bytes = readFileSync(join(folder, name))
      // Every byte of what comes first and last: headers, counts and checksums. The rest at random, or all.
      const edge = name.startsWith('snapshot') ? 60 : 40
      const places = new Set<number>()
      for (let i = 0; i < Math.min(edge, bytes.length); i++) places.add(i).add(bytes.length - 1 - i)
      const more = FULL ? bytes.length : Math.min(FLIPS, bytes.length)
      for (let i = 0; i < more; i++) places.add(FULL ? i : Math.floor(random() * bytes.length))
      cpSync(folder, copy, { recursive: true })
      const path = join(copy, name)
      for (const place of places) {
        const flipped = Buffer.from(bytes)
        flipped[place]! ^= 1 + Math.floor(random() * 255)
        writeFileSync(path, flipped)
        const told = `${name}, byte ${place}`
        try {
          const sieve = await Sieve.open(copy, { readOnly: true })
          expectExactly(sieve, OLDER + BATCHES, told)
          if (options.keepKeys) {
            expect([...storedKeys(copy)].map(String), told).toEqual(allUrls)
          }
          // Only these can be opened: gzip's own header has bytes that mean nothing, and readers take no lock.
          // One slot of counts stands in for the other.
          expect(name, told).toMatch(/^(keys-|lock|counts)/)
        } catch (error) {
          if (!(error instanceof SieveError)) throw error
          expect(['corrupt', 'version'], `${told}: ${error.message}`).toContain(error.code)
          expect(error.message, told).toContain(path)
          expect(error.message, told).toMatch(/at byte \d+|format version|it begins with|is damaged/)
          named++
        }
      }
      writeFileSync(path, bytes)
    }
    expect(named).toBeGreaterThan(2 * FLIPS)
  })

  it('names a snapshot that was cut, and a log that is missing', async () => {
    const folder = await made(options)
    const copy = newFolder()
    const name = fileOf(folder, /^snapshot-/)
    const size = readFileSync(join(folder, name)).length
    for (const cut of [0, 5, 15, 16, 100, size >> 1, size - 60, size - 1]) {
      cpSync(folder, copy, { recursive: true })
      truncateSync(join(copy, name), cut)
      await expect(Sieve.open(copy, { readOnly: true }), `cut at ${cut}`).rejects.toMatchObject({
        code: 'corrupt',
        message: expect.stringContaining(name),
      })
    }
  })

  it('drops a last record that the power cut off: blocks that were never written are zero', async () => {
    const folder = await made(options)
    const name = fileOf(folder, /^log-/)
    const bytes = readFileSync(join(folder, name))
    const copy = newFolder()
    // A file that was made longer, but not written.
    cpSync(folder, copy, { recursive: true })
    writeFileSync(join(copy, name), Buffer.concat([bytes, Buffer.alloc(5000)]))
    expectExactly(await Sieve.open(copy, { readOnly: true }), OLDER + BATCHES, 'zeros behind it')
    // A long record whose last blocks were not written.
    const sieve = await Sieve.open(folder)
    sieve.addMany(batchOf(OLDER + BATCHES, 400))
    await sieve.close()
    const long = readFileSync(join(folder, name))
    cpSync(folder, copy, { recursive: true })
    const block = Math.floor((long.length - 1) / 512) * 512
    writeFileSync(join(copy, name), Buffer.from(long).fill(0, block))
    const isTelling = long.length - block >= 16
    if (isTelling)
      expectExactly(await Sieve.open(copy, { readOnly: true }), OLDER + BATCHES, 'zeros at its end')
    else await expect(Sieve.open(copy, { readOnly: true })).rejects.toMatchObject({ code: 'corrupt' })
  })
})
