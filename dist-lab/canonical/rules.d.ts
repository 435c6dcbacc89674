import { formParameters, sortParameters } from './parameters.ts';
import { canonicalizeLikeW3lib } from './w3lib.ts';
export interface Rule {
    readonly name: string;
    /** One line, for the docs and for `explain`. */
    readonly does: string;
    /** True when two different pages may get the same key. */
    readonly lossy: boolean;
    /** The next form of the key; null means this is no URL, and the line is keyed as it stands. */
    apply(key: string): string | null;
}
export type RuleName = keyof typeof builtIn;
declare const builtIn: {
    trim: {
        does: string;
        lossy: false;
        apply: (key: string) => string;
    };
    whatwg: {
        does: string;
        lossy: false;
        apply: typeof hrefOf;
    };
    'no-fragment': {
        does: string;
        lossy: false;
        apply: (key: string) => string;
    };
    https: {
        does: string;
        lossy: true;
        apply: (key: string) => string;
    };
    'no-credentials': {
        does: string;
        lossy: true;
        apply: (key: string) => string;
    };
    'no-utm': {
        does: string;
        lossy: true;
        apply: (key: string) => string;
    };
    'no-tracking': {
        does: string;
        lossy: true;
        apply: (key: string) => string;
    };
    'no-session': {
        does: string;
        lossy: true;
        apply: (key: string) => string;
    };
    'no-www': {
        does: string;
        lossy: true;
        apply: (key: string) => string;
    };
    'no-index': {
        does: string;
        lossy: true;
        apply: (key: string) => string;
    };
    'form-query': {
        does: string;
        lossy: true;
        apply: typeof formParameters;
    };
    'sort-query': {
        does: string;
        lossy: true;
        apply: typeof sortParameters;
    };
    'no-empty-query': {
        does: string;
        lossy: true;
        apply: (key: string) => string;
    };
    'no-trailing-slash': {
        does: string;
        lossy: true;
        apply: (key: string) => string;
    };
    crawlee: {
        does: string;
        lossy: true;
        apply: typeof writeLikeCrawlee;
    };
    w3lib: {
        does: string;
        lossy: true;
        apply: typeof canonicalizeLikeW3lib;
    };
};
/** Every built-in rule by its name. */
export declare const rules: Readonly<Record<RuleName, Rule>>;
declare function hrefOf(key: string): string | null;
declare function writeLikeCrawlee(key: string): string;
export {};
