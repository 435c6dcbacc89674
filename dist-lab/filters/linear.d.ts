/** Makes no error. */
export declare const linear: import("./filter.ts").FilterKind;
