/** Links as newline-ended bytes, for ever: a chunk is good until the next is asked for. */
export declare function generateLinks(seed: number): Generator<Uint8Array, never>;
