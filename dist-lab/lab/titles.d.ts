export interface TitleTable {
    readonly name: string;
    /** The column they come from. */
    readonly column: string;
    /** Distinct, in the table's order. */
    readonly titles: readonly string[];
}
/** The first `most` distinct titles of a CSV file (.gz too): its title column, else the first column of text. */
export declare function readTitles(path: string, most: number): Promise<TitleTable>;
/** A column named title, else one whose name has it, else the first whose values are mostly words. */
export declare function textColumn(header: readonly string[], rows: readonly (readonly string[])[]): number;
/** `count` distinct titles; words are drawn from `words` by Zipf's law. */
export declare function generatedTitles(count: number, random: () => number, words?: number): TitleTable;
