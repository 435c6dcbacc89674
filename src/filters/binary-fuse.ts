// The binary fuse filter: a frozen set. It is made from the 64-bit hashes of a fingerprint sieve, all at once, and from
// then on only asked: there is no add. A sieve of it comes from `freeze`, or from a file.

import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { expectedUrls, falsePositiveRate, sizeBytes } from '../options/filter-options.ts'
import { type BinaryFuseShape, binaryFuseRate, binaryFuseShape } from './binary-fuse-shape.ts'
import { Coverage } from './coverage.ts'
import {
  type FrozenFilter,
  type FrozenKind,
  frozenFilter,
  noRoom,
  type Plan,
  type SizeRequest,
} from './filter.ts'
import { checkField, checkFollows, savedObject } from './saved-plan.ts'

/** Bits of a fingerprint: wrong once in 256, in 65,536, in 4.3 billion. */
export type FingerprintBits = 8 | 16 | 32
export const fingerprintWidths: readonly FingerprintBits[] = [8, 16, 32]

/** What it takes of an instance's memory while a set is made: 9 bytes per key and 13 a cell, and what the instance itself takes. */
export const buildBytes = (urls: number) => 9 * urls + 13 * binaryFuseShape({ urls }).cells + 1024 * 1024

/** Seeds tried before giving up. One in some does not do, whatever the keys: so many in a row never happens. */
const MOST_ATTEMPTS = 100
const PIECE_BYTES = 1024 * 1024
/** Pieces of a snapshot: a header, then the fingerprints. */
const HEADER = 0
const FINGERPRINTS = 1
const HEADER_BYTES = 32

/** What a plan says of sets of these sizes, one an instance. */
export function binaryFusePlan(sizes: readonly number[], bits: FingerprintBits): Plan {
  const urls = sizes.reduce((sum, size) => sum + size, 0)
  const cells = sizes.reduce((sum, size) => sum + binaryFuseShape({ urls: size }).cells, 0)
  const rate = urls === 0 ? 0 : binaryFuseRate({ bits })
  return {
    filter: 'binary-fuse',
    expectedUrls: urls,
    promisedRate: rate,
    expectedRate: rate,
    sizeBytes: (cells * bits) / 8,
    bits: cells * bits,
    hashes: 3,
    bitsPerUrl: urls === 0 ? null : (cells * bits) / urls,
    shape: { fingerprintBits: bits },
  }
}

// The narrowest fingerprints that keep the rate, or the widest that fit into the memory given.
function widthFor({ expectedUrls, falsePositiveRate = 1e-6, sizeBytes }: SizeRequest): FingerprintBits {
  if (sizeBytes === undefined) {
    return fingerprintWidths.find((bits) => binaryFuseRate({ bits }) <= falsePositiveRate) ?? 32
  }
  const { cells } = binaryFuseShape({ urls: expectedUrls! })
  return fingerprintWidths.findLast((bits) => (cells * bits) / 8 <= sizeBytes) ?? 8
}

/** Errs towards "seen" at 2^−bits, however many URLs there are; never towards "new". */
export const binaryFuse = {
  name: 'binary-fuse',
  does: 'a frozen set, made by freeze; rates of 2^−8, 2^−16 or 2^−32, 13 % over their limits',
  source: 'Graf, Lemire 2022',
  errs: 'towards "seen" with 2^−8, 2^−16 or 2^−32; never towards "new"',
  exactness: 'approximate',
  options: [expectedUrls, falsePositiveRate, sizeBytes],
  can: { delete: false, grow: false, under: false },
  takes: 'hashes',

  plan(request) {
    if (request.expectedUrls === undefined) throw frozenFilter('binary-fuse')
    return binaryFusePlan([request.expectedUrls], widthFor(request))
  },

  revive: (kernel, plan) => inKernel(kernel, plan),

  arrayBytes(plan) {
    const { fingerprintBits } = savedObject('plan.shape', plan.shape)
    const isWidth = fingerprintWidths.some((width) => width === fingerprintBits)
    checkField('plan.shape.fingerprintBits', fingerprintBits, isWidth, fingerprintWidths.join(', '))
    checkFollows('plan.hashes', plan.hashes, 3)
    checkFollows('plan.bits', plan.bits, plan.sizeBytes * 8)
    return plan.sizeBytes
  },
} as const satisfies FrozenKind

interface Header extends Omit<BinaryFuseShape, 'cells'> {
  readonly bits: number
  readonly seed: bigint
  readonly urls: number
}

function encodeHeader({ bits, segmentLength, segments, seed, urls }: Header): Uint8Array {
  const view = new DataView(new ArrayBuffer(HEADER_BYTES))
  view.setUint32(0, bits, true)
  view.setUint32(4, segmentLength, true)
  view.setUint32(8, segments, true)
  view.setBigUint64(16, seed, true)
  view.setBigUint64(24, BigInt(urls), true)
  return new Uint8Array(view.buffer)
}

