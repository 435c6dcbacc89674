// `urlsieve/disk`: a sieve for more URLs than fit into memory.
export { SieveError, type SieveErrorCode } from '../errors.ts'
export { type DiskOptions, DiskSieve, type DiskStats } from './disk-sieve.ts'
