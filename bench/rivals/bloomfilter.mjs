// bloomfilter (npm, Jason Davies): the fastest Bloom filter in plain JavaScript. `add` returns nothing, so a
// verdict takes `test` and then `add`; both ways are measured.

import { packageVersion } from '../programs.mjs'

export const filters = [
  { name: 'bloomfilter-1e-3', rate: 1e-3 },
  { name: 'bloomfilter-1e-6', rate: 1e-6 },
].map(({ name, rate }) => ({
  name,
  passes: ['strings', 'verdicts'],
  missing: () => undefined,
  version: () => packageVersion('bloomfilter'),
  async open(expectedUrls) {
    const { BloomFilter } = await import('bloomfilter')
    const filter = BloomFilter.withTargetError(expectedUrls, rate)
    return {
      saysNew: false,
      add: (url) => filter.add(url),
      has: (url) => filter.test(url),
      sizeBytes: () => filter.buckets.byteLength,
    }
  },
}))
