import { type Bytes } from './bytes.ts';
export interface TableOptions {
    readonly delimiter: string;
    /** False: the first row is a row, and columns are called 1, 2, …. */
    readonly header: boolean;
    /** Rows may have fewer fields than the first (the others are empty) or more (which are not seen). */
    readonly ragged: boolean;
}
/** What is known of a table once it was read. */
export interface TableShape {
    readonly columns: readonly string[];
    /** Row r is the bytes from places[r] to places[r + 1]. */
    readonly places: Float64Array;
}
export declare class Table {
    #private;
    readonly name: string;
    /** `name` is what errors call it. */
    constructor(name: string, bytes: Bytes, options: TableOptions);
    /** Reads it all, row by row. `onColumns` gets the columns' names before the first row. */
    scan(onColumns: (columns: readonly string[]) => void, onRow: (fields: readonly string[]) => void): Promise<TableShape>;
    /** The fields of some rows, in their order. */
    read({ columns, places }: TableShape, rows: Iterable<number>): Generator<{
        row: number;
        fields: string[];
    }>;
}
/** The columns asked for, by name; all when none is. */
export declare function chooseColumns(table: string, columns: readonly string[], names: readonly string[]): number[];
