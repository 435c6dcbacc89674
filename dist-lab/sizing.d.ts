export * from './sizing/blocked.ts';
export * from './sizing/classic.ts';
export * from './sizing/eigenvalue.ts';
export * from './sizing/fingerprint.ts';
export * from './sizing/layers.ts';
export * from './sizing/scalable.ts';
