// From text to words: runs of Unicode letters, digits and combining marks, of the text's NFKC form in lower case.
// One rule for tables, documents and queries.

const RUNS = /[\p{L}\p{N}\p{M}]+/gu

/**
 * Marks in a row that are put in order; UAX 15 (Stream-Safe Text) has the same limit. Sorting takes the square of their
 * number, and a text can have a million. U+FF9E and U+FF9F become marks.
 */
const MARKS = /[\p{M}\uff9e\uff9f]{30}(?=[\p{M}\uff9e\uff9f])/gu
/** No mark is below. */
const MARK_RANGE = /[\u0300-\uffff]/
/** U+034F, the grapheme joiner: a mark that nothing is moved past. */
const JOINER = '\u034f'

/** The words of a text in order, with repeats: `Amélie's 2ⁿᵈ` gives amélie, s, 2nd. */
export function wordsOf(text: string): string[] {
  const safe = MARK_RANGE.test(text) ? text.replace(MARKS, `$&${JOINER}`) : text
  return safe.normalize('NFKC').toLowerCase().match(RUNS) ?? []
}

/** The distinct words of a text, in order of appearance, without `stopWords`. */
export function distinctWords(text: string, stopWords?: ReadonlySet<string>): Set<string> {
  const words = new Set(wordsOf(text))
  if (stopWords) for (const word of stopWords) words.delete(word)
  return words
}

/** Words too common in English to tell documents apart: the whole list of `english`. */
export const englishStopWords: ReadonlySet<string> = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have he her his i if in into is it its ' +
    'me my no not of on or our she so that the their them then there these they this to was we were what when which ' +
    'who will with would you your'
  ).split(' '),
)
