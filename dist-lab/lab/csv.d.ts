import type { Table } from './experiment.ts';
export declare function csv({ columns, rows }: Table): string;
