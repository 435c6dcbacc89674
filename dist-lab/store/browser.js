// In a browser there is no disk: the same names, and one clear line.
import { SieveError } from '../errors.js';
function noDisk() {
    throw new SieveError('disk', 'there is no disk in a browser: use Sieve.create');
}
export const readSieve = noDisk;
export const writeSieve = noDisk;
export const openStore = noDisk;
