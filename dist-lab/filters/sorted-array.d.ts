/** Makes no error. */
export declare const sortedArray: import("./filter.ts").FilterKind;
