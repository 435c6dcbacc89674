// Stored b-bit fingerprints (Mercator, as told in cen-2010 section II): wrong only when two keys share one.
/** Rate at `urls` stored: 1 − (1 − 2^−b)^n, which is n / 2^b until the table holds a good share of all. */
export function fingerprintRate({ urls, bits = 64 }) {
    return -Math.expm1(urls * Math.log1p(-(2 ** -bits)));
}
/** Expected pages lost over a whole crawl of `urls` distinct URLs: n² / 2^(b+1); an upper bound. */
export function fingerprintDrops({ urls, bits = 64 }) {
    return urls ** 2 / 2 ** (bits + 1);
}
