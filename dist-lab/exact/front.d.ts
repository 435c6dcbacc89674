import type { Profile } from '../canonical/profiles.ts';
import { type Sieve } from '../sieve.ts';
import { type SieveState } from '../state.ts';
import type { KeyStore } from './key-store.ts';
export interface FrontSize {
    readonly expectedUrls?: number | undefined;
    readonly filterBytes?: number | undefined;
}
/** What it asks for each batch: entries [from, n) have their keys, hashes and the filter's verdicts in the kernel. */
export type OnBatch = (state: SieveState, from: number, n: number) => void;
export declare class Front {
    #private;
    readonly sieve: Sieve;
    /** The filter knows every key on the disk: its "new" is certain. */
    isReady: boolean;
    private constructor();
    static create(profile: Profile, size: FrontSize, isReady: boolean): Promise<Front>;
    /** The filter as it was saved, or null: there is none, it cannot be read, or another size is asked for. */
    static restore(path: string, profile: Profile, size: FrontSize): Promise<Front | null>;
    /** Runs a question through the sieve; each of its batches goes to `onBatch`. */
    ask(question: (sieve: Sieve) => void, onBatch: OnBatch): void;
    /** Takes in every key of the store, some at a time; `isWanted` is asked between. Returns how many there were. */
    fill(store: KeyStore, isWanted: () => boolean): Promise<number | null>;
    /** Writes the filter and the counts down. */
    save(path: string, counts: {
        urls: number;
        seen: number;
        invalid: number;
    }): void;
}
