/** Makes no error. */
export declare const trie: import("./filter.ts").FilterKind;
