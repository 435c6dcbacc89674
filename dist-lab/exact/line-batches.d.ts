import type { ExactSieve } from './exact-sieve.ts';
export interface LineBatch {
    /** Whole lines; only the last may lack its newline. */
    readonly lines: Uint8Array;
    /** One verdict a line, 1 new and 0 seen. They are acknowledged: what is new is as safe as the durability says. */
    readonly verdicts: Uint8Array;
}
/** Sifts a stream of newline-separated bytes, a batch of lines at a time, in order. */
export declare function siftLines(sieve: Pick<ExactSieve, 'addLines'>, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<LineBatch>;
/** The lines of a batch with the verdict that is wanted, each with a newline. */
export declare function keptLines({ lines, verdicts }: LineBatch, keep: 'new' | 'seen'): Uint8Array;
