// What lies in a store's folder, by name.
import { readdirSync } from 'node:fs'

const padded = (n: number) => String(n).padStart(8, '0')

/** Holds what was before the log of the same number began. */
export const snapshotName = (n: number) => `snapshot-${padded(n)}.sieve`
export const logName = (n: number) => `log-${padded(n)}`

/** Numbers of the snapshots and logs there, ascending. */
export function listStore(folder: string): { snapshots: number[]; logs: number[] } {
  const names = readdirSync(folder)
  const numbers = (pattern: RegExp) =>
    names
      .map((name) => pattern.exec(name)?.[1])
      .filter((digits) => digits !== undefined)
      .map(Number)
      .sort((a, b) => a - b)
  return { snapshots: numbers(/^snapshot-(\d{8})\.sieve$/), logs: numbers(/^log-(\d{8})$/) }
}
