// The fingerprint filter, the default: 64-bit keyed hashes in segments that grow one at a time (kernel).

import type { Kernel } from '../kernel.ts'
import { fingerprintRate } from '../sizing.ts'
import { checkSizes, type Filter, type FilterKind, noRoom } from './filter.ts'

/** Measured: bytes of memory for each URL, over the whole range of sizes (docs/filters.md). */
const BYTES_PER_URL = 14
const FIRST_BYTES = 16 * 1024
/** A segment's header in the kernel: count, first and last-plus-one directory entry. */
const HEADER_BYTES = 64

/**
 * Errs towards "seen" only when two keys share all 64 bits of a secret hash: 0.03 pages lost in a whole crawl of
 * a billion URLs. Needs no capacity; expectedUrls only tells how much memory to plan for.
 */
export const fingerprint: FilterKind = {
  name: 'fingerprint',
  does: '64-bit keyed hashes in a table that grows; practically exact',
  source: 'Mercator 1999',
  errs: 'towards "seen" with n / 2^64; never towards "new"',
  can: { delete: true, grow: true, under: false },
  takes: 'hashes',
  inOneCall: 0,

  plan(request) {
    checkSizes(request)
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

  revive: (kernel) => inKernel(kernel),
}

function inKernel(kernel: Kernel): Filter {
  kernel.refresh()
  const { call } = kernel
  /** Segments put there from a snapshot, until the directory can be made. */
  const adopted: { bits: number; at: number }[] = []

  // Where a damaged snapshot has lost a segment, an empty one takes its range: its URLs are new again.
  function fillGaps(bits: number): void {
    const ranges = adopted
      .map((segment) => {
        const header = new DataView(kernel.bytes.buffer, segment.at)
        const scale = 2 ** (bits - segment.bits)
        return [header.getUint32(4, true) * scale, header.getUint32(8, true) * scale] as const
      })
      .sort(([a], [b]) => a - b)
    let end = ranges[0]?.[0] ?? 0
    for (const [from, to] of [...ranges]) {
      if (from > end) emptySegment(bits, end, from)
      end = to
    }
    if (ranges.length === 0) emptySegment(bits, 0, 2 ** bits)
  }

  function emptySegment(bits: number, from: number, to: number): void {
    const bytes = call.fingerprintSegmentBytes()
    const at = call.fingerprintAdoptRoom() >>> 0
    if (at === 0) throw noRoom('fingerprint', bytes)
    kernel.bytes.fill(0, at, at + bytes)
    const header = new DataView(kernel.bytes.buffer, at)
    header.setUint32(4, from, true)
    header.setUint32(8, to, true)
    adopted.push({ bits, at })
  }

  return {
    add: call.fingerprintAdd,
    has: call.fingerprintHas,
    delete: call.fingerprintDelete,
    divide(other) {
      const middle = call.fingerprintMiddle()
      if (middle === 0) return null
      const bits = call.fingerprintDirectoryBits()
      const last = call.fingerprintLast()
      const bytes = call.fingerprintSegmentBytes()
      other.call.fingerprintAdoptSlots((bytes - HEADER_BYTES) / 8)
      other.call.fingerprintAdopt(bits, middle, last)
      for (let at = middle; at < last; ) {
        const source = call.fingerprintSegment(at) >>> 0
        const target = other.call.fingerprintAdoptRoom() >>> 0
        if (target === 0) throw noRoom('fingerprint', bytes)
        other.bytes.set(kernel.bytes.subarray(source, source + bytes), target)
        other.call.fingerprintAdopted(target)
        at = new DataView(kernel.bytes.buffer).getUint32(source + 8, true)
      }
      call.fingerprintCut(middle)
      return { filter: inKernel(other), from: middle * 2 ** (32 - bits) }
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
    place(_bits, _from, bytes) {
      call.fingerprintAdoptSlots((bytes - HEADER_BYTES) / 8)
      const at = call.fingerprintAdoptRoom() >>> 0
      if (at === 0) throw noRoom('fingerprint', bytes)
      return kernel.bytes.subarray(at, at + bytes)
    },
    placed(bits, _from, room) {
      adopted.push({ bits, at: room.byteOffset })
    },
    restored() {
      const bits = adopted.reduce((most, segment) => Math.max(most, segment.bits), 4)
      fillGaps(bits)
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
    *hashes() {
      for (const { bytes } of this.pieces()) {
        const slots = new BigUint64Array(bytes.slice(HEADER_BYTES).buffer)
        yield slots.filter((hash) => hash !== 0n)
      }
    },
    measure() {
      const urls = call.fingerprintCount()
      const sizeBytes = call.fingerprintBytes()
      return { sizeBytes, fill: (urls * 8) / sizeBytes, rate: fingerprintRate({ urls }) }
    },
  }
}
