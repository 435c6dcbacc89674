import type { Filter, FilterKind, Measure, Plan } from './filters/filter.ts';
import { Kernel } from './kernel.ts';
export interface Shard {
    /** The first 32 bits of the first hash that belongs here. */
    from: number;
    readonly kernel: Kernel;
    readonly filter: Filter;
}
export declare class Shards {
    #private;
    readonly front: Kernel;
    /**
     * `spreads`: the filter takes hashes, so it can be in several instances. With `froms` it is made to be filled from
     * a snapshot, spread as it was then.
     */
    constructor(module: WebAssembly.Module, kind: FilterKind, plan: Plan, spreads: boolean, instanceBytes?: number, froms?: readonly number[]);
    get count(): number;
    /** Every instance, in the order of their hashes. */
    get all(): readonly Shard[];
    /** Test-and-set of entries [from, n) of the first instance's batch; the verdicts are there afterwards. */
    add(from: number, n: number): void;
    has(from: number, n: number): void;
    delete(n: number): void;
    /** Whether anything was added under the folders that are the batch's keys: verdict 0 where it may be so. */
    hasUnder(n: number): void;
    measure(): Measure;
}
