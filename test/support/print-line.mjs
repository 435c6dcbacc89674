// For the writers that tests kill: a line is in the pipe before the call returns.
import { writeSync } from 'node:fs'

export function printLine(line) {
  const bytes = Buffer.from(`${line}\n`)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at)
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
}
