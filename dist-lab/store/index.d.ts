export { readSieve, writeSieve } from './snapshot.ts';
export { openStore } from './store.ts';
