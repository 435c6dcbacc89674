export { SieveError, type SieveErrorCode } from '../errors.ts';
export { type ExactOptions, ExactSieve, type ExactStats } from './exact-sieve.ts';
export { keptLines, type LineBatch, siftLines } from './line-batches.ts';
export { type Verification, verifyExact } from './table-check.ts';
