// What a .sieve file that a client sent says of itself, before it is believed: whether it is of a kind that is served, and
// how much memory it will take.
import { closeSync, fstatSync } from 'node:fs'
import { SieveError } from '../errors.ts'
import { GENERATION_BYTES } from '../filters/generations.ts'
import { readLater } from '../store/file.ts'
import { CHUNK_HEADER_BYTES, decodeChunk } from '../store/format.ts'
import { Pace } from '../store/pace.ts'
import { openFile, readHeader, type SieveHeader } from '../store/snapshot.ts'
import { SIEVE_BYTES } from './growth.ts'
import { servedFilters } from './sieve-spec.ts'

/** A piece's array is a generation times this, plus the array within it: of a table the bits of its directory. */
const GENERATION_ARRAYS = 256
const MOST_DIRECTORY_BITS = 27
/** The array of a generation that says how large it is, and in 4 bytes for each where its shards begin. */
const SIZE_ARRAY = GENERATION_ARRAYS - 1
const SIZE_BYTES = 16
const SHARD_BYTES = 4

/** Throws one line for anything but what BF.SCANDUMP gave. */
export async function memoryOfFile(path: string): Promise<number> {
  const fd = openFile(path)
  try {
    const { header, bytes } = readHeader(path, fd)
    const { filter, plan, profile } = header
    const isServed = (servedFilters as readonly string[]).includes(filter)
    if (!isServed || profile.name !== 'raw' || profile.rules.length > 0) {
      throw new SieveError('corrupt', 'received bad data: expected what BF.SCANDUMP gave')
    }
    const memory = await memoryOfPieces(path, fd, bytes, header)
    return Math.max(plan.sizeBytes, memory) + SIEVE_BYTES
  } finally {
    closeSync(fd)
  }
}

// The pieces with the zeros that are left out, the directories of tables, and an instance for each shard and generation.
async function memoryOfPieces(path: string, fd: number, from: number, header: SieveHeader): Promise<number> {
  const head = Buffer.alloc(CHUNK_HEADER_BYTES)
  const fileBytes = fstatSync(fd).size
  const pace = new Pace()
  const inner = header.plan.shape?.inner
  const isTable = header.filter === 'fingerprint' || inner === 'fingerprint'
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
    const bytes = isTable ? 4 * 2 ** Math.min(within, MOST_DIRECTORY_BITS) : 0
    directories.set(instance, Math.max(directories.get(instance) ?? 0, bytes))
  }
  for (const bytes of directories.values()) total += bytes + GENERATION_BYTES
  return total
}
