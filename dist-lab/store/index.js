// What the sieve asks of the disk, loaded when it first does. A browser bundle gets browser.ts instead.
export { readSieve, writeSieve } from './snapshot.js';
export { openStore } from './store.js';
