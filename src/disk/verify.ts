// Checks every byte of a disk sieve's folder: the manifest, each block and the filter of each run, the log and the counts. Repair
// leaves out what is damaged: its URLs are new again.
import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { SieveError } from '../errors.ts'
import { compileKernel, Kernel } from '../kernel.ts'
import { COUNTS, checkCounts, dropDamagedCounts } from '../store/counts.ts'
import { writeFully } from '../store/file.ts'
import { damaged } from '../store/format.ts'
import { logName } from '../store/layout.ts'
import { takeLock } from '../store/lock.ts'
import { Log, readLog } from '../store/log.ts'
import type { FileReport } from '../store/verify.ts'
import { MANIFEST, type Manifest, readManifest, runName, writeManifest } from './manifest.ts'
import { allocate, BLOCK_HASHES, Run, RunBuffers } from './run.ts'
import { FilterPages, RunFilter } from './run-filter.ts'
import { hashesOfRun } from './run-hashes.ts'
import { BLOCK_BYTES, encodeRunHeader, filterAt } from './run-header.ts'

class RunChecks {
  readonly #buffers: RunBuffers
  readonly #blockAt: number
  readonly #decodedAt: number
  /** Without a limit: a filter was in memory when it was made. */
  readonly #pages = new FilterPages(Number.POSITIVE_INFINITY)

  constructor(kernel: Kernel) {
    this.#buffers = new RunBuffers(kernel)
    this.#blockAt = allocate(kernel, BLOCK_BYTES)
    this.#decodedAt = allocate(kernel, BLOCK_HASHES * 8)
  }

  /** Every block. Throws what is wrong. */
  async checkBlocks(run: Run): Promise<void> {
    await run.scan(this.#buffers, 'check')
  }

  /** That the filter has every hash. Throws what is wrong; the hashes are all there. */
  async checkFilter(run: Run): Promise<void> {
    const blocks = run.header.filterBlocks
    if (blocks === 0) return
    const filter = RunFilter.create(blocks, this.#pages)
    if (!filter) throw new SieveError('memory', `no memory left for the filter of ${run.file.path}`)
    run.readFilter(filter)
    for await (const hashes of hashesOfRun(run, this.#buffers.kernel, this.#blockAt, this.#decodedAt)) {
      if (!filter.mayHaveAll(new Uint32Array(hashes.buffer, hashes.byteOffset, 2 * hashes.length))) {
        throw damaged(run.file.path, filterAt(run.header), 'its filter lacks a hash of the run')
      }
    }
  }
}

async function verifyRun(folder: string, file: string, set: bigint, checks: RunChecks): Promise<FileReport> {
  const path = join(folder, file)
  const bytes = existsSync(path) ? statSync(path).size : 0
  try {
    const run = Run.open(path, set)
    try {
      await checks.checkBlocks(run)
      const report = { file, bytes, parts: run.header.blocks, urls: run.header.hashes }
      const trouble = await checks.checkFilter(run).then(
        () => [],
        (error: unknown) => [messageOf(error)],
      )
      return { ...report, damage: trouble }
    } finally {
      run.close()
    }
  } catch (error) {
    return { file, bytes, parts: 0, urls: null, damage: [messageOf(error)] }
  }
}

// What was there is left for the next opening to remove.
function copyWithoutFilter(path: string, copy: string): void {
  const run = Run.open(path)
  run.close()
  copyFileSync(path, copy)
  truncateSync(copy, filterAt(run.header))
  const fd = openSync(copy, 'r+')
  try {
    writeFully(fd, encodeRunHeader({ ...run.header, filterBlocks: 0, filterChecksum: 0 }), 0)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function verifyLog(folder: string, file: string): FileReport {
  const path = join(folder, file)
  const bytes = existsSync(path) ? statSync(path).size : 0
  let urls = 0
  try {
    const { records } = readLog(path, ({ entries }) => {
      urls += entries
    })
    return { file, bytes, parts: records, urls, damage: [] }
  } catch (error) {
    return { file, bytes, parts: 0, urls: null, damage: [messageOf(error)] }
  }
}

function verifyCounts(folder: string): FileReport[] {
  const path = join(folder, COUNTS)
  if (!existsSync(path)) return []
  const report = { file: COUNTS, bytes: statSync(path).size, parts: 2, urls: null }
  try {
    checkCounts(folder)
    return [{ ...report, damage: [] }]
  } catch (error) {
    return [{ ...report, damage: [messageOf(error)] }]
  }
}

function messageOf(error: unknown): string {
  if (error instanceof SieveError) return error.message
  throw error
}

/** One report per file. Throws where the manifest itself is damaged: without it nothing can be read. */
export async function verifyDisk(folder: string): Promise<FileReport[]> {
  const manifest = readManifest(folder)
  const checks = new RunChecks(Kernel.create(await compileKernel()))
  const reports: FileReport[] = [
    { file: MANIFEST, bytes: statSync(join(folder, MANIFEST)).size, parts: 1, urls: null, damage: [] },
  ]
  const set = BigInt(`0x${manifest.set}`)
  for (const number of manifest.runs) reports.push(await verifyRun(folder, runName(number), set, checks))
  reports.push(verifyLog(folder, logName(manifest.log)), ...verifyCounts(folder))
  return reports
}

/** The same, and leaves out what is damaged. A run whose filter alone is damaged is kept without it. */
export async function repairDisk(folder: string): Promise<FileReport[]> {
  const release = takeLock(join(folder, 'lock'))
  try {
    const reports = await verifyDisk(folder)
    const isDamaged = (file: string) => reports.some((one) => one.file === file && one.damage.length > 0)
    const manifest = readManifest(folder)
    const isLost = (file: string) => reports.some((one) => one.file === file && one.urls === null)
    let next = Math.max(0, ...manifest.runs) + 1
    const runs = manifest.runs
      .filter((number) => !isLost(runName(number)))
      .map((number) => {
        if (!isDamaged(runName(number))) return number
        copyWithoutFilter(join(folder, runName(number)), join(folder, runName(next)))
        return next++
      })
    let { log } = manifest
    if (isDamaged(logName(log))) new Log(join(folder, logName(++log))).close()
    const repaired: Manifest = { ...manifest, runs, log }
    if (!isDeepStrictEqual(runs, manifest.runs) || log !== manifest.log) writeManifest(folder, repaired)
    dropDamagedCounts(folder)
    return reports
  } finally {
    release()
  }
}
