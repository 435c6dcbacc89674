/** Rate at `urls` stored: 1 − (1 − 2^−b)^n, which is n / 2^b until the table holds a good share of all. */
export declare function fingerprintRate({ urls, bits }: {
    urls: number;
    bits?: number;
}): number;
/** Expected pages lost over a whole crawl of `urls` distinct URLs: n² / 2^(b+1); an upper bound. */
export declare function fingerprintDrops({ urls, bits }: {
    urls: number;
    bits?: number;
}): number;
