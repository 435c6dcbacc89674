import type { SieveState } from '../state.ts';
import { type LogRecord } from './log.ts';
export declare class Owed {
    #private;
    get size(): number;
    clear(): void;
    /** Entries [from, n) of the batch whose verdict is `wanted` were refused. */
    add(state: SieveState, from: number, n: number, wanted: number): void;
    /** Entries [from, n) of the batch whose verdict is `wanted` are in a log now. */
    drop(state: SieveState, from: number, n: number, wanted?: number): void;
    /** The filter says "seen" of what was refused before: it is new, once a batch. */
    amend(state: SieveState, from: number, n: number): void;
    /** What a log must begin with. */
    record(takesHashes: boolean): {
        op: LogRecord['op'];
        entries: number;
        payload: Buffer;
    };
    /** Takes what a log says is owed. */
    read({ op, payload }: LogRecord): void;
}
