/** The canonical form, or null where Python raises ValueError. Not idempotent: `%2541` becomes `%41`, then `A`. */
export declare function canonicalizeLikeW3lib(url: string): string | null;
