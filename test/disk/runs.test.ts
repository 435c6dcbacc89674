// Runs: what is written is read again, block by block and merged; damage of any byte is noticed.
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RunMerge } from '../../src/disk/merged-run.ts'
import { PendingTable } from '../../src/disk/pending-table.ts'
import { BLOCK_HASHES, Run, RunBuffers, type RunFile, RunWriter, SOME_HASHES } from '../../src/disk/run.ts'
import { RunSet } from '../../src/disk/run-set.ts'
import { WaitingHashes } from '../../src/disk/waiting-hashes.ts'
import { compileKernel, Kernel } from '../../src/kernel.ts'
import { newFolders } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'

const newFolder = newFolders()
const kernelOf = async () => Kernel.create(await compileKernel())

function fileAt(path: string): RunFile {
  const errorOf = (error: unknown) => error as Error
  return { fd: openSync(path, 'w+'), path, errorOf }
}

function sorted(values: Iterable<bigint>): bigint[] {
  return [...new Set(values)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

function* randomHashes(count: number, seed: number): Generator<bigint> {
  const random = randomFrom(seed)
  const word = () => BigInt(Math.floor(random() * 2 ** 32))
  for (let i = 0; i < count; i++) yield (word() << 32n) | word() | 1n
}

async function written(buffers: RunBuffers, path: string, hashes: readonly bigint[], set = 7n): Promise<Run> {
  const writer = new RunWriter(buffers, fileAt(path), hashes.length)
  for (let at = 0; at < hashes.length; at += SOME_HASHES) {
    const some = BigUint64Array.from(hashes.slice(at, at + SOME_HASHES))
    new BigUint64Array(buffers.kernel.bytes.buffer, buffers.hashesAt, some.length).set(some)
    await writer.append(some.length)
  }
  return writer.end(set, 0)
}

const scratch = (kernel: Kernel) => ({
  blockAt: kernel.call.runBuffer(4096) >>> 0,
  to: kernel.call.runBuffer(BLOCK_HASHES * 8) >>> 0,
})

function holds(run: Run, kernel: Kernel, hash: bigint, { blockAt, to }: ReturnType<typeof scratch>): boolean {
  const count = run.find(kernel, hash, blockAt, to)
  return new BigUint64Array(kernel.bytes.buffer, to, count).includes(hash)
}

describe('a run', () => {
  const most = 2n ** 64n - 1n
  const cases: Readonly<Record<string, readonly bigint[]>> = {
    one: [1n],
    'the ends': [1n, most],
    neighbours: Array.from({ length: 10_000 }, (_, i) => most - 10_000n + BigInt(i)),
    'neighbours and gaps': sorted([
      ...Array.from({ length: 5000 }, (_, i) => BigInt(i + 1)),
      ...randomHashes(5000, 3),
    ]),
    'evenly spread': sorted(randomHashes(300_000, 1)),
  }
  it.for(Object.entries(cases))('of %s is read as it was written', async ([, hashes]) => {
    const kernel = await kernelOf()
    const buffers = new RunBuffers(kernel)
    const path = join(newFolder(), 'run')
    await written(buffers, path, hashes)
    const run = Run.open(path, 7n)
    expect(run.header.hashes).toBe(hashes.length)
    await run.scan(buffers, 'check')
    const places = scratch(kernel)
    const step = Math.max(1, Math.floor(hashes.length / 500))
    for (let i = 0; i < hashes.length; i += step) {
      const hash = hashes[i]!
      expect(holds(run, kernel, hash, places)).toBe(true)
      if (hashes[i + 1] !== hash + 1n && hash < most) {
        expect(holds(run, kernel, hash + 1n, places)).toBe(false)
      }
    }
    expect(holds(run, kernel, 0n, places)).toBe(false)
    run.close()
  })

  it('takes under 6 bytes per hash at 300,000, and 2 bits over the entropy', async () => {
    const buffers = new RunBuffers(await kernelOf())
    const hashes = cases['evenly spread']!
    const run = await written(buffers, join(newFolder(), 'run'), hashes)
    const bits = (run.bytes * 8) / hashes.length
    const entropy = Math.log2(2 ** 64 / hashes.length) + Math.log2(Math.E)
    expect(bits).toBeLessThan(entropy + 1)
    expect(bits).toBeGreaterThan(entropy)
    run.close()
  })

  it('is refused with any byte changed, cut, or of another store', async () => {
    const kernel = await kernelOf()
    const buffers = new RunBuffers(kernel)
    const path = join(newFolder(), 'run')
    ;(await written(buffers, path, sorted(randomHashes(20_000, 5)))).close()
    const bytes = readFileSync(path)
    const random = randomFrom(11)
    const read = async () => {
      const run = Run.open(path, 7n)
      await run.scan(buffers, 'check').finally(() => run.close())
    }
    const places = [0, 8, 12, 16, 24, 32, 36, 40, 48, 60, bytes.length - 1]
    for (let i = 0; i < 60; i++) places.push(4096 + Math.floor(random() * (bytes.length - 4096)))
    for (const at of places) {
      const damagedBytes = Buffer.from(bytes)
      damagedBytes[at]! ^= 1 << Math.floor(random() * 8)
      writeFileSync(path, damagedBytes)
      await expect(read(), `byte ${at}`).rejects.toMatchObject({ name: 'SieveError' })
    }
    for (const size of [0, 10, 4095, 5000, bytes.length - 8]) {
      writeFileSync(path, bytes.subarray(0, size))
      await expect(read(), `${size} bytes`).rejects.toMatchObject({ name: 'SieveError' })
    }
    writeFileSync(path, bytes)
    expect(() => Run.open(path, 8n)).toThrow('belongs to another store')
    await read()
  })

  it('merged with others has the hashes of all, once', async () => {
    const kernel = await kernelOf()
    const buffers = new RunBuffers(kernel)
    const folder = newFolder()
    const lists = [1, 2, 3, 4, 5].map((seed) => sorted(randomHashes(seed * 7000, seed)))
    lists.push(lists[0]!.slice(100, 200), [9n])
    const runs = []
    for (const [i, list] of lists.entries()) runs.push(await written(buffers, join(folder, `${i}`), list))
    const merged = await new RunMerge(buffers).merge(runs, fileAt(join(folder, 'merged')), 7n, 1)
    const all = sorted(lists.flat())
    expect(merged.header).toMatchObject({ hashes: all.length, level: 1 })
    await merged.scan(buffers, 'check')
    const places = scratch(kernel)
    for (let i = 0; i < all.length; i += 97) expect(holds(merged, kernel, all[i]!, places)).toBe(true)
    for (const run of [...runs, merged]) run.close()
  })
})

describe('the pending table', () => {
  it('agrees with a Set over batches, comparisons and runs', async () => {
    const kernel = await kernelOf()
    const folder = newFolder()
    const table = new PendingTable(kernel, 5000)
    let files = 0
    const runs = new RunSet(kernel, { create: () => fileAt(join(folder, `${files++}`)) })
    const oracle = new Set<bigint>()
    const random = randomFrom(17)
    const pool = [...randomHashes(20_000, 23), 0n]
    for (let batch = 0; batch < 40; batch++) {
      const drawn = Array.from({ length: 1500 }, () => pool[Math.floor(random() * pool.length)]!)
      kernel.hashes.set(drawn)
      table.add(drawn.length)
      const inBatch = new Set<bigint>()
      const first = drawn.map((hash) => Number(!inBatch.has(hash) && inBatch.add(hash) !== undefined))
      expect([...kernel.verdicts.subarray(0, drawn.length)]).toEqual(first)
      await runs.compare()
      const run = await runs.write()
      kernel.hashes.set(drawn)
      expect(table.take(drawn.length)).toBe(true)
      const expected = drawn.map((hash) => Number(!oracle.has(hash) && oracle.add(hash) !== undefined))
      expect([...kernel.verdicts.subarray(0, drawn.length)]).toEqual(expected)
      kernel.hashes[0] = 12345n
      expect(table.take(1)).toBe(false)
      table.clear()
      expect(table.count).toBe(0)
      if (run) runs.runs.push(run)
      for (let some = runs.mergeable; some; some = runs.mergeable) runs.replace(some, await runs.merge(some))
    }
    expect(runs.hashes).toBe(oracle.size)
    expect(runs.runs.length).toBeLessThan(17)
    runs.close()
  })
})

describe('waiting hashes', () => {
  async function set() {
    const kernel = await kernelOf()
    const folder = newFolder()
    let files = 0
    const runs = new RunSet(kernel, { create: () => fileAt(join(folder, `${files++}`)) })
    return { kernel, runs, waiting: new WaitingHashes(kernel, new PendingTable(kernel, 5000).capacity) }
  }

  it('agree with a Set over batches, comparisons and runs', async () => {
    const { kernel, runs, waiting } = await set()
    const oracle = new Set<bigint>()
    const random = randomFrom(19)
    const pool = [...randomHashes(300_000, 29), 0n]
    // Two that take each other's place among the hashes that came last.
    pool.push(pool[0]! ^ (1n << 40n))
    const below = (n: number) => Math.floor(random() * n)
    for (let round = 0; round < 20; round++) {
      const asked: bigint[] = []
      const known = new Set<bigint>()
      let dropped = 0
      for (let batch = 0; batch < 30; batch++) {
        const n = 1 + below(2048)
        const isHot = random() < 0.3
        const drawn = Array.from({ length: n }, (_, i) =>
          isHot ? pool[i % 2 ? 0 : pool.length - 1]! : pool[below(pool.length)]!,
        )
        kernel.hashes.set(drawn)
        const isWhole = random() < 0.5
        waiting.add(n, isWhole)
        for (const [i, hash] of drawn.entries()) {
          const isRepeat = kernel.verdicts[i] === 0
          if (isRepeat && !oracle.has(hash) && !known.has(hash)) expect(hash, 'seen too early').toBe(null)
          known.add(hash)
          if (isWhole || !isRepeat) asked.push(hash)
          else dropped++
        }
      }
      const run = await runs.settle(true)
      const wrong: number[] = []
      for (let at = 0; at < asked.length; ) {
        const n = Math.min(1 + below(2048), asked.length - at)
        expect(waiting.take(n)).toBe(true)
        for (let i = 0; i < n; i++, at++) {
          const isNew = !oracle.has(asked[at]!)
          oracle.add(asked[at]!)
          if (kernel.verdicts[i] !== Number(isNew)) wrong.push(at)
        }
      }
      expect(wrong).toEqual([])
      expect(waiting.take(1)).toBe(false)
      expect(round === 0 || dropped > 0).toBe(true)
      waiting.clear()
      expect(waiting.count).toBe(0)
      if (run) runs.runs.push(run)
      for (let some = runs.mergeable; some; some = runs.mergeable) runs.replace(some, await runs.merge(some))
    }
    expect(runs.hashes).toBe(oracle.size)
    runs.close()
  })

  it('that are not evenly spread, and more than there is memory for, are refused', async () => {
    const { kernel, runs, waiting } = await set()
    const few = Array.from({ length: 2048 }, (_, i) => BigInt(i + 1))
    for (let batch = 11; batch >= 0; batch--) {
      kernel.hashes.set(few.map((hash) => hash + BigInt(batch * 2048)))
      waiting.add(2048, false)
    }
    await expect(runs.settle(true)).rejects.toThrow('not evenly spread')
    const fill = () => {
      for (let batch = 12; ; batch++) {
        kernel.hashes.set(few.map((hash) => hash + BigInt(batch * 2048)))
        waiting.add(2048, false)
      }
    }
    expect(fill).toThrow('no memory left for the hashes of 2048 waiting lines')
    expect(waiting.isFull).toBe(true)
    runs.close()
  })
})
