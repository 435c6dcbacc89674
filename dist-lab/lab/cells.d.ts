import type { Cell, Column, Table } from './experiment.ts';
/** `-` for nothing, 1,234,567 for a count, 3.26 % or 1.23e-5 for a rate, three digits for the rest. */
export declare function shown(cell: Cell, { as }: Column): string;
/** Three digits that count: 0, 1.23e-5, 0.0123, 1.23, 12.3, 123, 12,345. */
export declare function digits(value: number): string;
/** Whether a column holds numbers: set to the right. */
export declare function isNumeric({ columns, rows }: Table, c: number): boolean;
/** 1.23e-5 as 1.23 × 10⁻⁵, wherever it stands alone. */
export declare function withPowers(text: string): string;
/** A number at an axis: 0.5, 20 k, 3.5 M, 10⁻⁶. */
export declare function tick(value: number): string;
