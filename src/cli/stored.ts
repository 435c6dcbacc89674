// A sieve that is on the disk already: a .sieve file or a store's folder, to be queried.
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DiskSieve } from '../disk/index.ts'
import { Sieve } from '../index.ts'
import { copyStore } from '../store/folder.ts'
import { CommandError, EXIT } from './exit.ts'

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}

/** Whether a path is the folder of a disk sieve. */
export function isDiskSieve(path: string): boolean {
  return existsSync(join(path, 'manifest'))
}

/** Opens a disk sieve for queries, without a lock. */
export async function openDiskSieve(path: string): Promise<DiskSieve> {
  const { DiskSieve } = await import('../disk/index.ts')
  return DiskSieve.open(path, { readOnly: true })
}

/** A copy in memory, to be changed. */
export async function copyStored(path: string): Promise<Sieve> {
  return isFolder(path) ? copyStore(path) : openStored(path)
}

/** Opens it for queries: a folder without a lock, a file into memory. */
export async function openStored(path: string): Promise<Sieve> {
  if (!existsSync(path)) throw new CommandError(EXIT.input, `cannot read ${path}: no such file or folder`)
  return isFolder(path) ? Sieve.open(path, { readOnly: true }) : Sieve.load(path)
}
