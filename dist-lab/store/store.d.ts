import type { FilterName } from '../filters/registry.ts';
import { type SieveOf, type SieveOptions } from '../sieve.ts';
import { type SieveState, type StoreOptions } from '../state.ts';
import { type LogRecord } from './log.ts';
/** Does to a sieve what a record says: entries into the kernel's batch, then add or delete. Idempotent. */
export declare function replay(state: SieveState, record: LogRecord): void;
/**
 * A sieve that lives in a folder: made there, or opened as it was. After `kill -9` nothing acknowledged is lost with
 * `always` or `interval`; after power loss at most the last second with `interval`; a half-written record never counts.
 */
export declare function openStore<F extends FilterName = 'fingerprint'>(folder: string, options?: SieveOptions<F> & StoreOptions): Promise<SieveOf<F>>;
