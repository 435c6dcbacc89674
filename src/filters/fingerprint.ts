// The fingerprint filter, the default: 64-bit keyed hashes in segments that grow one at a time (kernel).

import type { Kernel } from '../kernel.ts'
import { growingSizes } from '../options/filter-options.ts'
import { type Filter, type FilterKind, type Held, noRoom, type Share, WHOLE } from './filter.ts'
import { ARRAYS, fingerprintPieces, MOST_BITS } from './fingerprint-pieces.ts'
import { checkField, checkFollows } from './saved-plan.ts'

/** Measured: bytes of memory for each URL, over the whole range of sizes (docs/filters.md). */
const BYTES_PER_URL = 10
const FIRST_BYTES = 16 * 1024
/** Segments of 128 KiB that are moved to another instance at a time: about five milliseconds. */
const MOVED_SEGMENTS = 64
const BUCKET_BYTES = 64
/** The last bytes of a bucket: which slots have hashes that belong there and, from this bit on, which have others. */
const STATE_BYTES = 4
const GUEST_BITS = 10
/** Buckets whose hashes are copied at a time: a divisor of how many any segment has. */
const COPIED_BUCKETS = 256

/** The table grows by segments of 128 KiB, which begin about half full; several may be due in one batch. */
const SEGMENTS_BYTES = 8 * 128 * 1024
const MOST_BYTES_PER_URL = 24
/**
 * A table that has filled one instance moves half of it to another and keeps the memory for what comes: at most half as
 * much again as its hashes take.
 */
const DIVIDED_BYTES = 800 * 1024 ** 2
const DIVIDED_FACTOR = 1.5

const heldBytes = ({ sizeBytes }: Held) =>
  sizeBytes < DIVIDED_BYTES ? sizeBytes : DIVIDED_FACTOR * sizeBytes

/** Rate at `urls` stored: 1 − (1 − 2^−b)^n, which is n / 2^b until the table holds a good share of all. */
export function fingerprintRate({ urls, bits = 64 }: { urls: number; bits?: number }): number {
  return -Math.expm1(urls * Math.log1p(-(2 ** -bits)))
}

/**
 * Errs towards "seen" only when two keys share all 64 bits of a secret hash: 0.03 pages lost in a whole crawl of
 * a billion URLs; a delete deletes both of them. Needs no capacity; expectedUrls only tells how much memory to plan for.
 */
export const fingerprint = {
  name: 'fingerprint',
  does: '64-bit keyed hashes in a table that grows; practically exact',
  source: 'Mercator 1999',
  errs: 'towards "seen" with n / 2^64; towards "new" only after deletes, as rarely',
  exactness: 'practically exact',
  options: growingSizes,
  can: { delete: true, grow: true, under: false },
  takes: 'hashes',
  directoryBytes: (array) => 4 * 2 ** Math.min(array % ARRAYS, MOST_BITS),
  growth: {
    heldBytes,
    growthBytes(_plan, held, urls) {
      const sizeBytes = held.sizeBytes + urls * MOST_BYTES_PER_URL + SEGMENTS_BYTES
      return heldBytes({ sizeBytes }) - heldBytes(held)
    },
  },

  plan(request) {
    const urls = request.expectedUrls ?? null
    const expectedRate = urls === null ? null : fingerprintRate({ urls })
    return {
      filter: 'fingerprint',
      expectedUrls: urls,
      promisedRate: request.falsePositiveRate ?? expectedRate,
      expectedRate,
      sizeBytes: urls === null ? FIRST_BYTES : Math.max(FIRST_BYTES, urls * BYTES_PER_URL),
      bits: null,
      hashes: 1,
      bitsPerUrl: urls === null ? null : BYTES_PER_URL * 8,
    }
  },

  create(kernel) {
    if (!kernel.call.fingerprintCreate()) throw noRoom('fingerprint', FIRST_BYTES)
    return inKernel(kernel)
  },

  revive: (kernel, _plan, share) => inKernel(kernel, share),

  arrayBytes(plan) {
    checkField('plan.bits', plan.bits, plan.bits === null, 'null')
    checkFollows('plan.hashes', plan.hashes, 1)
    return 0
  },
} as const satisfies FilterKind

