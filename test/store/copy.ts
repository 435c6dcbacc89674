// A folder as a killed process leaves it: a copy of its files at one moment. Sockets, which Node refuses to copy, are
// left out: in a folder whose process is gone nobody listens on them.
import { cpSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const ATTEMPTS = 200

export function copyFolder(from: string, to: string, isWanted: (path: string) => boolean = () => true): void {
  // LevelDB writes and removes files in the background: a copy counts only if the folder stayed the same meanwhile.
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      const before = filesOf(from)
      cpSync(from, to, { recursive: true, filter: (path) => !lstatSync(path).isSocket() && isWanted(path) })
      if (filesOf(from) === before) return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    rmSync(to, { recursive: true, force: true })
  }
  throw new Error(`${from} changed during each of ${ATTEMPTS} copies`)
}

function filesOf(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => {
      const { size, mtimeMs, ino } = lstatSync(join(folder, name))
      return `${name} ${size} ${mtimeMs} ${ino}`
    })
    .sort()
    .join('\n')
}
