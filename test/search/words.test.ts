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

  it('keeps each word once, without the stop words', () => {
    expect([...distinctWords('the cat and The Cat', englishStopWords)]).toEqual(['cat'])
  })

  it('has stop words that are words', () => {
    for (const word of englishStopWords) expect(wordsOf(word)).toEqual([word])
  })
})
