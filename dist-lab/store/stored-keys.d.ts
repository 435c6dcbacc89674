import type { Sieve } from '../sieve.ts';
/** Every key that is remembered, each once, in the order in which they came. */
export declare function storedKeys(folder: string): Generator<Buffer>;
/** Refuses, in one line, a sieve that has no keys to give. */
export declare function checkKeepsKeys(folder: string, sieve: Sieve): void;
