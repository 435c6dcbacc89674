// How large, how many hashes, how often wrong: the papers' formulas beside the corrected ones, one file per
// structure. Pure functions of named quantities. A rate is the chance that a URL never added is answered
// "seen", which loses a page; nothing here is validated except what would never end.

export * from './sizing/blocked.ts'
export * from './sizing/classic.ts'
export * from './sizing/eigenvalue.ts'
export * from './sizing/fingerprint.ts'
export * from './sizing/layers.ts'
export * from './sizing/scalable.ts'
