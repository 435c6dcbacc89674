// cen-2010: its setting and the results it printed.

export const PAPER = {
  urls: [1e6, 1.5e6, 2e6, 2.5e6, 3e6, 3.5e6],
  bits: 16_829_152,
  hashes: 3,
  layers: 4,
  falsePositives: {
    classic: [4380, 19_374, 54_041, 116_710, 213_640, 350_513],
    multilayer: [0, 8, 35, 152, 427, 1035],
  },
  insertionSeconds: { classic: [16, 24, 32, 39, 47, 55], multilayer: [20, 30, 40, 50, 60, 70] },
  /** Of both, within 3 % of each other. */
  querySeconds: [13, 19, 26, 33, 39, 46],
}

/** The largest n of the paper. */
export const MOST_URLS = 3_500_000
/** Keys for classic: at the smallest n one count varies by 1.5 % (a standard deviation) by chance. */
export const KEYS = 5

/** The false positives that the paper printed for a scaled n. */
export function printedCount(filter: string, urls: number, scale: number): number {
  const at = PAPER.urls.findIndex((n) => Math.round(n * scale) === urls)
  return PAPER.falsePositives[filter as 'classic' | 'multilayer'][at]! * scale
}
