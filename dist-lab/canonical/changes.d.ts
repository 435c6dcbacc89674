/** What any rule changed: one note for each part that is not as before. */
export declare function describeChange(before: string, after: string): string[];
/** What parsing and writing by the WHATWG standard changed. */
export declare function describeWhatwg(before: string, after: string): string[];