// Throws a RangeError, which names the damage, for what no set has.
function decodeHeader(bytes: Uint8Array): Header {
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES)
  const bits = view.getUint32(0, true)
  const segmentLength = view.getUint32(4, true)
  const segments = view.getUint32(8, true)
  const isPower = segmentLength >= 4 && segmentLength <= 2 ** 18 && Number.isInteger(Math.log2(segmentLength))
  const cells = (segments + 2) * segmentLength
  const urls = Number(view.getBigUint64(24, true))
  if (urls > cells || (urls === 0) !== (segments === 0)) {
    throw new RangeError(`no binary fuse set of ${urls} URLs has ${segments} segments of ${segmentLength}`)
  }
  if (!fingerprintWidths.some((width) => width === bits) || !isPower || cells * bits >= 2 ** 35) {
    throw new RangeError(`no binary fuse set has ${bits} bits, ${segments} segments of ${segmentLength}`)
  }
  return {
    bits,
    segmentLength,
    segments,
    seed: view.getBigUint64(16, true),
    urls,
  }
}

function inKernel(kernel: Kernel, plan: Plan): FrozenFilter {
  const { call } = kernel
  const given = new Coverage()
  /** As it is read from a file; what is read there becomes the set when its first fingerprints come, or at the end. */
  const room = new Uint8Array(HEADER_BYTES)
  let header: Header | null = null
  const sizeBytes = () => (header!.segments === 0 ? 0 : (cellsOf(header!) * header!.bits) / 8)
  const create = (): Header => {
    if (given.bytesOf(HEADER) === 0) throw new RangeError('a binary fuse set without its header')
    const read = decodeHeader(room)
    const { bits, segmentLength, segments, seed } = read
    const bytes = segments === 0 ? 0 : (cellsOf(read) * bits) / 8
    checkFollows('bits of a fingerprint', bits, (plan.shape as { fingerprintBits: number }).fingerprintBits)
    checkField('a set of bytes', bytes, bytes <= plan.sizeBytes, `at most plan.sizeBytes ${plan.sizeBytes}`)
    if (!call.binaryFuseCreate(bits, segmentLength, segments, seed)) throw noRoom('binary-fuse', bytes)
    kernel.refresh()
    header = read
    return read
  }
  return {
    has: call.binaryFuseHas,
    *pieces() {
      yield { array: HEADER, offset: 0, bytes: encodeHeader(header!) }
      const at = call.binaryFuseFingerprints() >>> 0
      for (let offset = 0; offset < sizeBytes(); offset += PIECE_BYTES) {
        const end = Math.min(offset + PIECE_BYTES, sizeBytes())
        yield { array: FINGERPRINTS, offset, bytes: kernel.bytes.subarray(at + offset, at + end) }
      }
    },
    place(array, offset, bytes) {
      if (array === HEADER && bytes === HEADER_BYTES && !header) {
        given.take(HEADER, offset, bytes, HEADER_BYTES)
        return room
      }
      if (array !== FINGERPRINTS)
        throw new RangeError(`no room for ${bytes} bytes at ${offset} of array ${array}`)
      if (!header) create()
      given.take(FINGERPRINTS, offset, bytes, sizeBytes())
      const at = (call.binaryFuseFingerprints() >>> 0) + offset
      return kernel.bytes.subarray(at, at + bytes)
    },
    restored(_counts, isWhole = true) {
      if (!header) create() // of an empty set there is only the header
      if (isWhole) given.check(HEADER, HEADER_BYTES)
      if (isWhole) given.check(FINGERPRINTS, sizeBytes())
    },
    measure() {
      const { urls, bits } = header!
      return {
        sizeBytes: sizeBytes(),
        fill: urls === 0 ? 0 : urls / cellsOf(header!),
        rate: urls === 0 ? 0 : binaryFuseRate({ bits }),
      }
    },
  }
}

const cellsOf = ({ segments, segmentLength }: Header) => (segments + 2) * segmentLength

/**
 * Makes a set of `urls` distinct hashes in `builder`, an instance to be thrown away, and puts it into `filter`, which is
 * still empty. `give` writes the hashes; it is asked again for each seed that is tried. The same hashes, in any order,
 * make the same set.
 */
export function buildBinaryFuse(
  builder: Kernel,
  filter: FrozenFilter,
  urls: number,
  bits: FingerprintBits,
  give: (room: BigUint64Array) => void,
): void {
  const { call } = builder
  const { segmentLength, segments, cells } = binaryFuseShape({ urls })
  if (urls > 0) {
    const at = call.binaryFuseReserve(bits, segmentLength, segments, urls) >>> 0
    if (at === 0) throw noRoom('binary-fuse', buildBytes(urls))
    const room = new BigUint64Array(builder.bytes.buffer, at, urls)
    for (let attempt = 0; ; attempt++) {
      give(room)
      if (call.binaryFuseBuild(attempt)) break
      if (attempt + 1 === MOST_ATTEMPTS) {
        throw new SieveError(
          'option',
          `no set of ${urls} hashes after ${MOST_ATTEMPTS} seeds: expected distinct ones`,
        )
      }
    }
  }
  const header = {
    bits,
    segmentLength,
    segments,
    seed: urls === 0 ? 0n : BigInt.asUintN(64, call.binaryFuseSeed()),
    urls,
  }
  filter.place(HEADER, 0, HEADER_BYTES).set(encodeHeader(header))
  if (urls > 0) {
    const from = call.binaryFuseFingerprints() >>> 0
    const bytes = (cells * bits) / 8
    filter.place(FINGERPRINTS, 0, bytes).set(builder.bytes.subarray(from, from + bytes))
  }
  filter.restored([])
}
