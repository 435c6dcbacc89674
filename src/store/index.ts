// The store's entry, loaded when a sieve first needs the disk. A browser bundle gets browser.ts instead.
export { openStore } from './folder.ts'
export { readSieve, writeSieve } from './snapshot.ts'
