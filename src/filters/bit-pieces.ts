// How a filter that is made of bit arrays goes into a snapshot and comes back: its arrays in pieces of a megabyte, and
// where no bit is set only how long that is.
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { Coverage } from './coverage.ts'
import type { CellArray, Piece, Pieces } from './filter.ts'
import { savedWhole } from './saved-plan.ts'

const PIECE_BYTES = 1024 * 1024
const NONE = new Uint8Array(0)

/** A bit array in the kernel's memory. */
export interface BitArray {
  readonly array: number
  readonly name: string
  readonly at: number
  readonly bytes: number
  /** What of it is in use: its last byte may have bits that are not. */
  readonly bits: number
  /** How many of its bits are set. */
  readonly ones: number
  /** Bits that belong together. */
  readonly block?: number
}

/** Counts that are not in the arrays. */
export interface OtherCounts {
  /** How many there may be. */
  readonly most: number
  read(): number[]
  write(index: number, count: number): void
}

/** What is left of the counts of two filters together when what both have counts once. */
export function unitedShare(mine: number, theirs: number, both: number): number {
  const share = both / (mine + theirs)
  return share >= 0.5 && share <= 1 ? share : share < 0.5 ? 0.5 : 1
}

/**
 * `arrays` says where they lie, and makes sure there is one of a number when given it. Bits are counted piece by piece as
 * they are put in place: counting all of a large filter at the end would take as long as reading it.
 */
export function bitPieces(
  kernel: Kernel,
  arrays: (array?: number) => readonly BitArray[],
  setOnes: (array: number, ones: number) => void,
  others?: OtherCounts,
  distinct?: () => number,
): Pieces & { cells(): CellArray[] } {
  const { call } = kernel
  const given = new Coverage()
  /** Bits of each array that were put in place so far. */
  const placedOnes = new Map<number, number>()
  const setCounts = (counts: readonly number[]) => {
    for (const [i, count] of counts.entries()) others?.write(i, count)
  }
  const find = (array: number): BitArray => {
    const found = arrays(array).find((one) => one.array === array)
    if (!found) throw new RangeError(`a piece of array ${array}, which there is not`)
    return found
  }
  const place = (array: number, offset: number, bytes: number): Uint8Array => {
    const { at, bytes: total } = find(array)
    given.take(array, offset, bytes, total)
    return kernel.bytes.subarray(at + offset, at + offset + bytes)
  }
  // Throws unless every array is there, and no bit behind its last one is set.
  const checkWhole = () => {
    for (const { array, at, bytes, bits } of arrays()) {
      given.check(array, bytes)
      if (bits % 8 !== 0 && kernel.bytes[at + bytes - 1]! >> (bits % 8) !== 0) {
        throw new RangeError(`array ${array} has bits set behind its ${bits} bits`)
      }
    }
  }
  // Of an array that is not whole: bits behind its last one are not its own.
  const trim = ({ at, bytes, bits }: BitArray) => {
    if (bits % 8 !== 0) kernel.bytes[at + bytes - 1]! &= (1 << (bits % 8)) - 1
    return Number(call.countBits(at, bytes))
  }
  return {
    *pieces(): Generator<Piece> {
      for (const { array, at, bytes, ones } of arrays()) {
        if (ones === 0) {
          yield { array, offset: 0, bytes: NONE, zeros: bytes }
          continue
        }
        for (let offset = 0; offset < bytes; offset += PIECE_BYTES) {
          const size = Math.min(PIECE_BYTES, bytes - offset)
          if (call.isZero(at + offset, size)) yield { array, offset, bytes: NONE, zeros: size }
          else yield { array, offset, bytes: kernel.bytes.subarray(at + offset, at + offset + size) }
        }
      }
    },
    cells: () =>
      arrays().map(({ array, name, at, bytes, bits, block }) => ({
        array,
        name,
        cells: bits,
        set: kernel.bytes.slice(at, at + bytes),
        ...(block !== undefined && { block }),
      })),
    place,
    placed(array, _offset, room) {
      const ones = Number(call.countBits(room.byteOffset, room.length))
      placedOnes.set(array, (placedOnes.get(array) ?? 0) + ones)
    },
    // The memory of a filter that was just made is zero.
    placeZeros(array, offset, bytes) {
      place(array, offset, bytes)
    },
    counts: () => others?.read() ?? [],
    restored(counts, isWhole = true) {
      if (isWhole) checkWhole()
      const most = others?.most ?? 0
      if (counts.length > most) throw new RangeError(`${counts.length} counts: expected at most ${most}`)
      for (const count of counts) savedWhole('a count', count, 0, Number.MAX_SAFE_INTEGER)
      for (const one of arrays()) setOnes(one.array, isWhole ? (placedOnes.get(one.array) ?? 0) : trim(one))
      placedOnes.clear()
      setCounts(counts)
    },
    ...(distinct && { distinct }),
    unite(other: Pieces) {
      const [mine, theirs] = [distinct?.() ?? 0, other.distinct?.() ?? 0]
      for (const { array, offset, bytes } of other.pieces()) {
        if (bytes.length === 0) continue
        const copy = call.reserveOutput(bytes.length) >>> 0
        if (copy === 0) throw new SieveError('memory', 'no memory left to unite two filters')
        kernel.bytes.set(bytes, copy)
        call.uniteBits(place(array, offset, bytes.length).byteOffset, copy, bytes.length)
      }
      for (const { array, at, bytes } of arrays()) setOnes(array, Number(call.countBits(at, bytes)))
      const share = unitedShare(mine, theirs, distinct?.() ?? 0)
      const counts = other.counts?.() ?? []
      setCounts((others?.read() ?? []).map((count, i) => Math.round((count + (counts[i] ?? 0)) * share)))
      return null
    },
  }
}
