// Filters of runs: they have every hash of their run, spare the reads for others, stay within their memory, and are checked.
import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { DiskSieve } from '../../src/disk/index.ts'
import { readManifest, runName } from '../../src/disk/manifest.ts'
import { PendingTable } from '../../src/disk/pending-table.ts'
import { Run } from '../../src/disk/run.ts'
import { FilterPages, filterBlocks, RunFilter } from '../../src/disk/run-filter.ts'
import { RunFilters } from '../../src/disk/run-filters.ts'
import { filterAt } from '../../src/disk/run-header.ts'
import { RunSet } from '../../src/disk/run-set.ts'
import { repairDisk, verifyDisk } from '../../src/disk/verify.ts'
import { compileKernel, Kernel } from '../../src/kernel.ts'
import { newFolders } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'

const newFolder = newFolders()
const MIB = 1024 ** 2
const url = (i: number) => `https://example.com/${i}`
const urls = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => url(from + i))
const all = (n: number, verdict: number) => new Uint8Array(n).fill(verdict)

function randomWords(count: number, seed: number): Uint32Array {
  const random = randomFrom(seed)
  return Uint32Array.from({ length: 2 * count }, () => Math.floor(random() * 2 ** 32))
}

describe('the filter of a run', () => {
  it.for([1, 63, 64, 65, 5000, 300_000])('of %d hashes has them all, and few others', (count) => {
    const filter = RunFilter.create(filterBlocks(count), new FilterPages(MIB))!
    const words = randomWords(count, count)
    filter.add(words)
    expect(filter.mayHaveAll(words)).toBe(true)
    const others = randomWords(100_000, count + 1)
    let wrong = 0
    for (let i = 0; i < others.length; i += 2) wrong += Number(filter.mayHave(others[i]!, others[i + 1]!))
    // 2.5 % of 100,000, and six standard deviations.
    expect(wrong).toBeLessThan(2500 + 6 * Math.sqrt(2500))
    if (count === 300_000) expect(wrong).toBeGreaterThan(1500)
  })

  it('takes pages that were given back, and never more than there are', () => {
    const pages = new FilterPages(3 * 65_536 + 1000)
    expect(pages.available).toBe(3)
    const one = RunFilter.create(1024, pages)!
    const two = RunFilter.create(1025, pages)!
    expect([one.pages, two.pages, pages.available]).toEqual([1, 2, 0])
    two.add(randomWords(10_000, 1))
    two.release()
    const three = RunFilter.create(2048, pages)!
    const others = randomWords(1000, 2)
    for (let i = 0; i < others.length; i += 2) expect(three.mayHave(others[i]!, others[i + 1]!)).toBe(false)
    expect(new FilterPages(-1).available).toBe(0)
  })
})

/** A store of several runs. `more`: memory besides that of buffers. */
async function filled(folder: string, count: number, more: number): Promise<DiskSieve> {
  const sieve = await DiskSieve.open(folder, { maxMemory: 24 * MIB + more, profile: 'raw' })
  for (let at = 0; at < count; at += 20_000) await sieve.addMany(urls(at, at + 20_000))
  return sieve
}

/** Runs that are read per URL, in calls of ten. */
async function readsPer(sieve: DiskSieve, from: number, verdict: number): Promise<number> {
  const before = sieve.stats().answers
  for (let at = from; at < from + 2000; at += 10) {
    expect(await sieve.hasMany(urls(at, at + 10))).toEqual(all(10, verdict))
  }
  const after = sieve.stats().answers
  expect(after.passes).toBe(before.passes)
  return (after.reads - before.reads) / 2000
}

