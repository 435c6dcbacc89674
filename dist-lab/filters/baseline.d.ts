import { type FilterKind } from './filter.ts';
export interface KeySet {
    /** True when the key was not there. */
    add(key: Uint8Array): boolean;
    has(key: Uint8Array): boolean;
    delete(key: Uint8Array): boolean;
    /** Every key. */
    keys(): Iterable<Uint8Array>;
    /** Bytes it holds, as far as it can know. */
    readonly sizeBytes: number;
}
/** A key as a string with one character a byte, so that different bytes stay different. */
export declare function keyText(key: Uint8Array): string;
/** A string made by `keyText`, as the bytes it was made from. */
export declare function keyBytes(text: string): Uint8Array;
interface Description {
    readonly name: string;
    readonly does: string;
    readonly source: string;
    /** Bytes for each URL besides its key. */
    readonly overheadBytes: number;
    readonly comfortableUrls: number;
    make(): KeySet;
}
/** A filter that asks the kernel's keys of a set, one after the other. Makes no error. */
export declare function baseline({ name, does, source, overheadBytes, comfortableUrls, make, }: Description): FilterKind;
export {};
