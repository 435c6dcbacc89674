// A sieve as a .sieve file and back: its identity in the header, its filter's memory in chunks, its counts at the end.
// Written a piece at a time while adds go on: those are in the log as well. Read a piece at a time too.
import { closeSync, fstatSync } from 'node:fs'
import { resolveProfile, type StoredProfile } from '../canonical/profiles.ts'
import { SieveError } from '../errors.ts'
import type { Plan } from '../filters/filter.ts'
import { keptPromise } from '../filters/promise.ts'
import { filterKind } from '../filters/registry.ts'
import type { HashName } from '../hashes.ts'
import { makeSieve, type Sieve } from '../sieve.ts'
import type { AnySieveOptions } from '../sieve-options.ts'
import { type Saved, type SieveState, STATE } from '../state.ts'
import { AtomicFile, openFile, readFully, readLater, syncLater, writeFully, writeLater } from './file.ts'
import {
  CHUNK_HEADER_BYTES,
  checkPayload,
  damaged,
  decodeChunk,
  decodeHeader,
  encodeEnd,
  encodeHeader,
  encodePiece,
  encodeZeros,
  headerBytes,
  PREFIX_BYTES,
  SPARSE_VERSION,
  VERSION,
} from './format.ts'
import { asDamage, checkEnd, checkHeader, checkSavable, parseJson } from './header-check.ts'
import { diskError } from './log.ts'
import { Pace } from './pace.ts'

/** The header's JSON. */
export interface SieveHeader {
  readonly filter: string
  readonly plan: Plan
  readonly profile: StoredProfile
  readonly hash: { readonly names: readonly HashName[]; readonly key: string }
  /** The first 32 bits of the first hash of each shard. */
  readonly shards: readonly number[]
  /** The store keeps the keys themselves. */
  readonly keepKeys?: boolean
  /** The keys of logs before this number were cleared. */
  readonly keysFrom?: number
  /** The snapshot of a store whose log of the same number was begun before: without that log it is not whole. */
  readonly hasLog?: boolean
}

