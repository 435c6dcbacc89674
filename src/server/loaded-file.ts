// Checks a .sieve file sent by a client before it is loaded: whether its filter is one that is served, and how much memory
// it will take.
import { closeSync, fstatSync } from 'node:fs'
import { SieveError } from '../errors.ts'
import { GENERATION_BYTES } from '../filters/generations.ts'
import { allKinds } from '../filters/registry.ts'
import { openFile, readLater } from '../store/file.ts'
import { CHUNK_HEADER_BYTES, decodeChunk } from '../store/format.ts'
import { Pace } from '../store/pace.ts'
import { readHeader, type SieveHeader } from '../store/snapshot.ts'
import { SIEVE_BYTES } from './growth.ts'
import { servedFilters } from './sieve-spec.ts'

/** A chunk's array is generation × 256 + the array within it. */
const GENERATION_ARRAYS = 256
/** The array of a generation with its size and, in 4 bytes each, the starts of its shards. */
const SIZE_ARRAY = GENERATION_ARRAYS - 1
const SIZE_BYTES = 16
const SHARD_BYTES = 4

/** The memory for a dump of BF.SCANDUMP. Throws a SieveError for any other file. */
export async function memoryOfFile(path: string): Promise<number> {
  const fd = openFile(path)
  try {
    const { header, bytes } = readHeader(path, fd)
    const { filter, plan, profile } = header
    const isServed = (servedFilters as readonly string[]).includes(filter)
    if (!isServed || profile.name !== 'raw' || profile.rules.length > 0) {
      throw new SieveError('corrupt', 'received bad data: expected a dump of BF.SCANDUMP')
    }
    const memory = await memoryOfChunks(path, fd, bytes, header)
    return Math.max(plan.sizeBytes, memory) + SIEVE_BYTES
  } finally {
    closeSync(fd)
  }
}

// The chunks with their omitted zeros, the directories of tables, and one kernel instance per shard and generation.
async function memoryOfChunks(path: string, fd: number, from: number, header: SieveHeader): Promise<number> {
  const head = Buffer.alloc(CHUNK_HEADER_BYTES)
  const fileBytes = fstatSync(fd).size
  const pace = new Pace()
  const inner = header.plan.shape?.inner
  const kind = allKinds.find(({ name }) => name === (inner ?? header.filter))
  const directories = new Map<string, number>()
  let total = 0
  for (let at = from; ; ) {
    await pace.rest()
    const chunk = decodeChunk(path, head.subarray(0, await readLater(fd, head, at)), at, fileBytes)
    if (chunk.isEnd) break
    total += chunk.length + chunk.zeros
    const generation = inner === undefined ? 0 : Math.floor(chunk.array / GENERATION_ARRAYS)
    const within = chunk.array % GENERATION_ARRAYS
    at += CHUNK_HEADER_BYTES + chunk.length
    if (inner !== undefined && within === SIZE_ARRAY) {
      total += (Math.max(0, chunk.length - SIZE_BYTES) / SHARD_BYTES) * GENERATION_BYTES
      continue
    }
    const instance = `${chunk.shard}/${generation}`
    const bytes = kind?.directoryBytes?.(within) ?? 0
    directories.set(instance, Math.max(directories.get(instance) ?? 0, bytes))
  }
  for (const bytes of directories.values()) total += bytes + GENERATION_BYTES
  return total
}
