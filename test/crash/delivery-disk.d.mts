import type { Result, Trial } from './delivery.d.mts'

export const DISKS: Readonly<Record<string, { readonly isTmpfs?: boolean }>>

export function diskTrials(wanted: {
  readonly disks: readonly string[]
  /** Runs that fail. */
  readonly runs: number
}): Trial[]

export function runDiskTrials(
  trials: readonly Trial[],
  setting: {
    readonly command: readonly string[]
    readonly isOld: boolean
    readonly lines: number
    readonly jobs: number
    /** failing-disk.c as a library. */
    readonly library: string
    readonly onResult?: (result: Result) => void
  },
): Promise<Result[]>
