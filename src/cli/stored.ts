// A sieve that is on the disk already: a .sieve file or a store's folder, to be queried.
import { existsSync, statSync } from 'node:fs'
import { Sieve } from '../index.ts'
import { CommandError, EXIT } from './exit.ts'

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}

/** Opens it for queries: a folder without a lock, a file into memory. */
export async function openStored(path: string): Promise<Sieve> {
  if (!existsSync(path)) throw new CommandError(EXIT.input, `cannot read ${path}: no such file or folder`)
  return isFolder(path) ? Sieve.open(path, { readOnly: true }) : Sieve.load(path)
}
