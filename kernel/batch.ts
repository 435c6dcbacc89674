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
let arena: usize = 0
let arenaRoom: usize = 0
let spill: usize = 0
let spillRoom: usize = 0

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

/** Room for the canonical keys of one batch: what it held is gone. */
export function reserveArena(bytes: usize): usize {
  if (arena && bytes <= arenaRoom) return arena
  release(arena, arenaRoom + SLACK)
  arenaRoom = max(bytes, 256 << 10)
  arena = alloc(arenaRoom + SLACK)
  if (!arena) arenaRoom = 0
  return arena
}

/** Room for the keys that the platform made for the unusual lines of one batch. */
export function reserveSpill(bytes: usize): usize {
  if (spill && bytes <= spillRoom) return spill
  release(spill, spillRoom + SLACK)
  spillRoom = max(bytes, 64 << 10)
  spill = alloc(spillRoom + SLACK)
  if (!spill) spillRoom = 0
  return spill
}

let features: usize = 0
let featureRoom: usize = 0

/** Room for the features of one batch: what it held is gone. */
export function reserveFeatures(bytes: usize): usize {
  if (features && bytes <= featureRoom) return features
  release(features, featureRoom + SLACK)
  featureRoom = max(bytes, 64 << 10)
  features = alloc(featureRoom + SLACK)
  if (!features) featureRoom = 0
  return features
}

let urls: usize = 0
let urlRoom: usize = 0

/** Room for URLs that come as strings, apart from the input, where half a line may be waiting. */
export function reserveUrls(bytes: usize): usize {
  if (urls && bytes <= urlRoom) return urls
  release(urls, urlRoom + SLACK)
  urlRoom = bytes
  urls = alloc(urlRoom + SLACK)
  if (!urls) urlRoom = 0
  return urls
}

let output: usize = 0
let outputRoom: usize = 0

/** Room for keys on their way out. */
export function reserveOutput(bytes: usize): usize {
  if (output && bytes <= outputRoom) return output
  release(output, outputRoom + SLACK)
  outputRoom = max(bytes, 64 << 10)
  output = alloc(outputRoom + SLACK)
  if (!output) outputRoom = 0
  return output
}
