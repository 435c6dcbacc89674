import { readLog } from './log.ts';
export declare function keySegmentPath(folder: string, number: number): string;
/** Paths of the segments, oldest first. */
export declare function listKeySegments(folder: string): string[];
/** Keeps the keys of a log, unless that was done before. */
export declare function writeKeySegment(path: string, log: string, read?: typeof readLog): void;
/** Every entry of a segment, in order. */
export declare function readKeySegment(path: string): Generator<{
    key: Buffer;
    isDelete: boolean;
}>;
