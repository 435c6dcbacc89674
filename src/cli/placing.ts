// Where an output file begins: empty, or after the last whole record that an earlier run delivered there. A run that remembers
// prints only what no earlier one delivered, so it never empties a file unless that is asked for.
import { closeSync, ftruncateSync, openSync, readSync, statSync } from 'node:fs'
import { CommandError, EXIT, reason } from './exit.ts'
import { Output } from './output.ts'

const BLOCK_BYTES = 1024 * 1024
const QUOTE = 34

/** How records end. */
export interface RecordEnd {
  readonly byte: number
  /** Not within double quotes, as in CSV. */
  readonly isQuoted: boolean
}

export interface Placing {
  readonly append?: boolean | undefined
  readonly overwrite?: boolean | undefined
  /** The run remembers what it delivers. */
  readonly outlivesRun: boolean
  readonly end: RecordEnd
}

/** Opens an output; absent: stdout. */
export function placedOutput(path: string | undefined, placing: Placing): Output {
  if (path === undefined) return new Output()
  const bytes = sizeOf(path)
  if (placing.append) {
    if (bytes > 0) cutToWhole(path, bytes, placing.end)
    return new Output(path, { isAppended: true })
  }
  if (bytes > 0 && placing.outlivesRun && !placing.overwrite) throw notEmpty(path)
  return new Output(path)
}

export function notEmpty(path: string): CommandError {
  return new CommandError(
    EXIT.output,
    `cannot write ${path}: it is not empty, and what an earlier run delivered there is not printed again: expected --append, --overwrite or another name`,
  )
}

/** Of a plain file; 0 for anything else: opening it reports what is wrong with it. */
function sizeOf(path: string): number {
  try {
    const stat = statSync(path)
    return stat.isFile() ? stat.size : 0
  } catch {
    return 0
  }
}

/** Cuts off the beginning of a record that a run could not write whole. */
export function cutToWhole(path: string, bytes: number, end: RecordEnd): void {
  let fd: number | undefined
  try {
    fd = openSync(path, 'r+')
    const whole = end.isQuoted ? wholeQuoted(fd, end.byte) : wholePlain(fd, bytes, end.byte)
    if (whole < bytes) ftruncateSync(fd, whole)
  } catch (error) {
    throw new CommandError(EXIT.output, `cannot append to ${path}: ${reason(error)}`)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

// Read from its end.
function wholePlain(fd: number, bytes: number, byte: number): number {
  const block = Buffer.alloc(BLOCK_BYTES)
  for (let to = bytes; to > 0; ) {
    const from = Math.max(0, to - BLOCK_BYTES)
    const got = readSync(fd, block, 0, to - from, from)
    const at = block.subarray(0, got).lastIndexOf(byte)
    if (at >= 0) return from + at + 1
    to = from
  }
  return 0
}

// Read from its beginning: only there is it known what is within quotes.
function wholeQuoted(fd: number, byte: number): number {
  const block = Buffer.alloc(BLOCK_BYTES)
  let isOpen = false
  let whole = 0
  for (let from = 0; ; ) {
    const got = readSync(fd, block, 0, BLOCK_BYTES, from)
    if (got === 0) return whole
    for (let at = 0; at < got; ) {
      const quote = block.indexOf(QUOTE, at)
      const to = quote < 0 || quote >= got ? got : quote
      const last = isOpen ? -1 : block.subarray(at, to).lastIndexOf(byte)
      if (last >= 0) whole = from + at + last + 1
      if (to < got) isOpen = !isOpen
      at = to + 1
    }
    from += got
  }
}
