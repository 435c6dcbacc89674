// ContentSieve against a plain one that compares with everything, and its recall and precision on seeded pages.
import { describe, expect, it } from 'vitest'
import { NearIndex } from '../../src/content/near-index.ts'
import { ContentSieve, SieveError } from '../../src/index.ts'
import { keyFrom } from '../../src/lab/random.ts'
import { hamming, PlainContentSieve } from '../oracles/simhash.ts'
import { Pages } from './pages.ts'

const key = keyFrom(7, 'content')

describe('verdicts', () => {
  it('new, same, near', async () => {
    const sieve = await ContentSieve.create({ key })
    const words = new Pages(1, 'verdicts').page(600)
    expect(sieve.add(words.join(' '), 'a')).toEqual({ verdict: 'new' })
    expect(sieve.add(words.join(' '), 'b')).toEqual({ verdict: 'same', of: 'a' })
    const near = sieve.add([...words, 'and', 'one', 'more'].join(' '), 'c')
    expect(near).toMatchObject({ verdict: 'near', of: 'a' })
    expect(sieve.stats()).toMatchObject({ pages: 1, same: 1, near: 1 })
  })

  it('compare returns what add would, and remembers nothing', async () => {
    const sieve = await ContentSieve.create({ key })
    const words = new Pages(4, 'compare').page(600)
    const [text, near] = [words.join(' '), [...words, 'x'].join(' ')]
    expect(sieve.compare(text)).toEqual({ verdict: 'new' })
    expect(sieve.compare(text)).toEqual({ verdict: 'new' })
    sieve.add(text, 'a')
    const before = sieve.stats()
    expect(sieve.compare(text)).toEqual({ verdict: 'same', of: 'a' })
    expect(sieve.compare(near)).toMatchObject({ verdict: 'near', of: 'a' })
    expect(sieve.compare('short')).toEqual({ verdict: 'new' })
    expect(sieve.stats()).toEqual(before)
    expect(sieve.add(near, 'b')).toMatchObject({ verdict: 'near', of: 'a' })
  })

  it('pages of a template that share a few repeated shingles, such as an index, are not near', async () => {
    const pages = new Pages(5, 'index')
    const index = () =>
      Array.from({ length: 300 }, () => ['in', 'module', 'in', 'module', 'method', pages.word()]).flat()
    for (let seed = 0; seed < 5; seed++) {
      const sieve = await ContentSieve.create({ key: keyFrom(seed, 'index') })
      for (let i = 0; i < 20; i++) expect(sieve.add(index().join(' '), `${i}`)).toEqual({ verdict: 'new' })
    }
  })

  it('punctuation and case change the exact hash only', async () => {
    const sieve = await ContentSieve.create({ key, minCharacters: 0 })
    sieve.add('One two three four five six.', 'a')
    expect(sieve.add('one TWO three, four five six', 'b')).toEqual({ verdict: 'near', of: 'a', distance: 0 })
  })

  it('too little text is never the same, nor near: it is not remembered', async () => {
    const sieve = await ContentSieve.create({ key })
    const menu = 'Home · About us · Contact · Imprint'
    for (const text of ['', '', 'missing', 'missing', menu, menu, `${menu}!`]) {
      expect(sieve.add(text, 'a')).toEqual({ verdict: 'new' })
    }
    expect(sieve.stats()).toMatchObject({ pages: 7, same: 0, near: 0, short: 7 })
    // Letters and digits count: 99 are too few, however much is between them.
    for (const [letters, verdict] of [
      [99, 'new'],
      [100, 'same'],
    ] as const) {
      const text = Array.from({ length: letters }, (_, i) => 'abcdefghij'[i % 10]).join(' — ')
      sieve.add(text, 'first')
      expect(sieve.add(text, 'second').verdict).toBe(verdict)
    }
  })

  it('texts shorter than a shingle are compared exactly only', async () => {
    const sieve = await ContentSieve.create({ key, minCharacters: 0 })
    for (const text of ['', 'missing', 'Missing']) expect(sieve.add(text, text)).toEqual({ verdict: 'new' })
    expect(sieve.add('', 'again')).toEqual({ verdict: 'same', of: '' })
  })

  it('invalid options', async () => {
    await expect(ContentSieve.create({ nearBits: 4 })).rejects.toThrow(SieveError)
    await expect(ContentSieve.create({ nearBits: 4 })).rejects.toThrow(/nearBits 4: .* 0 to 3/)
    await expect(ContentSieve.create({ shingleWords: 0 })).rejects.toThrow(/shingleWords 0/)
    await expect(ContentSieve.create({ minCharacters: -1 })).rejects.toThrow(/minCharacters -1/)
    await expect(ContentSieve.create({ key: new Uint8Array(3) })).rejects.toThrow(/key of 3 bytes/)
  })
})

describe('long texts', () => {
  it('in linear time and little memory, whatever they are made of', async () => {
    const sieve = await ContentSieve.create({ key })
    const started = performance.now()
    const before = process.memoryUsage().rss
    for (const unit of ['a ', 'ﷺ', '\u0315\u0300', 'x', ' ', '千', '&<>']) {
      sieve.add(unit.repeat((4 * 1024 * 1024) / unit.length), unit)
    }
    expect(performance.now() - started).toBeLessThan(60_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024)
  })

  it('a change beyond the first million characters is near, not the same', async () => {
    const sieve = await ContentSieve.create({ key })
    const long = new Pages(2, 'long').page(300_000).join(' ')
    expect(long.length).toBeGreaterThan(2 ** 20)
    sieve.add(long, 'a')
    expect(sieve.add(`${long} and more`, 'b')).toEqual({ verdict: 'near', of: 'a', distance: 0 })
  })
})

