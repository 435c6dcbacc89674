// A sieve as a .sieve file and back: its identity in the header, its filter's memory in chunks, its counts at the end.
// Written at once, or in the background a piece at a time while adds go on: those are in the log as well.
import { closeSync, fsync, openSync, write } from 'node:fs'
import { promisify } from 'node:util'
import { resolveProfile } from '../canonical/profiles.ts'
import { rules } from '../canonical/rules.ts'
import { SieveError } from '../errors.ts'
import type { Plan } from '../filters/filter.ts'
import { filterKind } from '../filters/registry.ts'
import type { HashName } from '../hashes.ts'
import { makeSieve, type Sieve, type SieveOptions } from '../sieve.ts'
import { type Saved, type SieveState, STATE } from '../state.ts'
import { AtomicFile, readFully, writeFully } from './file.ts'
import {
  CHUNK_HEADER_BYTES,
  checkPayload,
  damaged,
  decodeChunk,
  decodeHeader,
  encodeEnd,
  encodeHeader,
  encodePiece,
  headerBytes,
  PREFIX_BYTES,
} from './format.ts'
import { diskError } from './log.ts'

/** The header's JSON. */
export interface SieveHeader {
  readonly filter: string
  readonly plan: Plan
  readonly profile: { readonly name: string; readonly rules: readonly string[] }
  readonly hash: { readonly names: readonly HashName[]; readonly key: string }
  /** The first 32 bits of the first hash of each shard. */
  readonly shards: readonly number[]
  /** The store keeps the keys themselves. */
  readonly keepKeys?: boolean
  /** The keys of logs before this number were cleared. */
  readonly keysFrom?: number
}

/** The end's JSON. */
export interface SieveCounts {
  readonly urls: number
  readonly seen: number
  readonly invalid: number
  /** Of each shard: counts that are not in its memory. */
  readonly counts: readonly (readonly number[])[]
  readonly chunks: number
}

export interface SavedFile {
  readonly header: SieveHeader
  readonly counts: SieveCounts
  readonly bytes: number
}

/** The header of a sieve; refuses what a file cannot hold: rules or feature functions of the user's own. */
export function headerOf(state: SieveState, keepKeys = false, keysFrom = 0): SieveHeader {
  const own = state.profile.rules.find((rule) => (rules as Record<string, unknown>)[rule.name] !== rule)
  if (own) throw new SieveError('option', `rule '${own.name}' is a function of yours: a file cannot hold it`)
  if (typeof state.plan.shape?.features === 'function') {
    throw new SieveError('option', 'the feature function is one of yours: a file cannot hold it')
  }
  return {
    filter: state.kind.name,
    plan: state.plan,
    profile: { name: state.profile.name, rules: state.profile.rules.map((rule) => rule.name) },
    hash: { names: state.hash.names, key: Buffer.from(state.hash.key).toString('hex') },
    shards: state.shards.all.map((shard) => shard.from),
    ...(keepKeys && { keepKeys }),
    ...(keepKeys && keysFrom > 0 && { keysFrom }),
  }
}

/** What a sieve has counted. */
export type Totals = Omit<SieveCounts, 'counts' | 'chunks'>

export function totalsOf(state: SieveState): Totals {
  return { urls: state.urls, seen: state.seen, invalid: state.invalid }
}

// Header and payload of every chunk, the payload a view that is good until the next is asked for.
function* chunksOf(state: SieveState): Generator<[Buffer, Uint8Array]> {
  for (const [shard, { filter }] of state.shards.all.entries()) {
    for (const { array, offset, bytes } of filter.pieces()) {
      yield [encodePiece(shard, array, offset, bytes), bytes]
    }
  }
}

function endOf(state: SieveState, totals: Totals, chunks: number): Buffer {
  return encodeEnd({
    ...totals,
    counts: state.shards.all.map(({ filter }) => filter.counts?.() ?? []),
    chunks,
  })
}

/** Writes a sieve to a file, at once. */
export function writeSieve(path: string, state: SieveState, keepKeys = false, keysFrom = 0): void {
  const header = encodeHeader(headerOf(state, keepKeys, keysFrom))
  const file = new AtomicFile(path)
  try {
    writeFully(file.fd, header)
    let chunks = 0
    for (const [head, payload] of chunksOf(state)) {
      writeFully(file.fd, head)
      writeFully(file.fd, payload)
      chunks++
    }
    writeFully(file.fd, endOf(state, totalsOf(state), chunks))
    file.commit()
  } catch (error) {
    file.abandon()
    throw error instanceof SieveError ? error : diskError(path, error)
  }
}

const someLater = promisify(write)
const syncLater = promisify(fsync)

