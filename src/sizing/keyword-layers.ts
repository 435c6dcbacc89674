// The number of layers of sharma-keywords.

/**
 * sharma-keywords section 6: layers = keywords ÷ hash count. The paper does not say how it rounds; its
 * program is Python with counts, so: down, and at least one.
 */
export function keywordLayers({ keywords, hashes }: { keywords: number; hashes: number }): number {
  return Math.max(1, Math.floor(keywords / hashes))
}
