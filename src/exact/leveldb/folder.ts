// The integrity of a LevelDB folder. LevelDB, as built into classic-level, does not verify the checksums of tables it
// reads and silently skips damaged parts of a log: an exact sieve checks its files before LevelDB opens them.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { SieveError } from '../../errors.ts'
import { readStored } from '../../store/file.ts'
import { damaged } from '../../store/format.ts'
import { KiB } from '../../store/whole-file.ts'
import { checkBatch, checkLog, recordsOf } from './log.ts'
import { applyEdit, checkOrder, type LiveFiles, noFiles, readLiveFiles } from './manifest.ts'
import { checkTable } from './table.ts'

// That the records of a log, or of a manifest, are what LevelDB relies on.
function checkRecords(path: string, bytes: Buffer, isLog: boolean): void {
  const live = noFiles()
  let sequence = 0
  try {
    for (const { payload } of recordsOf(bytes)) {
      if (isLog) sequence = checkBatch(payload, sequence)
      else applyEdit(payload, live)
    }
    checkOrder(live)
  } catch (error) {
    throw damaged(path, 0, (error as Error).message)
  }
}

const numberOf = (name: string) => Number.parseInt(name, 10)
const numbersIn = (live: LiveFiles) => new Set(Array.from(live.tables.values(), ({ number }) => number))
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
  if (!/^MANIFEST-\d+\n$/.test(readStored(current, KiB).toString('latin1')))
    return [damaged(current, 0, 'it does not name a manifest').message]
  if (live === null) return []
  const have = (number: number, is: (name: string) => boolean) =>
    names.some((name) => is(name) && numberOf(name) === number)
  const padded = (number: number) => String(number).padStart(6, '0')
  const lost = [...numbersIn(live)].filter((number) => !have(number, isTable))
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
  const tablesNamed = live && numbersIn(live)
  for (const name of names) {
    if (isTable(name) ? !tables : !isLog(name) && !name.startsWith('MANIFEST-')) continue
    if (isTable(name) && tablesNamed && !tablesNamed.has(numberOf(name))) continue
    const path = join(folder, name)
    // Other work of this process goes on between two files.
    await new Promise(setImmediate)
    try {
      const content = readStored(path)
      files++
      bytes += content.length
      if (isTable(name)) checkTable(path, content)
      else {
        checkLog(path, content)
        checkRecords(path, content, isLog(name))
      }
    } catch (error) {
      const { message } = error as Error
      damages.push(error instanceof SieveError ? message : `${path}: ${message}`)
    }
  }
  return { files, bytes, damages }
}
