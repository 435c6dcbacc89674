/** Makes no error. */
export declare const hashSet: import("./filter.ts").FilterKind;
