// The commands of one batch of lines, in the kernel's arrays.
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'

/** Number of the command in kernel/commands.ts. */
export const ADD = 1

/** Finds the commands among the batch's lines and returns how many; a byte order mark before the first line of all is skipped. */
export function readCommands(kernel: Kernel, lines: number, isFirst: boolean): number {
  const { bytes, lineStarts, lineEnds } = kernel
  const start = lineStarts[0]!
  const mark = isFirst && lineEnds[0]! - start >= 3 && bytes[start] === 0xef
  if (mark && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) lineStarts[0] = start + 3
  return kernel.call.readCommands(lines)
}

/**
 * Memory for the answers to the batch's first n commands, reserved before any of them is done: with the same n it is there
 * again afterwards, since the buffer only grows. Returns where it is.
 */
export function reserveAnswers(kernel: Kernel, n: number): number {
  if (n === 0) return 0
  const bytes = kernel.lineEnds[n - 1]! - kernel.lineStarts[0]! + n * kernel.answerBytes
  const to = kernel.call.reserveOutput(bytes) >>> 0
  kernel.refresh()
  if (to === 0) throw new SieveError('memory', `no memory left for ${bytes} bytes of answers`)
  return to
}
