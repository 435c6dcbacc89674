// Damage on the disk: LevelDB would leave it out or believe it; here it is found and named. At some places;
// URLSIEVE_FULL=1: at more.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ExactSieve, verifyExact } from '../../src/exact/index.ts'
import { maskedCrc } from '../../src/exact/leveldb/crc32c.ts'
import { copyFolder } from '../store/copy.ts'
import { newPaths } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'

/** Places where the log is cut, and where a bit of it is flipped. */
const CUTS = process.env.URLSIEVE_FULL === '1' ? 60 : 20
const folder = newPaths()
const urls = Array.from({ length: 3000 }, (_, i) => `https://${i % 7}.example/some/path/${i}`)

// A folder as a crash leaves it: the last 30 batches of URLs in a log, none in a filter.
async function crashed(): Promise<string> {
  const path = folder()
  const sieve = await ExactSieve.open(path)
  for (let i = 0; i < urls.length; i += 100) await sieve.addMany(urls.slice(i, i + 100))
  const copy = folder()
  copyFolder(path, copy)
  rmSync(join(copy, 'lock'))
  await sieve.close()
  return copy
}

function fileOf(path: string, ending: string): string {
  const name = readdirSync(join(path, 'keys')).find((name) => name.endsWith(ending))
  return join(path, 'keys', name!)
}

// Where the last record of a log begins: 32 KiB blocks, 7 bytes of header with the length at 4.
function lastRecord(bytes: Buffer): number {
  let last = 0
  for (let at = 0; at < bytes.length; ) {
    const left = 32_768 - (at % 32_768)
    if (left >= 7) last = at
    at += left < 7 ? left : 7 + bytes.readUInt16LE(at + 4)
  }
  return last
}

describe('a log', () => {
  it('cut anywhere opens, with whole batches only', async () => {
    const made = await crashed()
    const { length } = readFileSync(fileOf(made, '.log'))
    const last = Array.from({ length: CUTS }, (_, i) => length - 1 - Math.floor((i * 97 * 60) / CUTS))
    for (const size of [...last, 0, 1, 6, 7, 8]) {
      const path = folder()
      cpSync(made, path, { recursive: true })
      truncateSync(fileOf(path, '.log'), size)
      if (size < 300) {
        // not even its profile was written
        await (await ExactSieve.open(path)).close()
        continue
      }
      const sieve = await ExactSieve.open(path)
      const has = await sieve.hasMany(urls)
      const kept = has.indexOf(0) < 0 ? urls.length : has.indexOf(0)
      expect(kept % 100).toBe(0)
      expect(has.subarray(kept).includes(1)).toBe(false)
      await sieve.close()
    }
  })

  it('with a flipped bit is refused by name and place; repair keeps the rest', async () => {
    const made = await crashed()
    const whole = readFileSync(fileOf(made, '.log'))
    const next = randomFrom(11)
    for (let i = 0; i < CUTS; i++) {
      const path = folder()
      cpSync(made, path, { recursive: true })
      const log = fileOf(path, '.log')
      const bytes = Buffer.from(whole)
      // Every second time in the length of the last record: it may then look like one cut short.
      const at = i % 2 === 0 ? Math.floor(next() * bytes.length) : lastRecord(bytes) + 4 + ((i % 4) >> 1)
      bytes[at]! ^= 1 << Math.floor(next() * 8)
      writeFileSync(log, bytes)
      const { damages } = await verifyExact(path)
      expect(damages).toEqual([
        expect.stringMatching(/\.log is damaged at byte \d+: .*; see `urlsieve verify`$/),
      ])
      await expect(ExactSieve.open(path)).rejects.toMatchObject({ code: 'corrupt', message: damages[0] })
      const sieve = await ExactSieve.open(path, { repair: true })
      const verdicts = await sieve.addMany(urls)
      expect(verdicts.length).toBe(urls.length)
      expect((await sieve.addMany(urls)).includes(1)).toBe(false)
      await sieve.close()
    }
  })
})

