/** The next unsigned 32-bit number. */
export type Draw = () => number;
/** Mixes a 32-bit number: each bit of it changes about half of the result's. */
export declare function scramble(x: number): number;
/** A generator of its own for each seed and name. */
export declare function draws(seed: number, name: string): Draw;
/** Numbers in [0, 1), in steps of 2⁻³²: exact, so the same anywhere. */
export declare function random(seed: number, name: string): () => number;
/** 16 bytes for a sieve's hash. */
export declare function keyFrom(seed: number, name: string): Uint8Array;
