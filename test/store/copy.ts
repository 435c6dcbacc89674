// A folder as a killed process leaves it: a copy of its files. Sockets, which Node refuses to copy, are left out: in a
// folder whose process is gone nobody listens on them.
import { cpSync, lstatSync } from 'node:fs'

export function copyFolder(from: string, to: string, isWanted: (path: string) => boolean = () => true): void {
  cpSync(from, to, { recursive: true, filter: (path) => !lstatSync(path).isSocket() && isWanted(path) })
}
