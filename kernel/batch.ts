// The batch: up to BATCH lines of the input with, for each, where its key lies, its hash and its verdict.
// Lines and keys are given by absolute addresses; a raw key is the line itself, so nothing is copied for it.
import { alloc, release } from './memory'

/** Lines in one batch: small enough that lines, keys and hashes stay in the second-level cache. */
export const BATCH: u32 = 2048
/** Readable bytes kept after every buffer, so that wide loads may run past the end. */
export const SLACK: usize = 128

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

// The other buffers: each a u32 address and a u32 room. What one held is gone when it has to grow.
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
  if (room) release(load<u32>(entry), room + SLACK)
  const wider = max(bytes, 64 << 10)
  const at = alloc(wider + SLACK)
  store<u32>(entry, <u32>at)
  store<u32>(entry, at ? <u32>wider : 0, 4)
  return at
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
