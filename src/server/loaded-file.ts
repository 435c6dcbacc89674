// What a .sieve file that a client sent says of itself, before it is believed: whether it is of a kind that is served, and
// how much memory it will take.
import { closeSync, fstatSync } from 'node:fs'
import { SieveError } from '../errors.ts'
import { readLater } from '../store/file.ts'
import { CHUNK_HEADER_BYTES, decodeChunk } from '../store/format.ts'
import { Pace } from '../store/pace.ts'
import { openFile, readHeader } from '../store/snapshot.ts'
import { SIEVE_BYTES } from './growth.ts'
import { servedFilters } from './sieve-spec.ts'

/** Throws one line for anything but what BF.SCANDUMP gave. */
export async function memoryOfFile(path: string): Promise<number> {
  const fd = openFile(path)
  try {
    const { header, bytes } = readHeader(path, fd)
    const { filter, plan, shards, profile } = header
    const isServed = (servedFilters as readonly string[]).includes(filter)
    const unpacked = await unpackedBytes(path, fd, bytes)
    const isWhole = Array.isArray(shards) && shards.length <= 1 + unpacked / SIEVE_BYTES
    if (!isServed || !isWhole || profile?.name !== 'raw' || !(plan?.sizeBytes >= 0)) {
      throw new SieveError('corrupt', 'received bad data: expected what BF.SCANDUMP gave')
    }
    return Math.max(plan.sizeBytes, unpacked) + SIEVE_BYTES
  } finally {
    closeSync(fd)
  }
}

// The pieces with the zeros that are left out.
async function unpackedBytes(path: string, fd: number, from: number): Promise<number> {
  const head = Buffer.alloc(CHUNK_HEADER_BYTES)
  const fileBytes = fstatSync(fd).size
  const pace = new Pace()
  let total = 0
  for (let at = from; ; ) {
    await pace.rest()
    const chunk = decodeChunk(path, head.subarray(0, await readLater(fd, head, at)), at, fileBytes)
    if (chunk.isEnd) return total
    total += chunk.length + chunk.zeros
    at += CHUNK_HEADER_BYTES + chunk.length
  }
}
