/**
 * The chance that one address of a new URL hits a set bit of the XOR layer, by the number of its segments: entry c
 * is for c + 1. `fill` is the layer's measured share of ones, `depths[c]` the number of URLs with c + 1 segments.
 */
export declare function xorHitRates({ bits, fill, depths, }: {
    bits: number;
    fill: number;
    depths: readonly number[];
}): number[];
