import type { Kernel } from '../kernel.ts';
import { type Filter, type FilterKind, type Measure, type Piece, type Plan } from './filter.ts';
export interface Generation {
    readonly kernel: Kernel;
    readonly filter: Filter;
    readonly plan: Plan;
    /** URLs added to it. */
    urls: number;
    /** When it was begun, in milliseconds since 1970. */
    born: number;
}
/** Which generations there shall be. */
export interface Succession {
    readonly kind: FilterKind;
    /** The plan of generation `index`, counted from the first there ever was. */
    plan(index: number): Plan;
    /** How many more URLs the newest may take before the next begins: 0 when it is time. */
    room(newest: Generation, now: number): number;
    /** How many to keep; the oldest are forgotten. */
    readonly most: number;
}
export declare class Generations implements Filter {
    #private;
    constructor(front: Kernel, succession: Succession, isRevived: boolean);
    /** All generations, oldest first. */
    get all(): readonly Generation[];
    setClock(now: number | null): void;
    add(from: number, n: number): number;
    has(from: number, n: number): void;
    delete(n: number): void;
    measure(): Measure;
    pieces(): Generator<Piece>;
    place(array: number, offset: number, bytes: number): Uint8Array;
    placed(array: number, offset: number, room: Uint8Array): void;
    counts(): number[];
    restored(counts: readonly number[]): void;
}