async function writeLater(fd: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await someLater(fd, bytes, at)).bytesWritten
}

/**
 * Writes a sieve to a file while it goes on taking URLs: what is added meanwhile may be in it or not, and is not in
 * `totals`: the log counts it. False when it was
 * given up, because the sieve was spread anew, cleared, or `isWanted` said so.
 */
export async function writeSieveLater(
  path: string,
  state: SieveState,
  keepKeys: boolean,
  keysFrom: number,
  totals: Totals,
  isWanted: () => boolean,
): Promise<boolean> {
  const { shards } = state
  const spread = shards.count
  const header = encodeHeader(headerOf(state, keepKeys, keysFrom))
  const file = new AtomicFile(path)
  const isSame = () => isWanted() && state.shards === shards && shards.count === spread
  try {
    // The first chunk is had before anything can be added: some filters are written as they are at that moment.
    let bytes = [header]
    let chunks = 0
    for (const chunk of chunksOf(state)) {
      await writeLater(file.fd, Buffer.concat([...bytes, ...chunk]))
      bytes = []
      chunks++
      if (!isSame()) break
    }
    if (chunks === 0) await writeLater(file.fd, header)
    const isWhole = isSame()
    if (isWhole) {
      await writeLater(file.fd, endOf(state, totals, chunks))
      await syncLater(file.fd)
    }
    if (!isWhole || !isWanted()) {
      file.abandon()
      return false
    }
    file.commit()
    return true
  } catch (error) {
    file.abandon()
    throw error instanceof SieveError ? error : diskError(path, error)
  }
}

/** What a header says, as what a sieve is made of. */
export function savedOf(header: SieveHeader): Saved {
  const known = resolveProfile(header.profile.rules as never)
  return {
    kind: filterKind(header.filter),
    plan: header.plan,
    profile: { ...known, name: header.profile.name },
    hash: { names: header.hash.names, key: new Uint8Array(Buffer.from(header.hash.key, 'hex')) },
    froms: header.shards,
  }
}

/** Reads the header of a file. */
export function readHeader(path: string, fd: number): { header: SieveHeader; bytes: number } {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  const all = Buffer.alloc(headerBytes(path, prefix.subarray(0, readFully(fd, prefix, 0))))
  if (readFully(fd, all, 0) < all.length) throw damaged(path, all.length, 'the file ends in its header')
  return { header: decodeHeader(path, all) as SieveHeader, bytes: all.length }
}

/** Opens a file to read; one line when that cannot be. */
export function openFile(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new SieveError('disk', `cannot read ${path}: ${code === 'ENOENT' ? 'no such file' : message}`)
  }
}

/** A sieve from a file: one pass, each piece read straight into the kernel's memory. */
export async function readSieve(
  path: string,
  options: SieveOptions = {},
): Promise<{ sieve: Sieve; file: SavedFile }> {
  const fd = openFile(path)
  try {
    const { header, bytes } = readHeader(path, fd)
    const sieve = await makeSieve(options, savedOf(header))
    const state = sieve[STATE]
    const shards = state.shards.all
    const head = Buffer.alloc(CHUNK_HEADER_BYTES)
    let at = bytes
    let chunks = 0
    for (;;) {
      const chunk = decodeChunk(path, head.subarray(0, readFully(fd, head, at)), at)
      at += CHUNK_HEADER_BYTES
      if (chunk.isEnd) {
        const json = Buffer.alloc(chunk.length)
        checkPayload(path, chunk, json.subarray(0, readFully(fd, json, at)), at)
        const counts = JSON.parse(json.toString()) as SieveCounts
        if (counts.chunks !== chunks) throw damaged(path, at, `${chunks} chunks, expected ${counts.chunks}`)
        for (const [i, shard] of shards.entries()) {
          shard.filter.restored(counts.counts[i] ?? [])
          shard.kernel.refresh()
        }
        state.urls = counts.urls
        state.seen = counts.seen
        state.invalid = counts.invalid
        return { sieve, file: { header, counts, bytes: at + chunk.length } }
      }
      const shard = shards[chunk.shard]
      if (!shard) throw damaged(path, at, `a chunk of shard ${chunk.shard}: there are ${shards.length}`)
      let room: Uint8Array
      try {
        room = shard.filter.place(chunk.array, chunk.offset, chunk.length)
      } catch (error) {
        if (error instanceof RangeError) throw damaged(path, at, error.message)
        throw error
      }
      checkPayload(path, chunk, room.subarray(0, readFully(fd, room, at)), at)
      shard.filter.placed?.(chunk.array, chunk.offset, room)
      at += chunk.length
      chunks++
    }
  } finally {
    closeSync(fd)
  }
}
