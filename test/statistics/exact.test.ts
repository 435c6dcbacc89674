// The fingerprint filter is exact: not one wrong verdict against a Set over millions of URLs, half of them repeats, and
// it grows smoothly. 1 million URLs; URLSIEVE_FULL=1 makes it 20 million (and wants 6 GB of memory for the Sets).
import { describe, expect, it } from 'vitest'
import { Sieve } from '../../src/sieve.ts'
import { generateUrls } from '../canonical/urls.ts'
import { randomFrom } from '../support/random.mjs'

const FULL = process.env.URLSIEVE_FULL === '1'
const ASKED = FULL ? 20_000_000 : 1_000_000
const BATCH = 10_000
const key = new Uint8Array(16).fill(1)

const words = 'news shop item archive tag page user index.html products about-us 2024 img.png'.split(' ')

/** The URL number i: of a few thousand hosts, with paths that share their beginnings. */
function numbered(i: number): string {
  const mixed = Math.imul(i, 0x9e3779b1) >>> 0
  const word = words[mixed % words.length]!
  return `https://www.site-${mixed % 4999}.example/${word}/${mixed % 89}/${i.toString(36)}?id=${mixed}`
}

/** A Set throws past 16.7 million entries, so the truth is kept in several. */
class Truth {
  readonly #sets = Array.from({ length: 8 }, () => new Set<string>())
  size = 0

  /** 1 new, 0 seen: what an add must answer. */
  add(url: string): number {
    const set = this.#sets[(url.charCodeAt(url.length - 1) + url.length) % this.#sets.length]!
    const before = set.size
    set.add(url)
    const fresh = set.size - before
    this.size += fresh
    return fresh
  }
}

describe('fingerprint', () => {
  it(`no wrong verdict in ${ASKED} URLs`, { timeout: 3_600_000 }, async () => {
    const rng = randomFrom(1)
    const truth = new Truth()
    const sieve = await Sieve.create({ profile: 'raw', key })
    const odd = generateUrls(2, 20_000)
    let next = 0
    for (let asked = 0; asked < ASKED; asked += BATCH) {
      const urls = Array.from({ length: BATCH }, () => {
        const r = rng()
        if (r < 0.01) return odd[Math.floor(rng() * odd.length)]!
        return numbered(r < 0.505 || next === 0 ? next++ : Math.floor(rng() * next))
      })
      const verdicts = sieve.addMany(urls)
      for (let i = 0; i < BATCH; i++) {
        const expected = truth.add(urls[i]!)
        if (verdicts[i] !== expected) {
          expect.fail(`${urls[i]}, number ${asked + i}: got ${verdicts[i]}, expected ${expected}`)
        }
      }
    }
    const { urls, seen } = sieve.stats()
    expect(urls).toBe(truth.size)
    expect(urls + seen).toBe(ASKED)
    expect(seen / ASKED).toBeGreaterThan(0.45)
    // What was never added is new, all of it.
    const unknown = Array.from({ length: 100_000 }, (_, i) => `${numbered(i)}&never`)
    expect(sieve.hasMany(unknown).indexOf(1)).toBe(-1)
  })

  it('grows smoothly: at most 20 bytes per URL, and no step of more than 300 KiB once over 1 MB', {
    timeout: 3_600_000,
  }, async () => {
    const sieve = await Sieve.create({ profile: 'raw', key })
    const most = FULL ? 6_000_000 : 1_000_000
    let before = 0
    let largest = 0
    let worst = 0
    for (let n = 1; n <= most; n++) {
      sieve.add(numbered(n))
      const { sizeBytes } = sieve.stats()
      if (before > 1e6) largest = Math.max(largest, sizeBytes - before)
      if (n > 10_000) worst = Math.max(worst, sizeBytes / n)
      before = sizeBytes
    }
    expect(worst).toBeLessThanOrEqual(20)
    expect(largest).toBeLessThanOrEqual(300 * 1024)
    // Eight bytes a hash are the least there can be, so the count of bytes is no fancy.
    expect(before / most).toBeGreaterThan(8)
  })
})
