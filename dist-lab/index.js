export { profiles } from './canonical/profiles.js';
export { rules } from './canonical/rules.js';
export { SieveError } from './errors.js';
export { filterNames, filters, } from './filters/registry.js';
export { freeze } from './freeze.js';
export { hashDescriptions, hashNames } from './hashes.js';
export { Sieve, } from './sieve.js';