function inKernel(kernel: Kernel, share = WHOLE): Filter {
  kernel.refresh()
  const { call } = kernel

  // Where the segment at a directory entry ends.
  function segmentEnd(at: number): number {
    const segment = call.fingerprintSegment(at) >>> 0
    return new DataView(kernel.bytes.buffer).getUint32(segment + 8, true)
  }

  /** The addresses of all segments, in the order of their hashes. */
  function* segments(): Generator<number> {
    for (let at = call.fingerprintFirst(); at < call.fingerprintLast(); at = segmentEnd(at)) {
      yield call.fingerprintSegment(at) >>> 0
    }
  }

  /** The first 32 bits of the hashes of a directory entry. */
  const topOf = (entry: number) => entry * 2 ** (32 - call.fingerprintDirectoryBits())

  // Moves some of the segments from directory entry `middle` on, the last ones first, to the instance `other`: right before
  // those that are there already. Returns the directory entry from which on they are there; null when there is no room.
  function move(other: Kernel, middle: number, most: number): number | null {
    const bits = call.fingerprintDirectoryBits()
    const last = call.fingerprintLast()
    const bytes = call.fingerprintSegmentBytes()
    const isNew = other.call.fingerprintLast() === 0
    if (isNew)
      other.call.fingerprintAdoptLayout(call.fingerprintLayout(), Math.log2(bytes / BUCKET_BYTES - 1))
    while (!isNew && other.call.fingerprintDirectoryBits() < bits) {
      if (!other.call.fingerprintRefine()) return null
    }
    const entries: number[] = []
    for (let at = middle; at < last; at = segmentEnd(at)) entries.push(at)
    const rooms: number[] = []
    while (rooms.length < Math.min(most, entries.length)) {
      const room = other.call.fingerprintTakeRoom() >>> 0
      if (room === 0) break
      rooms.push(room)
    }
    if (rooms.length === 0) return null
    const moved = entries.slice(-rooms.length)
    const from = moved[0]!
    if (isNew && !other.call.fingerprintAdopt(bits, from, last)) return null
    const scale = 2 ** (other.call.fingerprintDirectoryBits() - bits)
    if (!isNew) other.call.fingerprintSetFirst(from * scale)
    for (const [i, room] of rooms.entries()) {
      const source = call.fingerprintSegment(moved[i]!) >>> 0
      other.bytes.set(kernel.bytes.subarray(source, source + bytes), room)
      const header = new DataView(other.bytes.buffer, room)
      for (const at of [4, 8]) header.setUint32(at, header.getUint32(at, true) * scale, true)
      other.call.fingerprintAdopted(room)
    }
    for (const hash of exiled()) {
      if (Number(hash >> BigInt(64 - bits)) >= from) other.call.fingerprintExile(hash)
    }
    call.fingerprintCut(from)
    return from
  }

  const exiled = () =>
    new BigUint64Array(
      kernel.bytes.buffer,
      call.fingerprintExiles() >>> 0,
      call.fingerprintExileCount(),
    ).slice()

  // The directory entry at which the hashes divide most evenly, behind the one where those of the share begin. Where one
  // segment has them all, the entry where it begins: all of them go. 0: there is but one segment.
  function middleOf({ from }: Share): number {
    const middle = call.fingerprintMiddle()
    if (middle === 0) return 0
    const last = call.fingerprintLast()
    const first = (from / 2 ** 32) * 2 ** call.fingerprintDirectoryBits()
    let inside = middle
    while (inside < last && inside <= first) inside = segmentEnd(inside)
    return inside < last ? inside : middle
  }

  // The hashes of a segment, copied, a few buckets at a time: a full instance has little memory to spare.
  function hashesIn(segment: number): BigUint64Array {
    const buckets = call.fingerprintSegmentBytes() / BUCKET_BYTES - 1
    const bytes = 8 * COPIED_BUCKETS * call.fingerprintSlots()
    const room = call.reserveOutput(bytes) >>> 0
    if (room === 0) throw noRoom('fingerprint', bytes)
    kernel.refresh()
    const all = new BigUint64Array(buckets * call.fingerprintSlots())
    let count = 0
    for (let from = 0; from < buckets; from += COPIED_BUCKETS) {
      const some = call.fingerprintHashes(segment, from, from + COPIED_BUCKETS, room)
      all.set(new BigUint64Array(kernel.bytes.buffer, room, some), count)
      count += some
    }
    return all.subarray(0, count)
  }

  return {
    ...fingerprintPieces(kernel, share),
    add: call.fingerprintAdd,
    has: call.fingerprintHas,
    delete: call.fingerprintDelete,
    get divisions() {
      return call.fingerprintChanges()
    },
    trim({ to }) {
      const last = call.fingerprintLast()
      const behind = (to / 2 ** 32) * 2 ** call.fingerprintDirectoryBits()
      let end = call.fingerprintFirst()
      while (end < behind && end < last) end = segmentEnd(end)
      if (end === last) return false
      call.fingerprintCut(end)
      return true
    },
    divide(other, mine) {
      const middle = middleOf(mine)
      if (middle === 0) return null
      const until = topOf(middle)
      // Where all of it moves the old instance goes: that is done at once.
      const from = move(other, middle, until <= mine.from ? Number.POSITIVE_INFINITY : MOVED_SEGMENTS)
      if (from === null) throw noRoom('fingerprint', call.fingerprintSegmentBytes())
      if (from > middle) call.fingerprintWalk(1)
      return { filter: inKernel(other), from: topOf(from), until }
    },
    divideOn(other, until) {
      const middle = until / 2 ** (32 - call.fingerprintDirectoryBits())
      const from = middle < call.fingerprintLast() ? move(other, middle, MOVED_SEGMENTS) : null
      if (from === null || from <= middle) call.fingerprintWalk(-1)
      return from === null ? null : { from: topOf(from) }
    },
    cells() {
      const slots = call.fingerprintSlots()
      const bytes = call.fingerprintSegmentBytes()
      const all = [...segments()]
      const view = new DataView(kernel.bytes.buffer)
      return all.map((segment, array) => {
        const buckets = bytes / BUCKET_BYTES - 1
        const set = new Uint8Array(Math.ceil((buckets * slots) / 8))
        for (let bucket = 0; bucket < buckets; bucket++) {
          const state = view.getUint32(segment + BUCKET_BYTES * (bucket + 2) - STATE_BYTES, true)
          for (let slot = 0; slot < slots; slot++) {
            const cell = bucket * slots + slot
            if (((state | (state >> GUEST_BITS)) >> slot) & 1) set[cell >> 3]! |= 1 << (cell & 7)
          }
        }
        const name = all.length === 1 ? 'slots' : `segment ${array + 1}`
        return { array, name, cells: buckets * slots, set, bucket: slots }
      })
    },
    find(hash) {
      const known = hash || 1n
      const cell = call.fingerprintFind(known)
      if (cell < 0) return null
      const entry = Number(known >> BigInt(64 - call.fingerprintDirectoryBits()))
      let array = 0
      for (let at = call.fingerprintFirst(); segmentEnd(at) <= entry; at = segmentEnd(at)) array++
      return { array, cell }
    },
    // In the order of the segments, each of which has a part of the range of all hashes.
    *hashes() {
      for (const { bytes } of this.pieces()) {
        if (bytes.buffer === kernel.bytes.buffer) yield hashesIn(bytes.byteOffset)
      }
      if (call.fingerprintExileCount() > 0) yield exiled()
    },
    measure() {
      const urls = call.fingerprintCount()
      const sizeBytes = call.fingerprintBytes()
      const slots = (sizeBytes / BUCKET_BYTES) * call.fingerprintSlots()
      return { sizeBytes, fill: urls / slots, rate: fingerprintRate({ urls }) }
    },
  }
}
