// What the sieve asks of the disk, loaded when it first does. A browser bundle gets browser.ts instead.
export { openStore } from './folder.ts'
export { readSieve, writeSieve } from './snapshot.ts'
