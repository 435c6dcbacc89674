// The batch: up to BATCH lines of the input with, for each, where its key lies, its hash and its verdict.
// Lines and keys are given by absolute addresses; a raw key is the line itself, so nothing is copied for it.
import { alloc, release } from './memory'

/** Lines in one batch: small enough that lines, keys and hashes stay in the second-level cache. */
export const BATCH: u32 = 2048
/** Readable bytes kept after every buffer, so that wide loads may run past the end. */
export const SLACK: usize = 128
/** No buffer is longer: adding the slack and aligning must not wrap around 2^32. */
const MOST_BYTES: usize = 0xffff0000

export const lineStarts: usize = memory.data(2048 * 4, 16)
export const lineEnds: usize = memory.data(2048 * 4, 16)
export const keyStarts: usize = memory.data(2048 * 4, 16)
export const keyEnds: usize = memory.data(2048 * 4, 16)
/** The features of the keys, for the eigenvalue filter. */
export const featureStarts: usize = memory.data(2048 * 4, 16)
export const featureEnds: usize = memory.data(2048 * 4, 16)
export const hashes: usize = memory.data(2048 * 8, 64)
export const verdicts: usize = memory.data(2048, 64)
/** Indices of the lines that the kernel hands to the platform. */
export const unusual: usize = memory.data(2048 * 4, 16)

let input: usize = 0
let inputRoom: usize = 0

/** The input buffer, with room for `bytes`; what it holds is kept. 0: no room in this instance. */
export function reserveInput(bytes: usize): usize {
  if (input && bytes <= inputRoom) return input
  if (bytes > MOST_BYTES) return 0
  const room = max(bytes, min(inputRoom * 2, inputRoom + (64 << 20)))
  const next = alloc(room + SLACK)
  if (!next) return 0
  if (input) {
    memory.copy(next, input, inputRoom)
    release(input, inputRoom + SLACK)
  }
  input = next
  inputRoom = room
  return input
}

// The other buffers: each a u32 address and a u32 room. What one held is gone when it has to grow; when it cannot, the
// buffer is as long as before, possibly elsewhere.
const buffers: usize = memory.data(5 * 8, 16)
const ARENA: usize = 0
const SPILL: usize = 1
const FEATURES: usize = 2
const URLS: usize = 3
const OUTPUT: usize = 4

function reserve(buffer: usize, bytes: usize): usize {
  const entry = buffers + (buffer << 3)
  const room = <usize>load<u32>(entry, 4)
  if (room && bytes <= room) return <usize>load<u32>(entry)
  if (bytes > MOST_BYTES) return 0
  // Released first, so that a neighbour that is free can be used together with it.
  if (room) release(load<u32>(entry), room + SLACK)
  const wider = max(bytes, 64 << 10)
  const at = alloc(wider + SLACK)
  if (at) {
    store<u32>(entry, <u32>at)
    store<u32>(entry, <u32>wider, 4)
    return at
  }
  const again = room ? alloc(room + SLACK) : 0
  store<u32>(entry, <u32>again)
  store<u32>(entry, again ? <u32>room : 0, 4)
  return 0
}

/** Room for the canonical keys of one batch; 0, here and below: no room in this instance. */
export function reserveArena(bytes: usize): usize {
  return reserve(ARENA, bytes)
}

/** Room for the keys that the platform made for the unusual lines of one batch. */
export function reserveSpill(bytes: usize): usize {
  return reserve(SPILL, bytes)
}

/** Room for the features of one batch. */
export function reserveFeatures(bytes: usize): usize {
  return reserve(FEATURES, bytes)
}

/** Room for URLs that come as strings, apart from the input, where half a line may be waiting. */
export function reserveUrls(bytes: usize): usize {
  return reserve(URLS, bytes)
}

/** Room for keys on their way out, and for what a store writes down. */
export function reserveOutput(bytes: usize): usize {
  return reserve(OUTPUT, bytes)
}
