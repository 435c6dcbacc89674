// The fingerprint filter, the default: 64-bit keyed hashes in segments that grow one at a time (kernel).

import type { Kernel } from '../kernel.ts'
import { growingSizes } from '../options/filter-options.ts'
import { type Filter, type FilterKind, type Held, noRoom, type Share, WHOLE } from './filter.ts'
import { checkField, checkFollows, savedWhole } from './saved-plan.ts'

/** Measured: bytes of memory for each URL, over the whole range of sizes (docs/filters.md). */
const BYTES_PER_URL = 14
const FIRST_BYTES = 16 * 1024
/** A segment's header in the kernel: count, first and last-plus-one directory entry. */
const HEADER_BYTES = 64
/** Segments of 256 KiB that are moved to another instance at a time: about five milliseconds. */
const MOVED_SEGMENTS = 32
/** Numbers of kernel/segment-table.ts: slots of a bucket, of the first and of a grown segment, bits of the directory. */
const BUCKET_SLOTS = 8
const FIRST_SLOTS = 2048
const SEGMENT_SLOTS = 32768
const FIRST_BITS = 4
const MOST_BITS = 27
/** A directory that is larger than this, and than so many times the segments, is not one that hashes have made. */
const LEAST_DIRECTORY_BYTES = 1024 * 1024
const DIRECTORY_SHARE = 4

/** The table grows by segments of 256 KiB, which begin about half full; several may be due in one batch. */
const SEGMENTS_BYTES = 4 * 256 * 1024
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

/** A segment from a snapshot: it covers entries [from, to) of a directory of `bits` bits. */
interface Adopted {
  readonly bits: number
  readonly at: number
  readonly from: number
  readonly to: number
}

/**
 * Errs towards "seen" only when two keys share all 64 bits of a secret hash: 0.03 pages lost in a whole crawl of
 * a billion URLs. Needs no capacity; expectedUrls only tells how much memory to plan for.
 */
