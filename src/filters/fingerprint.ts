// The fingerprint filter, the default: 64-bit keyed hashes in segments that grow one at a time (kernel).

import type { Kernel } from '../kernel.ts'
import { fingerprintRate } from '../sizing.ts'
import { checkSizes, type Filter, type FilterKind, noRoom } from './filter.ts'

/** Measured: bytes of memory for each URL, over the whole range of sizes (docs/filters.md). */
const BYTES_PER_URL = 14
const FIRST_BYTES = 16 * 1024

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
}

function inKernel(kernel: Kernel): Filter {
  kernel.refresh()
  const { call } = kernel
  return {
    add: call.fingerprintAdd,
    has: call.fingerprintHas,
    delete: call.fingerprintDelete,
    divide(other) {
      const middle = call.fingerprintMiddle()
      if (middle === 0) return null
      const bits = call.fingerprintDirectoryBits()
      const bytes = call.fingerprintSegmentBytes()
      other.call.fingerprintAdopt(bits, (bytes - 64) / 8)
      let from = 0
      for (let at = middle; at < 2 ** bits; ) {
        const source = call.fingerprintSegment(at) >>> 0
        const target = other.call.fingerprintAdoptRoom() >>> 0
        if (target === 0) throw noRoom('fingerprint', bytes)
        other.bytes.set(kernel.bytes.subarray(source, source + bytes), target)
        other.call.fingerprintAdopted(target, from)
        at = new DataView(kernel.bytes.buffer).getUint32(source + 8, true)
        from = at
      }
      call.fingerprintCut(middle)
      return { filter: inKernel(other), from: middle * 2 ** (32 - bits) }
    },
    measure() {
      const urls = call.fingerprintCount()
      const sizeBytes = call.fingerprintBytes()
      return { sizeBytes, fill: (urls * 8) / sizeBytes, rate: fingerprintRate({ urls }) }
    },
  }
}
