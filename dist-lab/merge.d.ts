import { type Identity, type SieveState, STATE } from './state.ts';
interface HasState {
    readonly [STATE]: SieveState;
}
/** Why two sieves cannot be united, in words; null when they can. */
export declare function difference(a: Identity, b: Identity): string | null;
/** Everything `source` remembers, `target` remembers too. Their counts add up; URLs in both count once where known. */
export declare function unite(target: HasState, source: HasState): void;
/** Adds a key as it is: no rule is applied to it. True: it was new. */
export declare function addKey(to: SieveState, key: Uint8Array): boolean;
/** Forgets a key as it is. True: it was remembered. */
export declare function deleteKey(from: SieveState, key: Uint8Array): boolean;
export {};
