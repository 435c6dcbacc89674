// The hashes of a store, one block after another: to export them, or to merge stores.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { SieveError } from '../errors.ts'
import { compileKernel, Kernel } from '../kernel.ts'
import { diskError, draftOf, syncFolder } from '../store/file.ts'
import { damaged } from '../store/format.ts'
import { DiskStore } from './disk-store.ts'
import { createStore } from './manifest.ts'
import { PendingTable } from './pending-table.ts'
import { allocate, BLOCK_HASHES, type Run } from './run.ts'
import { RunFilters } from './run-filters.ts'
import { BLOCK_BYTES, HEADER_BYTES } from './run-header.ts'
import { RunSet } from './run-set.ts'
import { ReadAhead } from './sequential.ts'

/** Hashes in memory while stores are merged. */
const MERGE_HASHES = 8_000_000
/** Memory for the filters of the result's runs. */
const MERGE_FILTER_BYTES = 64 * 1024 ** 2

/** The hashes of a run, ascending. */
export async function* hashesOfRun(
  run: Run,
  kernel: Kernel,
  blockAt: number,
  to: number,
): AsyncGenerator<BigUint64Array> {
  const { fd, path } = run.file
  const end = HEADER_BYTES + run.header.blocks * BLOCK_BYTES
  const reader = new ReadAhead(fd, path, HEADER_BYTES, end)
  try {
    for (let at = HEADER_BYTES; at < end; at += BLOCK_BYTES) {
      const got = await reader.fill(kernel.bytes.subarray(blockAt, blockAt + BLOCK_BYTES))
      const count = got === BLOCK_BYTES ? kernel.call.runDecode(blockAt, to) : 0
      if (count === 0) throw damaged(path, at, 'a block does not match its checksum')
      yield new BigUint64Array(kernel.bytes.buffer, to, count).slice()
    }
  } finally {
    await reader.end()
  }
}

/** All hashes of a store: ascending within each run, then those of its log. */
export async function* storedHashes(folder: string): AsyncGenerator<BigUint64Array> {
  const kernel = Kernel.create(await compileKernel())
  const blockAt = allocate(kernel, BLOCK_BYTES)
  const to = allocate(kernel, BLOCK_HASHES * 8)
  const store = DiskStore.open(folder, { readOnly: true })
  try {
    for (const run of store.runs) yield* hashesOfRun(run, kernel, blockAt, to)
    const logged: BigUint64Array[] = []
    store.readLog((some) => logged.push(some))
    yield* logged
  } finally {
    for (const run of store.runs) run.close()
    store.close()
  }
}

/**
 * Writes a store that has the hashes of all these: whole, or not at all. They must have the same rules and the same secret
 * key. Returns how many it has.
 */
export async function mergeStores(folders: readonly string[], output: string): Promise<number> {
  if (existsSync(output)) throw new SieveError('option', `${output} is there already: expected a new folder`)
  const draft = draftOf(output)
  try {
    const hashes = await mergeInto(draft, folders)
    renameSync(draft, output)
    syncFolder(dirname(output))
    return hashes
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error instanceof SieveError ? error : diskError(output, error)
  }
}

async function mergeInto(output: string, folders: readonly string[]): Promise<number> {
  createStore(output, folders)
  const kernel = Kernel.create(await compileKernel())
  const table = new PendingTable(kernel, MERGE_HASHES)
  const store = DiskStore.open(output)
  const set = new RunSet(kernel, store, store.id, store.runs, new RunFilters(MERGE_FILTER_BYTES))
  const keep = async () => {
    await set.compare()
    const run = await set.write()
    if (run) set.runs.push(run)
    table.clear()
    for (let some = set.mergeable; some; some = set.mergeable) set.replace(some, await set.merge(some))
    store.commit(set.runs, false)
  }
  try {
    for (const folder of folders) {
      for await (const hashes of storedHashes(folder)) {
        for (let at = 0; at < hashes.length; at += kernel.batchLines) {
          const some = hashes.subarray(at, at + kernel.batchLines)
          if (table.capacity - table.count < some.length) await keep()
          kernel.hashes.set(some)
          table.add(some.length)
        }
      }
    }
    await keep()
    return set.hashes
  } catch (error) {
    if (error instanceof RangeError) throw new SieveError('memory', error.message)
    throw error
  } finally {
    set.close()
    store.close()
  }
}
