// The integrity of a LevelDB folder. LevelDB, as built into classic-level, does not verify the checksums of tables it
// reads and silently skips damaged parts of a log: an exact sieve checks its files before LevelDB opens them.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { SieveError } from '../../errors.ts'
import { damaged } from '../../store/format.ts'
import { KiB, MOST_BUFFER_BYTES, readWhole } from '../../store/whole-file.ts'
import { checkBatch, checkLog, recordsOf } from './log.ts'
import { applyEdit, type LiveFiles, noFiles, readLiveFiles } from './manifest.ts'
import { checkTable } from './table.ts'

function checkRecords(path: string, bytes: Buffer, check: (record: Buffer) => void): void {
  for (const { payload } of recordsOf(bytes)) {
    try {
      check(payload)
    } catch (error) {
      throw damaged(path, 0, (error as Error).message)
    }
  }
}

const numberOf = (name: string) => Number.parseInt(name, 10)
const isTable = (name: string) => /\.(ldb|sst)$/.test(name)
const isLog = (name: string) => name.endsWith('.log')

// Missing files that LevelDB does not report: without CURRENT it creates a new database and removes all other files.
function missingIn(folder: string, names: readonly string[], live: LiveFiles | null): string[] {
  const missing = (name: string, why: string) => `${join(folder, name)} is missing: ${why}`
  if (!names.includes('CURRENT')) {
    const found = names.find((name) => isTable(name) || isLog(name))
    return found === undefined ? [] : [missing('CURRENT', `${found} holds keys`)]
  }
  const current = join(folder, 'CURRENT')
  if (!/^MANIFEST-\d+\n$/.test(readWhole(current, KiB).toString('latin1')))
    return [damaged(current, 0, 'it does not name a manifest').message]
  if (live === null) return []
  const have = (number: number, is: (name: string) => boolean) =>
    names.some((name) => is(name) && numberOf(name) === number)
  const padded = (number: number) => String(number).padStart(6, '0')
  const lost = [...live.tables].filter((number) => !have(number, isTable))
  const damages = lost.map((number) => missing(`${padded(number)}.ldb`, 'the manifest names it'))
  if (live.log > 0 && !have(live.log, isLog))
    damages.push(missing(`${padded(live.log)}.log`, 'the manifest names it'))
  return damages
}

/** What a check of a folder found. */
export interface Verification {
  /** Files that were read. */
  readonly files: number
  /** Their bytes. */
  readonly bytes: number
  /** One line per damaged or missing file; empty when there is none. */
  readonly damages: readonly string[]
}

/** Checks the logs and manifest of a LevelDB folder, and its tables if `tables`. Reads each file once, one at a time. */
export async function checkFolder(folder: string, tables: boolean): Promise<Verification> {
  let files = 0
  let bytes = 0
  const names = existsSync(folder) ? readdirSync(folder).sort() : []
  const live = readLiveFiles(folder)
  const damages = missingIn(folder, names, live)
  for (const name of names) {
    if (isTable(name) ? !tables : !isLog(name) && !name.startsWith('MANIFEST-')) continue
    if (isTable(name) && live && !live.tables.has(numberOf(name))) continue
    const path = join(folder, name)
    // Other work of this process goes on between two files.
    await new Promise(setImmediate)
    files++
    try {
      const content = readWhole(path, MOST_BUFFER_BYTES)
      bytes += content.length
      if (isTable(name)) checkTable(path, content)
      else {
        checkLog(path, content)
        checkRecords(path, content, isLog(name) ? checkBatch : (edit) => applyEdit(edit, noFiles()))
      }
    } catch (error) {
      const { message } = error as Error
      damages.push(error instanceof SieveError ? message : `${path}: ${message}`)
    }
  }
  return { files, bytes, damages }
}
