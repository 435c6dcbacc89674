// How the table of `fingerprint` grows: few bytes per hash at every size, every hash where a search finds it, also where the
// hashes are unevenly spread, and walks over the segments that see each hash once while others are added.
import { expect, it } from 'vitest'
import { fingerprint } from '../../src/filters/fingerprint.ts'
import { compileKernel, Kernel } from '../../src/kernel.ts'
import { expectIs } from '../support/expect-is.ts'
import { randomFrom } from '../support/random.mjs'

const BATCH = 2048
const WHOLE = { from: 0, to: 2 ** 32 }

async function newTable(seed: number) {
  const kernel = Kernel.create(await compileKernel())
  const filter = fingerprint.create(kernel)
  const random = randomFrom(seed)
  // The hashes added and not taken out are [first, end) of these.
  let hashes = new BigUint64Array(2 ** 20)
  let [first, end] = [0, 0]
  const put = (some: BigUint64Array) => {
    kernel.refresh()
    kernel.hashes.set(some)
  }
  return {
    filter,
    get added() {
      return hashes.subarray(first, end)
    },
    /** The oldest of the hashes added, which no longer count as such. */
    takeOldest(count: number) {
      first += count
      return hashes.subarray(first - count, first)
    },
    /** Adds so many new hashes, of the part of the range that `topOf` gives. */
    add(count: number, topOf: (random: number) => number = (x) => x) {
      for (let done = 0; done < count; done += BATCH) {
        const n = Math.min(BATCH, count - done)
        if (end + n > hashes.length) {
          const wider = new BigUint64Array(2 * hashes.length)
          wider.set(hashes)
          hashes = wider
        }
        const halves = new Uint32Array(hashes.buffer, 8 * end, 2 * n)
        for (let i = 0; i < 2 * n; i += 2) {
          const high = Math.floor(topOf(random()) * 2 ** 32)
          const low = Math.floor(random() * 2 ** 32)
          halves[i] = high === 0 && low === 0 ? 1 : low
          halves[i + 1] = high
        }
        put(hashes.subarray(end, end + n))
        expectIs(filter.add(0, n), n)
        end += n
      }
    },
    /** How many of the hashes are not there. */
    missing(hashes: BigUint64Array) {
      let missing = 0
      for (let at = 0; at < hashes.length; at += BATCH) {
        const some = hashes.subarray(at, at + BATCH)
        put(some)
        filter.has(0, some.length)
        for (const verdict of kernel.verdicts.subarray(0, some.length)) missing += verdict
      }
      return missing
    },
    /** Deletes hashes; how many were there. */
    delete(hashes: BigUint64Array) {
      let there = 0
      for (let at = 0; at < hashes.length; at += BATCH) {
        const some = hashes.subarray(at, at + BATCH)
        put(some)
        filter.delete!(some.length)
        for (const verdict of kernel.verdicts.subarray(0, some.length)) there += 1 - verdict
      }
      return there
    },
    /** Segments that do not pass the check of what comes from a file. */
    unsound() {
      const { call } = kernel
      const bits = call.fingerprintDirectoryBits()
      return [...filter.pieces()].filter(
        ({ array, bytes }) => array % 32 === bits && !call.fingerprintIsSound(bytes.byteOffset, bits),
      ).length
    },
  }
}

it('takes at most 12 bytes per hash from 1e5 on, 10 on average', async () => {
  const table = await newTable(1)
  const sizes: number[] = []
  for (let size = 1e5; size < 1.5e6; size *= 1.02) {
    table.add(Math.round(size) - table.added.length)
    sizes.push(table.filter.measure().sizeBytes / table.added.length)
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(12)
  expect(sizes.reduce((sum, bytes) => sum + bytes) / sizes.length).toBeLessThanOrEqual(10.5)
  // Once the segments are many.
  const late = sizes.slice(-40)
  expect(late.reduce((sum, bytes) => sum + bytes) / late.length).toBeLessThanOrEqual(10)
  expect(table.missing(table.added)).toBe(0)
  expect(table.unsound()).toBe(0)
})

it.each([
  ['close together', (x: number) => 0.3 + x / 1000],
  ['mostly close together', (x: number) => (x < 0.9 ? x / 50 : x)],
  ['denser towards one end', (x: number) => x ** 4],
])('loses none of hashes that are %s, and none of the rest when some are deleted', async (_, topOf) => {
  const table = await newTable(2)
  for (let round = 0; round < 4; round++) {
    table.add(100_000, topOf)
    expect(table.unsound()).toBe(0)
    const gone = table.takeOldest(30_000)
    expect(table.delete(gone)).toBe(gone.length)
    expect(table.missing(gone)).toBe(gone.length)
    table.add(50_000)
  }
  expect(table.missing(table.added)).toBe(0)
  expect(table.unsound()).toBe(0)
  expect(table.filter.measure().fill).toBeLessThan(1)
})

it('a walk over the segments gives each hash once, whatever is added meanwhile', async () => {
  const table = await newTable(3)
  table.add(700_000)
  const before = table.added.slice()
  const kernel = Kernel.create(await compileKernel())
  const copy = fingerprint.revive(kernel, fingerprint.plan({}), WHOLE)
  for (const { array, offset, bytes } of table.filter.pieces()) {
    const saved = bytes.slice()
    const room = copy.place(array, offset, saved.length)
    room.set(saved)
    copy.placed!(array, offset, room)
    table.add(20_000)
  }
  copy.restored([])
  expect(table.added.length).toBeGreaterThan(2 * before.length)
  expect(table.missing(table.added)).toBe(0)
  let missing = 0
  for (let at = 0; at < before.length; at += BATCH) {
    const some = before.slice(at, at + BATCH)
    kernel.refresh()
    kernel.hashes.set(some)
    copy.has(0, some.length)
    for (const verdict of kernel.verdicts.subarray(0, some.length)) missing += verdict
  }
  expect(missing).toBe(0)
})

it('goes on sharing segments when the walk is over, also when it was left early', async () => {
  const table = await newTable(5)
  table.add(700_000)
  for (const _ of table.filter.pieces()) break
  const sizes: number[] = []
  while (table.added.length < 1.4e6) {
    table.add(20_000)
    sizes.push(table.filter.measure().sizeBytes / table.added.length)
  }
  expect(sizes.reduce((sum, bytes) => sum + bytes) / sizes.length).toBeLessThanOrEqual(10)
})

it.each([1, 2, 5, 17])(
  'a hash that comes again after %i others is new once, in every layout and however full',
  async (distance) => {
    const kernel = Kernel.create(await compileKernel())
    const filter = fingerprint.create(kernel)
    const random = randomFrom(distance)
    let wrong = 0
    for (let done = 0; done < 1.2e6; done += BATCH) {
      kernel.refresh()
      const halves = new Uint32Array(kernel.hashes.buffer, kernel.hashes.byteOffset, 2 * BATCH)
      for (let i = 0; i < BATCH; i++) {
        const repeats = i % (2 * distance) >= distance
        halves[2 * i] = repeats ? halves[2 * (i - distance)]! : Math.floor(random() * 2 ** 32)
        halves[2 * i + 1] = repeats ? halves[2 * (i - distance) + 1]! : Math.floor(random() * 2 ** 32)
      }
      expectIs(filter.add(0, BATCH), BATCH)
      kernel.refresh()
      for (let i = 0; i < BATCH; i++)
        wrong += Number(kernel.verdicts[i] !== Number(i % (2 * distance) < distance))
    }
    expect(wrong).toBe(0)
  },
)
