import type { BareUrls } from './bare-urls.ts';
import type { Lab } from './experiment.ts';
import { LineWriter } from './line-writer.ts';
/** cen-2010: URLs [from, to), each with its own number (from 1) appended. */
export declare function numberedLines(urls: BareUrls, from: number, to: number): Uint8Array;
/** Where each URL's pieces begin, `layers` numbers a URL, and how many it has. A piece ends before the next begins. */
export declare class Pieces {
    #private;
    readonly urls: BareUrls;
    readonly layers: number;
    readonly counts: Uint8Array;
    constructor(urls: BareUrls, layers: number);
    start(url: number, piece: number): number;
    end(url: number, piece: number): number;
    isEmpty(url: number, piece: number): boolean;
    areEqual(url: number, piece: number, other: number): boolean;
    /** Appends a piece to the writer's line. */
    write(writer: LineWriter, url: number, piece: number): LineWriter;
}
/** Every piece of URLs [from, to) as a line, behind the number of its layer. */
export declare function pieceLines(pieces: Pieces, from: number, to: number): Uint8Array;
/** The last piece of each numbered negative, behind the number of its layer. */
export declare function numberedPieceLines(pieces: Pieces, from: number, to: number): Uint8Array;
/**
 * Recombined: the beginning of one URL and the rest of another that has as many pieces. Every piece is known in its
 * layer; some results may be URLs of the set, or come twice.
 */
export declare function recombinedLines(pieces: Pieces, count: number, random: () => number): Uint8Array;
/**
 * Swapped and repeated, from what the URLs themselves hold. Swapped: /a/b as /b/a, where the second layer knows b and
 * the third knows a. Repeated: /x/x on a host that has some /y/y, where both layers know x. Up to `most` lines each;
 * some may be URLs of the set.
 */
export declare function orderBlindLines(lab: Lab, pieces: Pieces, most: number): Promise<{
    swapped: Uint8Array;
    repeated: Uint8Array;
}>;
