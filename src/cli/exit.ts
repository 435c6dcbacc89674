// How the command ends: documented exit codes, and one line on stderr for what went wrong.

import { codeOf, isSystemError, reasonOf } from '../store/system-error.ts'

/** 0 done, 1 a question was answered with no, and: */
export const EXIT = {
  /** An option, or a combination of options, that is invalid. */
  usage: 2,
  /** An input that is missing, unreadable, a folder, or damaged. */
  input: 3,
  /** An output that cannot be written: full, read-only. What was written stays. */
  output: 4,
  /** No memory left for the request. */
  memory: 5,
  /** Some lines of the input could not be read; all others were done. */
  lines: 6,
  /** A defect of urlsieve: please report it. */
  defect: 70,
} as const

/** Ends the command with one line on stderr and an exit code. */
export class CommandError extends Error {
  readonly exitCode: number
  constructor(exitCode: number, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

/** What a system error means, in words. */
export { reasonOf as reason } from '../store/system-error.ts'

/** Calls that fail where something is written. */
const WRITING =
  /^(write|writev|pwrite|ftruncate|truncate|fsync|fdatasync|rename|mkdir|mkdtemp|rmdir|rm|unlink|link|symlink|copyfile|chmod|fchmod|utime)$/
const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS']

/** The line and the exit code of a system error that no command has put into words; null: it is none. */
export function systemExit(error: unknown): { code: number; message: string } | null {
  if (!isSystemError(error)) return null
  const { syscall, path } = error
  const code = codeOf(error)
  const isWriting = WRITING.test(syscall!) || FULL.includes(code)
  const what = path === undefined ? syscall : `${isWriting ? 'write' : 'read'} ${path}`
  const exit = code === 'ENOMEM' ? EXIT.memory : isWriting ? EXIT.output : EXIT.input
  return { code: exit, message: `cannot ${what}: ${reasonOf(error)}` }
}
