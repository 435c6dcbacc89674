import { Signatures } from './signatures.ts';
export declare const layerReadings: readonly ['all', 'paper', 'own'];
export type LayerReading = (typeof layerReadings)[number];
export declare class Dictionary {
    #private;
    readonly reading: LayerReading;
    readonly signatures: Signatures;
    constructor(reading: LayerReading, signatures: Signatures);
    /** An empty one for so many words as there are `first` hashes: each word's hash 0. */
    static plan(reading: LayerReading, rate: number, first: Uint32Array): Dictionary;
    /** Marks the `turn`-th word, whose hashes begin at `from`. */
    add(turn: number, hashes: Uint32Array, from: number): void;
    get layers(): number;
    /** Hashes a word needs. */
    get hashes(): number;
    /** Whether the dataset may hold a word whose hashes begin at `from`; false is certain. */
    has(hashes: Uint32Array, from: number): boolean;
    /** The chance now that a word that is not there is said to be, from the fill of each layer. */
    rate(): number;
}