/** The end's JSON. */
export interface SieveCounts {
  readonly urls: number
  /** Filters of bits were merged. */
  readonly urlsEstimated?: boolean
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
export function headerOf(
  state: SieveState,
  { keepKeys = false, keysFrom = 0, hasLog = false }: Kept = {},
): SieveHeader {
  checkSavable(state.profile)
  if (typeof state.plan.shape?.features === 'function') {
    throw new SieveError('option', 'the feature function is one of yours: a file cannot hold it')
  }
  const { noPromise: _, ...plan } = state.plan
  return {
    filter: state.kind.name,
    plan,
    profile: { name: state.profile.name, rules: state.profile.rules.map((rule) => rule.name) },
    hash: { names: state.hash.names, key: Buffer.from(state.hash.key).toString('hex') },
    shards: state.shards.all.map((shard) => shard.from),
    ...(keepKeys && { keepKeys }),
    ...(keepKeys && keysFrom > 0 && { keysFrom }),
    ...(hasLog && { hasLog }),
  }
}

/** What a sieve has counted. */
export type Totals = Omit<SieveCounts, 'counts' | 'chunks'>

export function totalsOf(state: SieveState): Totals {
  const { remembered: urls, seen, invalid, urlsEstimated } = state
  return { urls, seen, invalid, ...(urlsEstimated && { urlsEstimated }) }
}

/** A sieve as it is to be written: what is fixed at the moment the writing begins, and the chunks, one at a time. */
interface Draft {
  readonly header: SieveHeader
  /** Header and payload of every chunk, the payload a view that is valid until the next is read. */
  readonly chunks: Generator<[Buffer, Uint8Array]>
  /** The last chunk. */
  end(): Buffer
  /** The header in the version that the chunks given need, when it is not the first. */
  newHeader(): Buffer | null
}

// The counts are those of this moment; what is added while the chunks are written may be in them or not.
function draftOf(state: SieveState, kept: Kept): Draft {
  const { totals = totalsOf(state) } = kept
  const header = headerOf(state, kept)
  const shards = [...state.shards.all]
  const counts = shards.map(({ filter }) => filter.counts?.() ?? [])
  let chunks = 0
  let version = VERSION
  function* chunksOf(): Generator<[Buffer, Uint8Array]> {
    for (const [shard, { filter }] of shards.entries()) {
      for (const { array, offset, bytes, zeros = 0, version: needed = VERSION } of filter.pieces()) {
        chunks++
        version = Math.max(version, needed, zeros > 0 ? SPARSE_VERSION : VERSION)
        yield zeros > 0
          ? [encodeZeros(shard, array, offset, zeros), bytes]
          : [encodePiece(shard, array, offset, bytes), bytes]
      }
    }
  }
  return {
    header,
    chunks: chunksOf(),
    end: () => encodeEnd({ ...totals, counts, chunks }),
    newHeader: () => (version > VERSION ? encodeHeader(header, version) : null),
  }
}

/** What a file holds besides its filter. */
export interface Kept {
  readonly keepKeys?: boolean | undefined
  readonly keysFrom?: number | undefined
  readonly hasLog?: boolean | undefined
  /** The counts that go with the filter; those of the moment unless given. */
  readonly totals?: Totals
}

/** Writes a sieve to a file, in one go: nothing else happens in this process meanwhile. */
export function writeSieveNow(path: string, state: SieveState, kept: Kept = {}): void {
  const draft = draftOf(state, kept)
  const file = new AtomicFile(path)
  try {
    writeFully(file.fd, encodeHeader(draft.header))
    for (const [head, payload] of draft.chunks) {
      writeFully(file.fd, head)
      writeFully(file.fd, payload)
    }
    writeFully(file.fd, draft.end())
    const header = draft.newHeader()
    if (header) writeFully(file.fd, header, 0)
    file.commit()
  } catch (error) {
    file.abandon()
    throw error instanceof SieveError ? error : diskError(path, error)
  }
}

/** What is written before the disk is waited for: so that a sync of another file has little to wait for. */
const SYNC_BYTES = 16 * 1024 * 1024

/**
 * Writes a sieve to a file a piece at a time, while it goes on taking URLs. What is added or deleted meanwhile may be in
 * the file or not, and is not in its counts. Together with a log that was begun before, the file is right by construction:
 * bits are only ever set, a segment of a table is written whole, and replaying what is there already changes nothing.
 * Where the sieve was spread again or cleared meanwhile the writing begins again. False: `isWanted`, or `isReady` immediately before the
 * file gets its name, gave it up.
 */
export async function writeSieve(
  path: string,
  state: SieveState,
  kept: Kept = {},
  isWanted: () => boolean = () => true,
  isReady = isWanted,
): Promise<boolean> {
  const pace = new Pace()
  for (;;) {
    while (state.shards.moveSome()) await pace.rest()
    const { shards } = state
    const { divisions } = shards
    const isSame = () => state.shards === shards && shards.divisions === divisions
    const wanted = { isWanted: () => isWanted() && isSame(), isReady: () => isSame() && isReady() }
    if (await writeDraft(path, draftOf(state, kept), wanted)) return true
    if (!isWanted()) return false
  }
}

async function writeDraft(
  path: string,
  draft: Draft,
  { isWanted, isReady }: { isWanted(): boolean; isReady(): boolean },
): Promise<boolean> {
  const file = new AtomicFile(path)
  try {
    const pace = new Pace()
    // The first chunk is asked for before anything can be added: some filters are written as they are at that moment.
    let waiting = [encodeHeader(draft.header)]
    let unsynced = 0
    for (const [head, payload] of draft.chunks) {
      waiting.push(head)
      if (payload.length === 0 && !pace.isOver) continue
      const bytes = Buffer.concat([...waiting, payload])
      waiting = []
      await writeLater(file.fd, bytes)
      pace.begin()
      unsynced += bytes.length
      if (unsynced >= SYNC_BYTES) {
        await syncLater(file.fd)
        unsynced = 0
      }
      if (!isWanted()) break
    }
    if (isWanted()) {
      await writeLater(file.fd, Buffer.concat([...waiting, draft.end()]))
      const header = draft.newHeader()
      if (header) await writeLater(file.fd, header, 0)
      if (await file.commitLater(isReady)) return true
    }
    await file.abandonLater()
    return false
  } catch (error) {
    await file.abandonLater()
    throw error instanceof SieveError ? error : diskError(path, error)
  }
}

/** The identity of the sieve that a header describes. */
export function savedOf(header: SieveHeader): Saved {
  const known = resolveProfile(header.profile.rules as never)
  const kind = filterKind(header.filter)
  return {
    kind,
    // Earlier versions promised what these cannot keep.
    plan: keptPromise(kind, header.plan, header.hash.names),
    profile: { ...known, name: header.profile.name },
    hash: { names: header.hash.names, key: new Uint8Array(Buffer.from(header.hash.key, 'hex')) },
    froms: header.shards,
  }
}

/** Reads and checks the header of a file. */
export function readHeader(path: string, fd: number): { header: SieveHeader; bytes: number } {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  const all = Buffer.alloc(headerBytes(path, prefix.subarray(0, readFully(fd, prefix, 0))))
  if (readFully(fd, all, 0) < all.length) throw damaged(path, all.length, 'the file ends in its header')
  const json = parseJson(path, PREFIX_BYTES, decodeHeader(path, all))
  return { header: checkHeader(path, json, fstatSync(fd).size), bytes: all.length }
}

/** A sieve from a file: one pass, each piece read straight into the kernel's memory, other work done between. */
export async function readSieve(
  path: string,
  options: Pick<AnySieveOptions, 'instanceBytes'> = {},
): Promise<{ sieve: Sieve; file: SavedFile }> {
  const fd = openFile(path)
  try {
    const { header, bytes } = readHeader(path, fd)
    const sieve = await makeSieve(options, savedOf(header))
    const state = sieve[STATE]
    const shards = state.shards.all
    const head = Buffer.alloc(CHUNK_HEADER_BYTES)
    const pace = new Pace()
    const fileBytes = fstatSync(fd).size
    let at = bytes
    let chunks = 0
    for (;;) {
      await pace.rest()
      const chunk = decodeChunk(path, head.subarray(0, readFully(fd, head, at)), at, fileBytes)
      at += CHUNK_HEADER_BYTES
      if (chunk.isEnd) {
        const json = Buffer.alloc(chunk.length)
        checkPayload(path, chunk, json.subarray(0, readFully(fd, json, at)), at)
        const counts = checkEnd(path, parseJson(path, at, json.toString()), shards.length, at)
        if (counts.chunks !== chunks) throw damaged(path, at, `${chunks} chunks, expected ${counts.chunks}`)
        for (const [i, shard] of shards.entries()) {
          asDamage(path, at, () => shard.filter.restored(counts.counts[i]!))
          shard.kernel.refresh()
        }
        state.urls = counts.urls
        state.urlsEstimated = counts.urlsEstimated ?? false
        state.seen = counts.seen
        state.invalid = counts.invalid
        return { sieve, file: { header, counts, bytes: at + chunk.length } }
      }
      const shard = shards[chunk.shard]
      if (!shard) throw damaged(path, at, `a chunk of shard ${chunk.shard}: there are ${shards.length}`)
      chunks++
      try {
        if (chunk.zeros > 0) {
          if (!shard.filter.placeZeros) throw new RangeError(`no zeros are expected in array ${chunk.array}`)
          shard.filter.placeZeros(chunk.array, chunk.offset, chunk.zeros)
          continue
        }
        const target = shard.filter.place(chunk.array, chunk.offset, chunk.length)
        checkPayload(path, chunk, target.subarray(0, await readLater(fd, target, at)), at)
        shard.filter.placed?.(chunk.array, chunk.offset, target)
      } catch (error) {
        if (error instanceof RangeError) throw damaged(path, at, error.message)
        throw error
      }
      at += chunk.length
    }
  } finally {
    closeSync(fd)
  }
}
