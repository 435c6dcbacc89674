// The doc comments of the options, for editors. Written from the descriptions by test/options/docs.test.ts.
export interface OptionDocs {
  /** Distinct URLs it is planned for. */
  readonly expectedUrls?: unknown
  /** Promised false-positive rate at that many URLs. Default: 1e-6. */
  readonly falsePositiveRate?: unknown
  /** Memory for the filter, instead of a rate. */
  readonly sizeBytes?: unknown
  /** Bits of the whole filter: the papers' m. */
  readonly bits?: unknown
  /** Hash functions per URL: the papers' k. */
  readonly hashes?: unknown
  /** Number of layers. Default: 4. */
  readonly layers?: unknown
  /** Segments past the last layer: join them into it, or grow a layer for each. Default: join. */
  readonly depth?: unknown
  /** Bits of each layer: the papers' m. */
  readonly bitsPerLayer?: unknown
  /** Hash functions per folder. Default: 3. */
  readonly folderHashes?: unknown
  /** The feature function g; in the library also your own. Default: host-initials. */
  readonly features?: unknown
  /** Hash functions of the feature: the paper's d. Default: hashes / 3, rounded up. */
  readonly featureHashes?: unknown
  /** Words expected in a key; divided by the hashes they give the layers. Default: 12. */
  readonly keywords?: unknown
  /** The filter inside. Default: blocked or fingerprint. */
  readonly inner?: unknown
  /** How long a URL is remembered. */
  readonly windowMs?: unknown
  /** How many URLs are remembered. Default: as expectedUrls. */
  readonly windowUrls?: unknown
  /** Parts in which it forgets the oldest URLs. Default: 8. */
  readonly generations?: unknown
}
