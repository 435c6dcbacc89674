// What the system says, in words.

/** The error of a system call. What only wrong code can cause is none. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  const { syscall } = (error ?? {}) as NodeJS.ErrnoException
  const code = codeOf(error)
  return typeof syscall === 'string' && /^E[A-Z0-9]+$/.test(code) && !DEFECTS.includes(code)
}

/** The system's code; Node's own checks put something before it. */
export function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException | null)?.code ?? '').replace(/^ERR_FS_/, '')
}

const DEFECTS = ['EBADF', 'EFAULT', 'EDOM', 'ENOSYS']

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EISDIR: 'is a folder, expected a file',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'is there already',
  ENOTEMPTY: 'the folder is not empty',
  ENOSPC: 'no space left on the device',
  EFBIG: 'file too large for this system',
  EDQUOT: 'disk quota exceeded',
  EROFS: 'read-only file system',
  EIO: 'input/output error',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many open files: raise the limit (ulimit -n)',
  ENFILE: 'too many open files on this system',
  ENOMEM: 'no memory left',
  EBUSY: 'is in use',
  ENXIO: 'no such device',
  ENODEV: 'no such device',
  ESTALE: 'it was removed on the file server',
  ENOTSUP: 'not supported there',
  EOPNOTSUPP: 'not supported there',
}

/** What an error means, in words, without the path. */
export function reasonOf(error: unknown): string {
  return WORDS[codeOf(error)] ?? (error instanceof Error ? error.message : String(error))
}
