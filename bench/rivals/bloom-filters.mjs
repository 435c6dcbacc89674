// bloom-filters (npm, Callidon): the widest choice of filters in JavaScript, and some fifty times slower, so
// it gets fewer URLs, with a filter sized for those: its speed at the full number is an extrapolation.

import { packageVersion } from '../programs.mjs'

export const filters = [
  {
    name: 'bloom-filters-1e-3',
    passes: ['strings', 'verdicts'],
    urlLimit: 200_000,
    missing: () => undefined,
    version: () => packageVersion('bloom-filters'),
    async open(expectedUrls) {
      const { default: library } = await import('bloom-filters')
      const filter = library.BloomFilter.create(expectedUrls, 1e-3)
      return {
        saysNew: false,
        add: (url) => filter.add(url),
        has: (url) => filter.has(url),
        sizeBytes: () => filter.size / 8,
      }
    },
  },
]
