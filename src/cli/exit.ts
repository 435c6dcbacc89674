// How the command ends: documented exit codes, and one line on stderr for what went wrong.

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
export function reason(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code
  const words: Record<string, string> = {
    ENOENT: 'no such file or folder',
    EACCES: 'permission denied',
    EPERM: 'not permitted',
    EISDIR: 'is a folder, expected a file',
    ENOSPC: 'no space left on the device',
    EFBIG: 'file too large for this system',
    EDQUOT: 'disk quota exceeded',
    EROFS: 'read-only file system',
    ENOTDIR: 'a part of the path is not a folder',
    ELOOP: 'is a symbolic link, expected a file',
    EIO: 'input/output error',
  }
  return (code && words[code]) ?? (error instanceof Error ? error.message : String(error))
}
