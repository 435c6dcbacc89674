// What lies in a store's folder, by name.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const padded = (n: number) => String(n).padStart(8, '0')

/** Holds what was before the log of the same number began. */
export const snapshotName = (n: number) => `snapshot-${padded(n)}.sieve`
export const logName = (n: number) => `log-${padded(n)}`

/** Numbers of snapshots and logs, ascending. */
export interface Listing {
  readonly snapshots: readonly number[]
  readonly logs: readonly number[]
}

/** What is there. */
export function listStore(folder: string): Listing {
  const names = readdirSync(folder)
  const numbers = (pattern: RegExp) =>
    names
      .map((name) => pattern.exec(name)?.[1])
      .filter((digits) => digits !== undefined)
      .map(Number)
      .sort((a, b) => a - b)
  return { snapshots: numbers(/^snapshot-(\d{8})\.sieve$/), logs: numbers(/^log-(\d{8})$/) }
}

export interface Missing {
  readonly file: string
  readonly why: string
}

/**
 * The files that a store cannot be whole without, and that are not there. `hasLog`: what its newest snapshot says. A log
 * without a byte and without a snapshot is none: the making of the store was cut short.
 */
export function missingFiles(folder: string, hasLog: boolean, listing = listStore(folder)): Missing[] {
  const { snapshots, logs } = listing
  const snapshot = snapshots.at(-1)
  if (snapshot === undefined) {
    const names = readdirSync(folder).filter((name) => /^(log-\d{8}|keys-\d{8}\.gz)$/.test(name))
    if (names.every((name) => statSync(join(folder, name)).size === 0)) return []
    const why = `${names.at(-1)} is there, and the sieve's parameters and secret key are not`
    return [{ file: snapshotName(logs[0] ?? 1), why }]
  }
  const newer = logs.filter((n) => n >= snapshot)
  const missing: Missing[] = []
  for (let n = snapshot; n < (newer.at(-1) ?? snapshot); n++) {
    if (!newer.includes(n))
      missing.push({ file: logName(n), why: `${logName(newer.at(-1)!)} goes on from it` })
  }
  if (hasLog && newer.length === 0) {
    missing.push({ file: logName(snapshot), why: `${snapshotName(snapshot)} was begun after it` })
  }
  return missing
}
