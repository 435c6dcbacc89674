// The subpath urlsieve/exact: the sieve that never errs. Needs classic-level (LevelDB), which the main entry does not.
export { SieveError, type SieveErrorCode } from '../errors.ts'
export { ExactSieve, type ExactStats } from './exact-sieve.ts'
export type { Verification } from './leveldb/folder.ts'
export type { ExactOptions } from './options.ts'
export { verifyExact } from './verify.ts'
