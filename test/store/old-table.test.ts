// Files of format versions 1 and 2 have whole hashes in the table of `fingerprint`: their hashes are read into today's, and
// what cannot be is refused.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Sieve } from '../../src/sieve.ts'
import { STATE } from '../../src/state.ts'
import { putTogether, takeApart } from '../hostile/forge.mjs'
import { newFolders } from '../support/folders.ts'

const folder = newFolders()()
const key = new Uint8Array(16).fill(9)
const URLS = 60_000
const SLOTS = 32_768
const BITS = 4
const urls = Array.from({ length: URLS }, (_, i) => `https://example.com/${i}`)

/** Segments of whole hashes, each for four of sixteen directory entries. */
function oldSegments(hashes: readonly bigint[]) {
  return [0, 4, 8, 12].map((from) => {
    const mine = hashes.filter((hash) => Number(hash >> 60n) >= from && Number(hash >> 60n) < from + 4)
    const payload = Buffer.alloc(64 + 8 * SLOTS)
    for (const [i, word] of [mine.length, from, from + 4].entries()) payload.writeUInt32LE(word, 4 * i)
    for (const hash of mine) {
      let slot = Number(hash % BigInt(SLOTS)) & ~7
      while (payload.readBigUInt64LE(64 + 8 * slot) !== 0n) slot = (slot + 1) % SLOTS
      payload.writeBigUInt64LE(hash, 64 + 8 * slot)
    }
    return { tag: 'PIEC', shard: 0, array: BITS, offset: BigInt(from), size: BigInt(payload.length), payload }
  })
}

async function oldFile(change: (segments: ReturnType<typeof oldSegments>) => void = () => {}) {
  const sieve = await Sieve.create({ key, profile: 'raw' })
  sieve.addMany(urls)
  const path = join(folder, 'old.sieve')
  await sieve.save(path)
  const { header, end } = takeApart(readFileSync(path))
  const hashes = sieve[STATE].shards.all.flatMap(({ filter }) =>
    [...filter.hashes!()].flatMap((some) => [...some]),
  )
  expect(new Set(hashes).size).toBe(URLS)
  const chunks = oldSegments(hashes)
  change(chunks)
  const endText = JSON.stringify({ ...end, chunks: chunks.length })
  writeFileSync(path, putTogether({ version: 1, headerText: JSON.stringify(header), chunks, endText }))
  return path
}

it('has all its URLs, goes on, and is saved as a table of today', async () => {
  const sieve = await Sieve.load(await oldFile())
  expect(sieve.stats().urls).toBe(URLS)
  expect(sieve.hasMany(urls).indexOf(0)).toBe(-1)
  expect(sieve.addMany(urls.map((url) => `${url}/new`)).indexOf(0)).toBe(-1)
  const path = join(folder, 'new.sieve')
  await sieve.save(path)
  expect(readFileSync(path).readUInt32LE(8)).toBe(3)
  const again = await Sieve.load(path)
  expect(again.hasMany(urls).indexOf(0)).toBe(-1)
  expect(again.stats().urls).toBe(2 * URLS)
})

it.each([
  ['a wrong count', ([one]) => one!.payload.writeUInt32LE(7, 0)],
  ['a hash of another segment', ([one, two]) => two!.payload.copy(one!.payload, 64, 64)],
  ['a missing segment', (segments) => segments.splice(1, 1)],
  ['a segment twice', (segments) => segments.splice(1, 0, segments[0]!)],
  [
    'a hash twice',
    ([one]) => {
      const { payload } = one!
      const used = [...Array(SLOTS).keys()].filter((slot) => payload.readBigUInt64LE(64 + 8 * slot) !== 0n)
      payload.copy(payload, 64 + 8 * used[1]!, 64 + 8 * used[0]!, 72 + 8 * used[0]!)
    },
  ],
] as [string, (segments: ReturnType<typeof oldSegments>) => void][])('%s is damage', async (_, change) => {
  const path = await oldFile(change)
  await expect(Sieve.load(path)).rejects.toMatchObject({ name: 'SieveError', code: 'corrupt' })
})
