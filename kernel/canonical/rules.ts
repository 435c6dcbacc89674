// The rules that the kernel applies to usual URLs besides the WHATWG standard's, as bits. `src/keyer/fast-rules.ts` names
// the lists of rules they stand for; the rules themselves are in `src/canonical/`, and the kernel must agree with them.

/** http is https, and https's default port is dropped. */
export const HTTP_IS_HTTPS: u32 = 1
/** Escapes as RFC 3986, section 6.2.2: of unreserved characters decoded, the others in capitals. */
export const ESCAPES: u32 = 8
/** The rules of profile `crawlee` after no-fragment. */
export const CRAWLEE: u32 = 16
/** The rule `scrapy`: instead of the standard's, which keeps ports and dot segments as they are written. */
export const SCRAPY: u32 = 32
/** The rules of profile `aggressive` after escapes. */
export const AGGRESSIVE: u32 = 64

/** Path and query are rewritten once the URL is copied. */
export const REWRITTEN: u32 = CRAWLEE | SCRAPY | AGGRESSIVE
/** The query is decoded and written as a form. */
export const FORM: u32 = CRAWLEE | SCRAPY

/** Longer lines are not rewritten here: their keys may take three times their bytes. */
export const MOST_REWRITTEN: usize = 4096

/** Instead of the end of a key: the line is left to the platform. */
export const UNUSUAL: usize = 0
