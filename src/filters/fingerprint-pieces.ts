// The table of the fingerprint filter in a snapshot: a piece per segment, checked before it is used. Tables of earlier files,
// which have whole hashes, are read hash by hash.
import type { Kernel } from '../kernel.ts'
import { noRoom, type Piece, type Pieces, type Share } from './filter.ts'
import { checkField, savedWhole } from './saved-plan.ts'

/** A segment's header in the kernel: count, first and last-plus-one directory entry. */
const HEADER_BYTES = 64
/** Numbers of the kernel: bytes of a bucket, buckets of the first segment and of one of full size, as powers of two. */
const BUCKET_BYTES = 64
const LEAST_BUCKET_BITS = 8
const BUCKET_BITS = 11
/** Layouts: of a first segment, and of many segments, each of which has at most 1/32 of the range. */
const FIRST = 0
const MANY = 2
const TOLD_BITS = 5
const FIRST_BITS = 4
export const MOST_BITS = 27
/** The array of a segment is its number of directory bits and, from the third multiple of this on, its layout. */
export const ARRAYS = 32
const FIRST_LAYOUT = 2
/** The format version of files with such arrays. */
const TABLE_VERSION = 3
/** The array of the hashes that found no slot. */
const EXILES = 5 * ARRAYS
const MOST_EXILES = 256
/** Slots of the first and of a grown segment of earlier files, whose array is the number of directory bits. */
const OLD_FIRST_SLOTS = 2048
const OLD_SEGMENT_SLOTS = 32768
/** A directory that is larger than this, and than so many times the segments, is not one that hashes have made. */
const LEAST_DIRECTORY_BYTES = 1024 * 1024
const DIRECTORY_SHARE = 4

/** A segment from a snapshot: it covers entries [from, to) of a directory of `bits` bits. */
interface Adopted {
  readonly bits: number
  readonly from: number
  readonly to: number
  readonly bytes: number
  /** Where it is in the kernel; null: its hashes are in the table already. */
  readonly at: number | null
}