describe('against the plain one', () => {
  it.each([1, 3, 5])(
    'shingles of %i words: the same verdict, page and distance for each of 700',
    async (shingleWords) => {
      const sieve = await ContentSieve.create({ key, shingleWords, minCharacters: 0 })
      const plain = new PlainContentSieve(shingleWords, key)
      const pages = new Pages(shingleWords, 'plain')
      const known: string[][] = []
      const counts: Record<string, number> = { new: 0, same: 0, near: 0 }
      for (let i = 0; i < 700; i++) {
        const copied = i > 20 && i % 3 > 0 ? known[pages.below(known.length)] : undefined
        const words = copied ? pages.changed(copied, pages.below(3)) : pages.page(2 + pages.below(120))
        known.push(words)
        const verdict = sieve.add(words.join(' '), `p${i}`)
        expect(verdict).toEqual(plain.add(words, `p${i}`))
        counts[verdict.verdict]!++
      }
      for (const verdict of ['new', 'same', 'near']) expect(counts[verdict]).toBeGreaterThan(5)
    },
  )

  it('finds every neighbour within three bits among 20,000 hashes, and none beyond', () => {
    const pages = new Pages(3, 'hashes')
    const index = new NearIndex(16)
    const half = () => pages.below(2 ** 32)
    const hashes = Array.from({ length: 20_000 }, () => ({ low: half(), high: half() }))
    hashes.forEach((hash, page) => {
      index.add(hash, page)
    })
    const wide = ({ low, high }: { low: number; high: number }) => (BigInt(high) << 32n) | BigInt(low)
    for (let asked = 0; asked < 4000; asked++) {
      const page = pages.below(hashes.length)
      let { low, high } = hashes[page]!
      const flips = asked % 6
      for (let flip = 0; flip < flips; flip++) {
        if (pages.below(2)) low = (low ^ (1 << pages.below(32))) >>> 0
        else high = (high ^ (1 << pages.below(32))) >>> 0
      }
      // Flips may undo each other; random hashes are 64 bits apart by chance only once in 10¹⁴ pairs.
      const bits = hamming(wide(hashes[page]!), wide({ low, high }))
      expect(index.nearest({ low, high }, 3)).toEqual(bits <= 3 ? { page, distance: bits } : null)
    }
  })
})

describe('recall and precision', () => {
  // 1,000 pages of 800 words; a copy of each with 0 to 16 words replaced.
  const PAGES = 1000
  const WORDS = 800
  const measure = async (changes: number, length: number) => {
    const sieve = await ContentSieve.create({ key })
    const pages = new Pages(changes, 'recall')
    const originals = Array.from({ length: PAGES }, () => pages.page(length))
    const falseNear = originals.filter(
      (words, i) => sieve.add(words.join(' '), `${i}`).verdict !== 'new',
    ).length
    let found = 0
    let wrong = 0
    originals.forEach((words, i) => {
      const verdict = sieve.add(pages.changed(words, changes).join(' '), `copy of ${i}`)
      if (verdict.verdict === 'new') return
      if (verdict.of === `${i}`) found++
      else wrong++
    })
    return { found: found / PAGES, falseNear, wrong }
  }
  // Each is measured once, for all tests that ask for it.
  const measured = new Map<string, ReturnType<typeof measure>>()
  const share = (changes: number, length = WORDS) => {
    const name = `${changes} of ${length}`
    const known = measured.get(name) ?? measure(changes, length)
    measured.set(name, known)
    return known
  }

  it.runIf(process.env.URLSIEVE_FULL)(
    'figures for docs/content.md',
    async () => {
      const rows = []
      for (const words of [100, 300, 800, 3000]) {
        for (const changes of [1, 2, 4, 8, 16]) {
          const { found, falseNear, wrong } = await share(changes, words)
          rows.push({ words, changes, found, falseNear, wrong })
        }
      }
      console.table(rows)
      const sieve = await ContentSieve.create()
      const pages = new Pages(1, 'speed')
      const texts = Array.from({ length: 500 }, () => pages.page(WORDS).join(' '))
      const started = performance.now()
      for (let i = 0; i < 20_000; i++) sieve.add(`${texts[i % 500]} ${i}`, String(i))
      console.log((performance.now() - started) / 20_000, 'ms a page of', WORDS, 'words', sieve.stats())
    },
    600_000,
  )

  it('no page is called near to another that it was not copied from', async () => {
    for (const changes of [0, 1, 16]) expect(await share(changes)).toMatchObject({ falseNear: 0, wrong: 0 })
  })

  it('copies with nothing, or one word in 800, changed are found; with 16 mostly not', async () => {
    expect((await share(0)).found).toBe(1)
    expect((await share(1)).found).toBeGreaterThan(0.9)
    expect((await share(16)).found).toBeLessThan(0.5)
  })
})