export const fingerprint = {
  name: 'fingerprint',
  does: '64-bit keyed hashes in a table that grows; practically exact',
  source: 'Mercator 1999',
  errs: 'towards "seen" with n / 2^64; never towards "new"',
  exactness: 'practically exact',
  options: growingSizes,
  can: { delete: true, grow: true, under: false },
  takes: 'hashes',
  directoryBytes: (bits) => 4 * 2 ** Math.min(bits, MOST_BITS),
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

// The slots of each segment, copied; 0 where one is empty.
function* slotsOf(filter: Pick<Filter, 'pieces'>): Generator<BigUint64Array> {
  for (const { bytes } of filter.pieces()) yield new BigUint64Array(bytes.slice(HEADER_BYTES).buffer)
}

function inKernel(kernel: Kernel, share = WHOLE): Filter {
  kernel.refresh()
  const { call } = kernel
  /** Segments put there from a snapshot, until the directory can be made. */
  const adopted: Adopted[] = []

  // Throws unless there is room for a piece of that kind beside those that came before it.
  function checkPiece(bits: number, from: number, bytes: number): void {
    const slots = (bytes - HEADER_BYTES) / 8
    const isSize = Number.isInteger(Math.log2(slots)) && slots >= FIRST_SLOTS && slots <= SEGMENT_SLOTS
    checkField(
      'a segment of bytes',
      bytes,
      isSize,
      `${FIRST_SLOTS} to ${SEGMENT_SLOTS} slots, a power of two`,
    )
    savedWhole('directory bits', bits, FIRST_BITS, slots < SEGMENT_SLOTS ? FIRST_BITS : MOST_BITS)
    savedWhole('a first directory entry', from, 0, 2 ** bits - 1)
    const before = adopted.at(-1)
    if (!before) return
    checkField('a segment of bytes', bytes, slots === SEGMENT_SLOTS, 'a single one of that size')
    const isBehind = from / 2 ** bits >= before.to / 2 ** before.bits
    checkField('a first directory entry', from, isBehind, 'one behind the segment before')
  }

  // Throws unless the segments cover all hashes of the share, or fills the gaps: where a damaged snapshot has lost a
  // segment, an empty one takes its range, and its URLs are new again.
  function cover(bits: number, isWhole: boolean): void {
    let end = Math.floor((share.from / 2 ** 32) * 2 ** bits)
    const last = share.to > share.from ? Math.ceil((share.to / 2 ** 32) * 2 ** bits) : end
    const bytes = adopted.length * call.fingerprintSegmentBytes()
    if (isWhole && 4 * 2 ** bits > LEAST_DIRECTORY_BYTES + DIRECTORY_SHARE * bytes) {
      throw new RangeError(`a directory of ${bits} bits for ${bytes} bytes of segments`)
    }
    for (const { bits: own, from, to } of [...adopted, { bits, from: last, to: last }]) {
      const scale = 2 ** (bits - own)
      if (from * scale > end) {
        if (isWhole) throw new RangeError(`no segment for directory entries ${end} to ${from * scale}`)
        emptySegment(bits, end, from * scale)
      }
      end = Math.max(end, to * scale)
    }
  }

  // Where the segment at a directory entry ends.
  function segmentEnd(at: number): number {
    const segment = call.fingerprintSegment(at) >>> 0
    return new DataView(kernel.bytes.buffer).getUint32(segment + 8, true)
  }

  // The directory entry at which the hashes divide most evenly, behind the one where those of the share begin. Where one
  // segment has them all, the entry where it begins: all of them go. 0: there is but one segment.
  /** The first 32 bits of the hashes of a directory entry. */
  const topOf = (entry: number) => entry * 2 ** (32 - call.fingerprintDirectoryBits())

  // Moves some of the segments from directory entry `middle` on, the last ones first, to the instance `other`: right before
  // those that are there already. Returns the directory entry from which on they are there; null when there is no room.
  function move(other: Kernel, middle: number, most: number): number | null {
    const bits = call.fingerprintDirectoryBits()
    const last = call.fingerprintLast()
    const bytes = call.fingerprintSegmentBytes()
    const isNew = other.call.fingerprintLast() === 0
    if (isNew) other.call.fingerprintAdoptSlots((bytes - HEADER_BYTES) / 8)
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
      const at = moved[i]!
      const source = call.fingerprintSegment(at) >>> 0
      other.bytes.set(kernel.bytes.subarray(source, source + bytes), room)
      const header = new DataView(other.bytes.buffer, room)
      header.setUint32(4, at * scale, true)
      header.setUint32(8, segmentEnd(at) * scale, true)
      other.call.fingerprintAdopted(room)
    }
    call.fingerprintCut(from)
    return from
  }

  function middleOf({ from }: Share): number {
    const middle = call.fingerprintMiddle()
    if (middle === 0) return 0
    const last = call.fingerprintLast()
    const first = (from / 2 ** 32) * 2 ** call.fingerprintDirectoryBits()
    let inside = middle
    while (inside < last && inside <= first) inside = segmentEnd(inside)
    return inside < last ? inside : middle
  }

  function emptySegment(bits: number, from: number, to: number): void {
    const bytes = call.fingerprintSegmentBytes()
    const at = call.fingerprintAdoptRoom() >>> 0
    if (at === 0) throw noRoom('fingerprint', bytes)
    kernel.bytes.fill(0, at, at + bytes)
    const header = new DataView(kernel.bytes.buffer, at)
    header.setUint32(4, from, true)
    header.setUint32(8, to, true)
    adopted.push({ bits, at, from, to })
  }

  return {
    add: call.fingerprintAdd,
    has: call.fingerprintHas,
    delete: call.fingerprintDelete,
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
      return { filter: inKernel(other), from: topOf(from), until }
    },
    divideOn(other, until) {
      const middle = until / 2 ** (32 - call.fingerprintDirectoryBits())
      const from = middle < call.fingerprintLast() ? move(other, middle, MOVED_SEGMENTS) : null
      return from === null ? null : { from: topOf(from) }
    },
    // A piece is a segment with its header; `array` is the number of directory bits its range is counted in.
    *pieces() {
      const bytes = call.fingerprintSegmentBytes()
      let share = call.fingerprintFirst() / 2 ** call.fingerprintDirectoryBits()
      for (;;) {
        const bits = call.fingerprintDirectoryBits()
        const from = Math.round(share * 2 ** bits)
        if (from >= call.fingerprintLast()) return
        const at = call.fingerprintSegment(from) >>> 0
        const to = new DataView(kernel.bytes.buffer).getUint32(at + 8, true)
        yield { array: bits, offset: from, bytes: kernel.bytes.subarray(at, at + bytes) }
        share = to / 2 ** bits
      }
    },
    place(bits, from, bytes) {
      checkPiece(bits, from, bytes)
      call.fingerprintAdoptSlots((bytes - HEADER_BYTES) / 8)
      const at = call.fingerprintAdoptRoom() >>> 0
      if (at === 0) throw noRoom('fingerprint', bytes)
      return kernel.bytes.subarray(at, at + bytes)
    },
    placed(bits, from, room) {
      const at = room.byteOffset
      const header = new DataView(kernel.bytes.buffer, at)
      checkField(
        'a segment that begins at',
        header.getUint32(4, true),
        header.getUint32(4, true) === from,
        String(from),
      )
      const to = savedWhole('a last directory entry', header.getUint32(8, true), from + 1, 2 ** bits)
      if (!call.fingerprintIsSound(at, bits)) {
        throw new RangeError(
          'a segment with a wrong count, without an empty slot, or with a hash in the wrong place',
        )
      }
      adopted.push({ bits, at, from, to })
    },
    restored(_counts, isWhole = true) {
      const bits = adopted.reduce((most, segment) => Math.max(most, segment.bits), FIRST_BITS)
      cover(bits, isWhole)
      let [first, last] = [2 ** bits, 0]
      for (const segment of adopted) {
        const header = new DataView(kernel.bytes.buffer, segment.at)
        const scale = 2 ** (bits - segment.bits)
        const [from, to] = [header.getUint32(4, true) * scale, header.getUint32(8, true) * scale]
        header.setUint32(4, from, true)
        header.setUint32(8, to, true)
        first = Math.min(first, from)
        last = Math.max(last, to)
      }
      if (!call.fingerprintAdopt(bits, first, last)) throw noRoom('fingerprint', 4 * 2 ** bits)
      for (const segment of adopted) call.fingerprintAdopted(segment.at)
      adopted.length = 0
    },
    cells() {
      const segments = [...slotsOf(this)]
      return segments.map((slots, array) => {
        const set = new Uint8Array(Math.ceil(slots.length / 8))
        slots.forEach((hash, slot) => {
          if (hash !== 0n) set[slot >> 3]! |= 1 << (slot & 7)
        })
        const name = segments.length === 1 ? 'slots' : `segment ${array + 1}`
        return { array, name, cells: slots.length, set, bucket: BUCKET_SLOTS }
      })
    },
    find(hash) {
      for (const [array, slots] of [...slotsOf(this)].entries()) {
        const cell = slots.indexOf(hash || 1n)
        if (cell >= 0) return { array, cell }
      }
      return null
    },
    *hashes() {
      for (const slots of slotsOf(this)) yield slots.filter((hash) => hash !== 0n)
    },
    measure() {
      const urls = call.fingerprintCount()
      const sizeBytes = call.fingerprintBytes()
      return { sizeBytes, fill: (urls * 8) / sizeBytes, rate: fingerprintRate({ urls }) }
    },
  }
}
