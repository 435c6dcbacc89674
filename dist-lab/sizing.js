// How large, how many hashes, how often wrong: the papers' formulas beside the corrected ones, one file per
// structure. Pure functions of named quantities. A rate is the chance that a URL never added is answered
// "seen", which loses a page; nothing here is validated except what would never end.
export * from './sizing/blocked.js';
export * from './sizing/classic.js';
export * from './sizing/eigenvalue.js';
export * from './sizing/fingerprint.js';
export * from './sizing/layers.js';
export * from './sizing/scalable.js';
