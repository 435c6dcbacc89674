// The eigenvalue extension filter (jiang-eigenvalue): k hashes of the URL in a first region, d hashes of its
// features g(x) in a second. Three of the paper's six equations are misprinted and (4) forgets that the
// regions have their own sizes and loads; derived anew here, each function says from which.
import { classicFill, classicRate } from './classic.js';
/** Share of zeros, eq. (1): (1 − 1/m)^(kn) ≈ e^(−kn/m). Printed as 1 − e^(−kn/m), which is the ones. */
export function eigenvalueZeros({ bits, hashes, urls, }) {
    return 1 - classicFill({ bits, hashes, urls });
}
/**
 * Bits a URL for a rate at k hashes, eq. (3): m/n = −k / ln(1 − e^(ln p / k)).
 * Printed with e^(−ln p / k), which is above 1, so that the logarithm has no value.
 */
export function eigenvalueBitsPerUrl({ rate, hashes }) {
    return -hashes / Math.log1p(-Math.exp(Math.log(rate) / hashes));
}
/**
 * The paper's rate, eqs. (2), (4), (5), both regions taken as m bits with n keys. In the exponent of (6) the
 * logarithms add, e^(k ln(…) + d ln(…)); printed as a product, it is a "probability" above 1.
 */
export function eigenvaluePaperRate({ bits, hashes, urls, featureHashes = eigenvalueHashes({ hashes }), }) {
    const ones = (k) => Math.log(-Math.expm1((-k * urls) / bits));
    return Math.exp(hashes * ones(hashes) + featureHashes * ones(featureHashes));
}
export function eigenvalueRates({ bits, hashes, urls, features, featureHashes = eigenvalueHashes({ hashes }), }) {
    const { urlBits, featureBits } = eigenvalueSplit({ bits });
    const lookAlike = classicRate({ bits: urlBits, hashes, urls });
    const unlike = classicRate({ bits: featureBits, hashes: featureHashes, urls: features });
    return {
        paper: eigenvaluePaperRate({ bits, hashes, urls, featureHashes }),
        corrected: lookAlike * unlike,
        lookAlike,
    };
}
/** The corrected rate alone; look-alikes fare worse, see `eigenvalueRates`. */
export function eigenvalueRate(load) {
    return eigenvalueRates(load).corrected;
}
/** Section 2.3: the array grows by a third, so of the whole three quarters are for URLs, one for features. */
export function eigenvalueSplit({ bits }) {
    const featureBits = Math.floor(bits / 4);
    return { urlBits: bits - featureBits, featureBits };
}
/** Section 2.3: d/k = 1/3, rounded up so that there is at least one. */
export function eigenvalueHashes({ hashes }) {
    return Math.ceil(hashes / 3);
}
