// The cuckoo filter in the kernel against its oracle, bit for bit: while it fills up, when it is full, and through deletes.
import { describe, expect, it } from 'vitest'
import type { Random } from '../canonical/urls.ts'
import { randomFrom } from '../support/random.mjs'
import { CuckooOracle } from './cuckoo.ts'
import { openInstance } from './instance.ts'

const randomHash = (rng: Random) =>
  (BigInt(Math.floor(rng() * 2 ** 32)) << 32n) | BigInt(Math.floor(rng() * 2 ** 32))

const hashesOf = (seed: number, n: number) => {
  const rng = randomFrom(seed)
  return Array.from({ length: n }, () => randomHash(rng))
}

async function open(buckets: number, bits: number) {
  const kernel = await openInstance()
  const { call } = kernel
  expect(call.cuckooCreate(BigInt(buckets), bits)).toBe(1)
  kernel.refresh()
  const bytes = Math.ceil((buckets * 4 * bits) / 8)
  const at = call.cuckooSlots() >>> 0
  const one = (hash: bigint, ask: () => number | undefined) => {
    kernel.hashes[0] = hash
    return ask() === 0 ? null : kernel.verdicts[0] === 1
  }
  return {
    call,
    memory: () => kernel.bytes.slice(at, at + bytes),
    write: (content: Uint8Array) => kernel.bytes.set(content, at),
    add: (hash: bigint) => one(hash, () => call.cuckooAdd(0, 1)),
    has: (hash: bigint) => !one(hash, () => call.cuckooHas(0, 1) as undefined),
    delete: (hash: bigint) => !one(hash, () => call.cuckooDelete(1) as undefined),
    addMany(hashes: readonly bigint[]) {
      kernel.hashes.set(hashes)
      const done = call.cuckooAdd(0, hashes.length)
      return [...kernel.verdicts.subarray(0, done)]
    },
  }
}

describe.each([
  { buckets: 1, bits: 7, adds: 10 },
  { buckets: 2, bits: 8, adds: 20 },
  { buckets: 3, bits: 13, adds: 30 },
  { buckets: 50, bits: 23, adds: 260 },
  { buckets: 64, bits: 32, adds: 300 },
  { buckets: 101, bits: 40, adds: 500 },
  { buckets: 300, bits: 9, adds: 1500 },
])('$buckets buckets of $bits bits', ({ buckets, bits, adds }) => {
  it('fills up as the oracle does, until it is full and after', async () => {
    const oracle = new CuckooOracle(buckets, bits)
    const filter = await open(buckets, bits)
    let refused = 0
    for (const hash of hashesOf(buckets, adds)) {
      const expected = oracle.add(hash)
      if (filter.add(hash) !== expected) expect.fail(`${hash}: expected ${expected}`)
      if (expected === null) refused++
    }
    expect(refused).toBeGreaterThan(0)
    expect(Buffer.compare(filter.memory(), oracle.memory)).toBe(0)
    expect(filter.call.cuckooCount()).toBe(oracle.count)
    for (const hash of [...hashesOf(buckets, adds), ...hashesOf(buckets + 7, 300)]) {
      if (filter.has(hash) !== oracle.has(hash)) expect.fail(`${hash}: expected ${oracle.has(hash)}`)
    }
    expect(filter.call.cuckooIsSound()).toBe(1)
    expect(filter.call.cuckooCount()).toBe(oracle.count)
  })

  it('adds and deletes in any order are the oracle’s', async () => {
    const rng = randomFrom(buckets + 1)
    const oracle = new CuckooOracle(buckets, bits)
    const filter = await open(buckets, bits)
    const pool = hashesOf(buckets + 2, 4 * buckets)
    for (let step = 0; step < 3000; step++) {
      const hash = pool[Math.floor(rng() * pool.length)]!
      const isAdd = rng() < (step % 1000 < 500 ? 0.7 : 0.3)
      const got = isAdd ? filter.add(hash) : filter.delete(hash)
      expect(got).toBe(isAdd ? oracle.add(hash) : oracle.delete(hash))
    }
    expect(Buffer.compare(filter.memory(), oracle.memory)).toBe(0)
    expect(filter.call.cuckooCount()).toBe(oracle.count)
  })
})

it('a batch is a sequence of single adds, up to the first that finds no room', async () => {
  const oracle = new CuckooOracle(500, 20)
  const filter = await open(500, 20)
  const hashes = hashesOf(5, 2048)
  const expected: number[] = []
  for (const hash of hashes) {
    const verdict = oracle.add(hash)
    if (verdict === null) break
    expected.push(Number(verdict))
  }
  expect(filter.addMany(hashes)).toEqual(expected)
  expect(Buffer.compare(filter.memory(), oracle.memory)).toBe(0)
  expect(oracle.count / 2000).toBeGreaterThan(0.95)
})

it('a fingerprint that is twice in its buckets is found', async () => {
  const filter = await open(10, 8)
  const content = filter.memory()
  expect(filter.call.cuckooIsSound()).toBe(1)
  content[4] = 77
  filter.write(content)
  expect(filter.call.cuckooIsSound()).toBe(1)
  expect(filter.call.cuckooCount()).toBe(1)
  content[6] = 77
  filter.write(content)
  expect(filter.call.cuckooIsSound()).toBe(0)
})
