import { type Command } from 'commander';
import { type LayerReading } from '../search/dictionary.ts';
import { type Index } from '../search/index-file.ts';
export interface SearchFlags {
    column: string[];
    delimiter?: string;
    header: boolean;
    ragged?: boolean;
    text?: string[];
    stopWords?: string;
    index?: string;
    fpr: number;
    rowFpr: number;
    layers: LayerReading;
    unverified?: boolean;
    scan?: boolean;
    limit?: number;
    csv?: boolean;
    json?: boolean;
    quiet?: boolean;
}
export declare function searchCommand(program: Command): void;
export interface Made {
    readonly index: Index;
    readonly how: 'built' | 'reused';
    readonly ms: number;
    /** The rows' texts, where a scan is wanted. */
    readonly texts: readonly string[] | null;
}
