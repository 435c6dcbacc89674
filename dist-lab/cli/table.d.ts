export type Cell = string | number;
/** Rows of cells as aligned text; a column whose cells all look like numbers is set to the right. */
export declare function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string;