describe('a disk sieve', () => {
  it('reads few runs for URLs that are new, also when it is opened again', async () => {
    const folder = join(newFolder(), 'seen')
    let sieve = await filled(folder, 400_000, 2 * MIB)
    for (let round = 0; round < 3; round++) {
      expect(sieve.stats().store.runs).toBeGreaterThan(2)
      expect(await readsPer(sieve, 1_000_000, 0)).toBeLessThan(0.2)
      expect(await readsPer(sieve, 0, 1)).toBeLessThan(1.3)
      await sieve.close()
      sieve = await DiskSieve.open(folder, { maxMemory: 26 * MIB, readOnly: round === 0 })
    }
    await sieve.close()
    expect((await verifyDisk(folder)).flatMap(({ damage }) => damage)).toEqual([])
  })

  it('has filters for as many runs as its memory allows, and right verdicts without', async () => {
    const folder = join(newFolder(), 'seen')
    // Memory for 8 pages, filters of 524,288 hashes; of the million there are few in the table.
    const sieve = await filled(folder, 1_000_000, MIB)
    const { store } = sieve.stats()
    expect(store.runs).toBeGreaterThan(1)
    const reads = await readsPer(sieve, 2_000_000, 0)
    expect(reads).toBeGreaterThan(0.5)
    expect(reads).toBeLessThan(store.runs)
    await readsPer(sieve, 0, 1)
    await sieve.close()
  })

  it('a damaged filter loses no URL: the run is read instead, verify names it, repair leaves it out', async () => {
    const folder = join(newFolder(), 'seen')
    await (await filled(folder, 120_000, 2 * MIB)).close()
    const file = runName(readManifest(folder).runs[0]!)
    const path = join(folder, file)
    const run = Run.open(path)
    const { header } = run
    run.close()
    const bytes = readFileSync(path)
    const at = filterAt(header)
    expect(bytes.length).toBe(at + 64 * header.filterBlocks)
    const damageOf = async () => (await verifyDisk(folder)).find((one) => one.file === file)
    const holdsAll = async () => {
      const sieve = await DiskSieve.open(folder, { maxMemory: 26 * MIB })
      expect(await readsPer(sieve, 0, 1)).toBeGreaterThan(0.5)
      expect(sieve.stats().urls).toBe(120_000)
      await sieve.close()
    }
    bytes[at + 100]! ^= 4
    writeFileSync(path, bytes)
    await holdsAll()
    expect(await damageOf()).toMatchObject({
      urls: header.hashes,
      damage: [expect.stringContaining('its filter does not match its checksum')],
    })
    // An empty one with the right checksums.
    bytes.fill(0, at)
    bytes.writeUInt32LE(crc32(bytes.subarray(at)), 56)
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 60)), 60)
    writeFileSync(path, bytes)
    expect((await damageOf())!.damage.join()).toContain('its filter lacks a hash of the run')
    await repairDisk(folder)
    expect((await verifyDisk(folder)).flatMap(({ damage }) => damage)).toEqual([])
    await holdsAll()
  })

  it('a header with a forged number of blocks is refused', async () => {
    const folder = join(newFolder(), 'seen')
    await (await filled(folder, 120_000, 2 * MIB)).close()
    const path = join(folder, runName(readManifest(folder).runs[0]!))
    const bytes = readFileSync(path)
    for (const blocks of [0, 1, 100_000, 2 ** 32 - 1]) {
      const forged = Buffer.from(bytes)
      forged.writeUInt32LE(blocks, 52)
      forged.writeUInt32LE(crc32(forged.subarray(0, 60)), 60)
      writeFileSync(path, forged)
      const open = DiskSieve.open(folder, { maxMemory: 26 * MIB })
      await expect(open, `${blocks} blocks`).rejects.toMatchObject({ code: 'corrupt' })
    }
  })
})

describe('a set of runs', () => {
  const PAGE_BYTES = 65_536
  const PAGE_HASHES = 65_536

  /** A set with memory for so many pages. The files with the numbers in `full` are on a full disk. */
  async function newSet(pages: number, full: readonly number[] = []) {
    const folder = newFolder()
    const kernel = Kernel.create(await compileKernel())
    const table = new PendingTable(kernel, 300_000)
    const filters = new RunFilters(pages * PAGE_BYTES)
    let files = 0
    const errorOf = (error: unknown) => error as Error
    const create = () => {
      const path = join(folder, `${files}`)
      const fd = full.includes(files++) ? openSync('/dev/full', 'r+') : openSync(path, 'w+')
      return { fd, path, errorOf }
    }
    const set = new RunSet(kernel, { create }, 7n, [], filters)
    const write = async (count: number, seed: number) => {
      const random = randomFrom(seed)
      for (let at = 0; at < count; at += kernel.batchLines) {
        const n = Math.min(kernel.batchLines, count - at)
        const words = new Uint32Array(kernel.hashes.buffer, kernel.hashes.byteOffset, 2 * n)
        for (let i = 0; i < words.length; i++) words[i] = Math.floor(random() * 2 ** 32)
        if (at === 0) kernel.hashes[0] = 0n
        table.add(n)
      }
      try {
        await set.compare()
        const run = await set.write()
        set.runs.push(run!)
      } finally {
        table.clear()
      }
    }
    return { set, write }
  }

  const pagesOf = ({ runs }: RunSet) => runs.map(({ filter }) => filter?.pages ?? 0)

  it('takes the filters of larger runs for a smaller one; hash 0 is in the filter as 1', async () => {
    const { set, write } = await newSet(3)
    await write(PAGE_HASHES + 100, 1)
    await write(100, 2)
    expect(pagesOf(set)).toEqual([2, 1])
    expect(set.runs[0]!.filter!.mayHave(1, 0)).toBe(true)
    await write(200, 3)
    expect(pagesOf(set)).toEqual([0, 1, 1])
    // The larger one does not get them back from smaller ones; none is taken in vain.
    await write(3 * PAGE_HASHES, 4)
    expect(pagesOf(set)).toEqual([0, 1, 1, 0])
    expect(set.runs[3]!.header.filterBlocks).toBe(0)
    set.close()
  })

  it.skipIf(!existsSync('/dev/full'))('gives memory back when a disk refuses', async () => {
    const { set, write } = await newSet(4, [1, 3])
    await write(50_000, 1)
    await expect(write(100_000, 2)).rejects.toThrow('ENOSPC')
    await write(100_000, 3)
    expect(pagesOf(set)).toEqual([1, 2])
    await expect(set.merge(set.runs)).rejects.toThrow('ENOSPC')
    expect(pagesOf(set)).toEqual([1, 2])
    const merged = await set.merge(set.runs)
    expect(merged.filter!.pages).toBe(3)
    expect(pagesOf(set)).toEqual([0, 0])
    merged.close()
    set.close()
  })
})
