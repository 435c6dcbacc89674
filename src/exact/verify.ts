// Verification of an exact sieve's folder: LevelDB's files, and that a saved filter has the keys it was built from.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { checkFolder, type Verification } from './leveldb/folder.ts'

/** Checks every file of an exact sieve's folder. The sieve should not be open. */
export async function verifyExact(folder: string): Promise<Verification> {
  const found = await checkFolder(join(folder, 'keys'), true)
  const missing = missingKeys(folder)
  return missing === null || found.damages.length > 0
    ? found
    : { ...found, damages: [...found.damages, missing] }
}

/** The error for a saved filter whose keys are missing; null when they are there. */
export function missingKeys(folder: string): string | null {
  if (existsSync(join(folder, 'keys', 'CURRENT')) || !existsSync(folder)) return null
  const filter = readdirSync(folder).find((name) => /^filter-.*\.sieve$/.test(name))
  if (filter === undefined) return null
  return `${join(folder, 'keys', 'CURRENT')} is missing: ${filter} was built from its keys`
}
