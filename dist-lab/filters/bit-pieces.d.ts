import type { Kernel } from '../kernel.ts';
import type { Pieces } from './filter.ts';
/** A bit array in the kernel's memory. */
export interface BitArray {
    readonly array: number;
    readonly at: number;
    readonly bytes: number;
}
/**
 * `arrays` says where they lie, and makes sure there is one of a number when given it; `restored` counts their bits
 * again and takes the counts that are not in them.
 */
export declare function bitPieces(kernel: Kernel, arrays: (array?: number) => readonly BitArray[], restored: (counts: readonly number[]) => void, counts?: () => number[]): Pieces;
