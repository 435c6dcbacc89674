// What a sieve on Redis takes of its memory, estimated. Measured: docs/cluster.md.
import type { Mode } from './parameters.ts'

/** What a set costs besides its members, and a member with what the allocator rounds up. */
const SET_BYTES = 115
const MEMBER_BYTES: Readonly<Record<Mode, number>> = { fingerprint: 8.8, compact: 4.3 }
/** URLs in a set on average. */
const SET_URLS = 192

/** Bytes of `urls` in that many sets. */
export function memoryOf(mode: Mode, urls: number, sets: number): number {
  return Math.round(urls * MEMBER_BYTES[mode] + sets * SET_BYTES)
}

/** For a plan: in sets of the usual size. */
export const bytesPerUrl = (mode: Mode): number => MEMBER_BYTES[mode] + SET_BYTES / SET_URLS
