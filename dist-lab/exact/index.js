// The subpath urlsieve/exact: the sieve that never errs. Needs classic-level (LevelDB), which the main entry does not.
export { SieveError } from '../errors.js';
export { ExactSieve } from './exact-sieve.js';
export { keptLines, siftLines } from './line-batches.js';
export { verifyExact } from './table-check.js';