export function fingerprintPieces(
  kernel: Kernel,
  share: Share,
): Pick<Pieces, 'pieces' | 'place' | 'placed' | 'restored'> {
  const { call } = kernel
  /** Segments put there from a snapshot, until the directory can be made. */
  const adopted: Adopted[] = []
  let exiled: BigUint64Array | null = null

  const word = (at: number) => new DataView(kernel.bytes.buffer).getUint32(at, true)

  // Throws unless a piece of that range can come behind those before it.
  function checkRange(bits: number, from: number, isGrown: boolean): void {
    savedWhole('directory bits', bits, FIRST_BITS, isGrown ? MOST_BITS : FIRST_BITS)
    savedWhole('a first directory entry', from, 0, 2 ** bits - 1)
    const before = adopted.at(-1)
    if (!before) return
    checkField('a segment behind others', isGrown, isGrown, 'one of full size')
    const isBehind = from / 2 ** bits >= before.to / 2 ** before.bits
    checkField('a first directory entry', from, isBehind, 'one behind the segment before')
  }

  // Throws unless the segments cover all hashes of the share, or fills the gaps: where a damaged snapshot has lost a
  // segment, an empty one takes its range, and its URLs are new again.
  function cover(bits: number, isWhole: boolean): void {
    let end = Math.floor((share.from / 2 ** 32) * 2 ** bits)
    const last = share.to > share.from ? Math.ceil((share.to / 2 ** 32) * 2 ** bits) : end
    const bytes = adopted.reduce((sum, segment) => sum + segment.bytes, 0)
    if (isWhole && 4 * 2 ** bits > LEAST_DIRECTORY_BYTES + DIRECTORY_SHARE * bytes) {
      throw new RangeError(`a directory of ${bits} bits for ${bytes} bytes of segments`)
    }
    for (const { bits: own, from, to } of [...adopted, { bits, from: last, to: last }]) {
      const scale = 2 ** (bits - own)
      if (from * scale > end) {
        if (isWhole) throw new RangeError(`no segment for directory entries ${end} to ${from * scale}`)
        const most = call.fingerprintLayout() === MANY ? 2 ** (bits - TOLD_BITS) : 2 ** bits
        for (; end < from * scale; end += most) emptySegment(bits, end, Math.min(end + most, from * scale))
      }
      end = Math.max(end, to * scale)
    }
  }

  function emptySegment(bits: number, from: number, to: number): void {
    const bytes = call.fingerprintSegmentBytes()
    const at = roomForSegment()
    kernel.bytes.fill(0, at, at + bytes)
    const header = new DataView(kernel.bytes.buffer, at)
    header.setUint32(4, from, true)
    header.setUint32(8, to, true)
    adopted.push({ bits, at, from, to, bytes })
  }

  function roomForSegment(): number {
    const at = call.fingerprintAdoptRoom() >>> 0
    if (at === 0) throw noRoom('fingerprint', call.fingerprintSegmentBytes())
    return at
  }

  // Sets the layout of a table with a segment of that size.
  function setLayout(layout: number, bytes: number): void {
    const bits = Math.log2((bytes - HEADER_BYTES) / BUCKET_BYTES)
    const isSize =
      layout === FIRST
        ? bits >= LEAST_BUCKET_BITS && bits < BUCKET_BITS
        : layout <= MANY && bits === BUCKET_BITS
    checkField('a segment of bytes', bytes, Number.isInteger(bits) && isSize, 'the size of its layout')
    call.fingerprintAdoptLayout(layout, bits)
  }

  function checkOldSize(bytes: number): number {
    const slots = (bytes - HEADER_BYTES) / 8
    const isSize =
      Number.isInteger(Math.log2(slots)) && slots >= OLD_FIRST_SLOTS && slots <= OLD_SEGMENT_SLOTS
    const expected = `${OLD_FIRST_SLOTS} to ${OLD_SEGMENT_SLOTS} slots, a power of two`
    checkField('a segment of bytes', bytes, isSize, expected)
    return slots
  }

  function placedSegment(layout: number, bits: number, from: number, room: Uint8Array): void {
    const at = room.byteOffset
    const begins = word(at + 4)
    checkField('a segment that begins at', begins, begins === from, String(from))
    const to = savedWhole('a last directory entry', word(at + 8), from + 1, 2 ** bits)
    const isShort = layout !== MANY || to - from <= 2 ** (bits - TOLD_BITS)
    checkField('a segment of directory entries', to - from, isShort, `at most ${2 ** (bits - TOLD_BITS)}`)
    if (!call.fingerprintIsSound(at, bits)) {
      throw new RangeError(
        'a segment with a wrong count, without free slots, or with a hash in the wrong place',
      )
    }
    adopted.push({ bits, at, from, to, bytes: room.length })
  }

  // The hashes of a segment of an earlier file, into a table of today.
  function placedOld(bits: number, from: number, piece: Uint8Array): void {
    const header = new DataView(piece.buffer, piece.byteOffset)
    const begins = header.getUint32(4, true)
    checkField('a segment that begins at', begins, begins === from, String(from))
    const to = savedWhole('a last directory entry', header.getUint32(8, true), from + 1, 2 ** bits)
    const words = new Uint32Array(piece.slice(HEADER_BYTES).buffer)
    let count = 0
    for (let i = 0; i < words.length; i += 2) {
      if (words[i] === 0 && words[i + 1] === 0) continue
      const entry = words[i + 1]! >>> (32 - bits)
      if (entry < from || entry >= to) throw new RangeError('a segment with a hash in the wrong place')
      words[2 * count] = words[i]!
      words[2 * count + 1] = words[i + 1]!
      count++
    }
    const hashes = new BigUint64Array(words.buffer, 0, count)
    checkField(
      'a segment with a count of',
      header.getUint32(0, true),
      header.getUint32(0, true) === count,
      String(count),
    )
    if (adopted.length === 0 && !call.fingerprintCreate()) throw noRoom('fingerprint', piece.length)
    const before = call.fingerprintCount()
    for (let at = 0; at < count; at += kernel.batchLines) {
      const some = hashes.subarray(at, at + kernel.batchLines)
      kernel.refresh()
      kernel.hashes.set(some)
      if (call.fingerprintAdd(0, some.length) < some.length) throw noRoom('fingerprint', piece.length)
    }
    kernel.refresh()
    if (call.fingerprintCount() - before < count) throw new RangeError('a segment with a hash twice')
    adopted.push({ bits, at: null, from, to, bytes: piece.length })
  }

  /** Below 0: of an earlier file. */
  const layoutOf = (array: number) => Math.floor(array / ARRAYS) - FIRST_LAYOUT

  let kind: number | null = null

  // A table is of one layout.
  function checkKind(array: number): void {
    const layout = layoutOf(array)
    const isSame = array === EXILES ? (kind ?? -1) >= FIRST : kind === null || kind === layout
    checkField('a segment of layout', layout, isSame, `that of those before, ${kind}`)
    checkField('a segment of layout', layout, layout === -FIRST_LAYOUT || layout >= FIRST, 'a known one')
    checkField('segments', array, exiled === null, 'none behind the hashes without a slot')
    if (array !== EXILES) kind = layout
  }

  // `offset` is the first directory entry. Adds between two segments change one that was given before, or one that comes later.
  function* segments(): Generator<Piece> {
    let begin = call.fingerprintFirst() / 2 ** call.fingerprintDirectoryBits()
    for (;;) {
      const bits = call.fingerprintDirectoryBits()
      const from = Math.round(begin * 2 ** bits)
      if (from >= call.fingerprintLast()) return
      const at = call.fingerprintSegment(from) >>> 0
      const array = ARRAYS * (call.fingerprintLayout() + FIRST_LAYOUT) + bits
      begin = word(at + 8) / 2 ** bits
      const bytes = kernel.bytes.subarray(at, at + call.fingerprintSegmentBytes())
      yield { array, offset: from, bytes, version: TABLE_VERSION }
    }
  }

  return {
    *pieces() {
      call.fingerprintWalk(1)
      try {
        yield* segments()
      } finally {
        call.fingerprintWalk(-1)
      }
      const count = call.fingerprintExileCount()
      if (count === 0) return
      const at = call.fingerprintExiles() >>> 0
      yield {
        array: EXILES,
        offset: 0,
        bytes: kernel.bytes.slice(at, at + 8 * count),
        version: TABLE_VERSION,
      }
    },
    place(array, from, bytes) {
      checkKind(array)
      if (array === EXILES) {
        savedWhole('hashes without a slot', bytes / 8, 1, MOST_EXILES)
        checkField('hashes without a slot at', from, from === 0, '0')
        return new Uint8Array(bytes)
      }
      const layout = layoutOf(array)
      const bits = array % ARRAYS
      if (layout < FIRST) {
        checkRange(bits, from, checkOldSize(bytes) === OLD_SEGMENT_SLOTS)
        return new Uint8Array(bytes)
      }
      checkRange(bits, from, layout !== FIRST)
      setLayout(layout, bytes)
      const at = roomForSegment()
      return kernel.bytes.subarray(at, at + bytes)
    },
    placed(array, from, room) {
      const layout = layoutOf(array)
      if (array === EXILES) exiled = new BigUint64Array(room.slice().buffer)
      else if (layout < FIRST) placedOld(array, from, room)
      else placedSegment(layout, array % ARRAYS, from, room)
    },
    restored(_counts, isWhole = true) {
      const bits = adopted.reduce((most, segment) => Math.max(most, segment.bits), FIRST_BITS)
      if (adopted[0]?.at === null) {
        if (isWhole) cover(bits, isWhole)
        adopted.length = 0
        return
      }
      cover(bits, isWhole)
      adopted.sort((a, b) => a.from / 2 ** a.bits - b.from / 2 ** b.bits)
      const first = adopted[0]!
      const last = adopted.at(-1)!
      const end = last.to * 2 ** (bits - last.bits)
      if (!call.fingerprintAdopt(bits, first.from * 2 ** (bits - first.bits), end)) {
        throw noRoom('fingerprint', 4 * 2 ** bits)
      }
      for (const { at, bits: own } of adopted) {
        const header = new DataView(kernel.bytes.buffer, at!)
        for (const field of [4, 8]) {
          header.setUint32(field, header.getUint32(field, true) * 2 ** (bits - own), true)
        }
        call.fingerprintAdopted(at!)
      }
      adopted.length = 0
      for (const hash of exiled ?? []) {
        if (!call.fingerprintExile(hash) && isWhole)
          throw new RangeError('a hash without a slot that no search looks for')
      }
    },
  }
}