// What LevelDB asserts: it would end the process.
describe('a log with right checksums', () => {
  /** The first record of a file of LevelDB, changed and sealed again. */
  function forge(path: string, change: (payload: Buffer) => void): void {
    const bytes = readFileSync(path)
    const end = 7 + bytes.readUInt16LE(4)
    change(bytes.subarray(7, end))
    bytes.writeUInt32LE(maskedCrc(bytes, 6, end), 0)
    writeFileSync(path, bytes)
  }

  it.each([
    ['past the largest sequence number', 2n ** 56n, /a sequence number of \d+/],
    ['behind the batch that follows', 2n ** 40n, /a batch with sequence number \d+ behind \d+/],
  ])('%s is refused before LevelDB opens it', async (_, sequence, words) => {
    const path = await crashed()
    forge(fileOf(path, '.log'), (batch) => batch.writeBigUInt64LE(sequence))
    await expect(ExactSieve.open(path)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(words),
    })
  })

  it('and of its manifest too', async () => {
    const path = await crashed()
    await (await ExactSieve.open(path)).close()
    const keys = join(path, 'keys')
    const manifest = join(keys, readdirSync(keys).find((name) => name.startsWith('MANIFEST-'))!)
    const edit = (...parts: number[]) => {
      const record = Buffer.from([0, 0, 0, 0, parts.length, 0, 1, ...parts])
      record.writeUInt32LE(maskedCrc(record, 6, record.length))
      return record
    }
    const key = (letter: number) => [9, letter, 1, 1, 0, 0, 0, 0, 0, 0]
    const table = (number: number, from: number, to: number) => [7, 2, number, 1, ...key(from), ...key(to)]
    const honest = readFileSync(manifest)
    for (const [forged, words] of [
      [edit(4, 255, 255, 255, 255, 255, 255, 255, 127), /a sequence number of/],
      [edit(5, 1, 2, 97, 98), /a key of 2 bytes/],
      [edit(...table(77, 97, 99), ...table(78, 98, 100)), /table 78 of level 2 overlaps another/],
      [edit(...table(77, 99, 97)), /table 77 of level 2 overlaps/],
    ] as const) {
      writeFileSync(manifest, Buffer.concat([honest, forged]))
      expect((await verifyExact(path)).damages).toContainEqual(expect.stringMatching(words))
      await expect(ExactSieve.open(path)).rejects.toMatchObject({ code: 'corrupt' })
    }
  })
})

describe('a table', () => {
  it('with any flipped bit is refused', async () => {
    const path = await crashed()
    await (await ExactSieve.open(path)).close() // the log becomes a table
    const file = fileOf(path, '.ldb')
    const whole = readFileSync(file)
    expect((await verifyExact(path)).damages).toEqual([])
    const next = randomFrom(12)
    for (let i = 0; i < 300; i++) {
      const bytes = Buffer.from(whole)
      bytes[Math.floor(next() * bytes.length)]! ^= 1 << Math.floor(next() * 8)
      writeFileSync(file, bytes)
      expect((await verifyExact(path)).damages[0]).toMatch(/\.ldb is damaged at byte \d+/)
    }
    await expect(ExactSieve.open(path)).rejects.toMatchObject({ name: 'SieveError', code: 'corrupt' })
    writeFileSync(file, whole.subarray(0, -1))
    expect((await verifyExact(path)).damages.length).toBe(1)
    writeFileSync(file, whole)
    expect(await verifyExact(path)).toMatchObject({ damages: [] })
    expect((await verifyExact(path)).bytes).toBeGreaterThan(whole.length)
  })

  it('that was being written when the process was killed is none of it', async () => {
    const path = await crashed()
    await (await ExactSieve.open(path)).close()
    const file = fileOf(path, '.ldb')
    const unfinished = join(dirname(file), '009999.ldb')
    writeFileSync(unfinished, readFileSync(file).subarray(0, -100))
    expect((await verifyExact(path)).damages).toEqual([])
    const sieve = await ExactSieve.open(path, { verify: true })
    expect((await sieve.addMany(urls)).includes(1)).toBe(false)
    await sieve.close()
    expect(existsSync(unfinished)).toBe(false)
  })

  it('that is gone is said', async () => {
    const path = await crashed()
    await (await ExactSieve.open(path)).close()
    rmSync(fileOf(path, '.ldb'))
    await expect(ExactSieve.open(path)).rejects.toMatchObject({ name: 'SieveError', code: 'corrupt' })
  })
})

it('a folder that lost what it says of itself is not taken for a new one', async () => {
  const path = folder()
  const sieve = await ExactSieve.open(path, { profile: 'raw' })
  await sieve.addMany(urls)
  await sieve.close()
  const { ClassicLevel } = await import('classic-level')
  const level = new ClassicLevel<Buffer, Buffer>(join(path, 'keys'), { keyEncoding: 'buffer' })
  await level.del(Buffer.of(0))
  await level.close()
  await expect(ExactSieve.open(path)).rejects.toMatchObject({ code: 'corrupt' })
  const repaired = await ExactSieve.open(path, { repair: true, profile: 'raw' })
  expect((await repaired.addMany(urls)).includes(1)).toBe(false)
  await repaired.close()
})
