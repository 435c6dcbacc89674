import { describe, expect, it } from 'vitest'
import { distinctWords, englishStopWords, wordsOf } from '../../src/search/words.ts'

describe('wordsOf', () => {
  it.each([
    ['The Dark Knight', ['the', 'dark', 'knight']],
    ["Amélie's 2ⁿᵈ ﬁlm", ['amélie', 's', '2nd', 'film']],
    ['Amélie', ['amélie']],
    ['WALL·E / se7en—8½', ['wall', 'e', 'se7en', '81', '2']],
    ['हिन्दी फ़िल्म', ['हिन्दी', 'फ़िल्म'.normalize('NFKC')]],
    ['千と千尋の神隠し', ['千と千尋の神隠し']],
    ['', []],
    ['?! …', ['...'].filter(() => false)],
  ])('%s', (text, words) => expect(wordsOf(text)).toEqual(words))

  it('takes linear time, also for marks that are to be put in order', () => {
    // Their order is that of their classes: each U+0315 moves behind all U+0300 before it.
    for (const marks of ['\u0315\u0300', '\u0300\uff9e', '\u0f73\u0300\u0315']) {
      const started = performance.now()
      expect(wordsOf(`a${marks.repeat(500_000)} b`)).toHaveLength(2)
      // Sorted whole, these take minutes.
      expect(performance.now() - started).toBeLessThan(20_000)
    }
    // Up to 30 in a row they are sorted as ever.
    const few = `a${'\u0315\u0300'.repeat(15)}`
    expect(wordsOf(few)).toEqual([few.normalize('NFKC')])
  })

  it('keeps each word once, without the stop words', () => {
    expect([...distinctWords('the cat and The Cat', englishStopWords)]).toEqual(['cat'])
  })

  it('has stop words that are words', () => {
    for (const word of englishStopWords) expect(wordsOf(word)).toEqual([word])
  })
})
