// Checks every byte of a disk sieve's folder: the manifest, each block of each run, the log and the counts. Repair leaves out what
// is damaged: its URLs are new again.
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SieveError } from '../errors.ts'
import { compileKernel, Kernel } from '../kernel.ts'
import { COUNTS, dropDamagedCounts, readCounts } from '../store/counts.ts'
import { logName } from '../store/layout.ts'
import { takeLock } from '../store/lock.ts'
import { Log, readLog } from '../store/log.ts'
import type { FileReport } from '../store/verify.ts'
import { MANIFEST, type Manifest, readManifest, runName, writeManifest } from './manifest.ts'
import { Run, RunBuffers } from './run.ts'

async function verifyRun(
  folder: string,
  file: string,
  set: bigint,
  buffers: RunBuffers,
): Promise<FileReport> {
  const path = join(folder, file)
  const bytes = existsSync(path) ? statSync(path).size : 0
  try {
    const run = Run.open(path, set)
    try {
      await run.scan(buffers, 'check')
    } finally {
      run.close()
    }
    return { file, bytes, parts: run.header.blocks, urls: run.header.hashes, damage: [] }
  } catch (error) {
    return { file, bytes, parts: 0, urls: null, damage: [messageOf(error)] }
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
    readCounts(folder)
    return [{ ...report, damage: [] }]
  } catch (error) {
    return [{ ...report, damage: [messageOf(error)] }]
  }
}

function messageOf(error: unknown): string {
  if (error instanceof SieveError || (error as NodeJS.ErrnoException).code) return (error as Error).message
  throw error
}

/** One report per file. Throws where the manifest itself is damaged: without it nothing can be read. */
export async function verifyDisk(folder: string): Promise<FileReport[]> {
  const manifest = readManifest(folder)
  const buffers = new RunBuffers(Kernel.create(await compileKernel()))
  const reports: FileReport[] = [
    { file: MANIFEST, bytes: statSync(join(folder, MANIFEST)).size, parts: 1, urls: null, damage: [] },
  ]
  const set = BigInt(`0x${manifest.set}`)
  for (const number of manifest.runs) reports.push(await verifyRun(folder, runName(number), set, buffers))
  reports.push(verifyLog(folder, logName(manifest.log)), ...verifyCounts(folder))
  return reports
}

/** The same, and leaves out what is damaged. */
export async function repairDisk(folder: string): Promise<FileReport[]> {
  const release = takeLock(join(folder, 'lock'))
  try {
    const reports = await verifyDisk(folder)
    const isDamaged = (file: string) => reports.some((one) => one.file === file && one.damage.length > 0)
    const manifest = readManifest(folder)
    const runs = manifest.runs.filter((number) => !isDamaged(runName(number)))
    let { log } = manifest
    if (isDamaged(logName(log))) new Log(join(folder, logName(++log))).close()
    const repaired: Manifest = { ...manifest, runs, log }
    if (runs.length < manifest.runs.length || log !== manifest.log) writeManifest(folder, repaired)
    dropDamagedCounts(folder)
    return reports
  } finally {
    release()
  }
}
