// How large the inputs of a command are. Loads nothing else: it is looked at before the rest of the command is loaded.
import { fstatSync, type Stats, statSync } from 'node:fs'
import { CommandError, EXIT, reason } from './exit.ts'

/** Bytes of all inputs where they are files, stdin too; else null: how much there probably is to do. */
export function likelyBytes(paths: readonly string[]): number | null {
  const stats = paths.map(statOf)
  return stats.every((stat) => stat.isFile()) ? stats.reduce((sum, { size }) => sum + size, 0) : null
}

export function statOf(path: string): Stats {
  try {
    return path === '-' ? fstatSync(0) : statSync(path)
  } catch (error) {
    throw inputError(path, error)
  }
}

export function inputError(path: string, error: unknown): CommandError {
  return new CommandError(EXIT.input, `cannot read ${path === '-' ? 'stdin' : path}: ${reason(error)}`)
}
