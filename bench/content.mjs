// ContentSieve on real pages: which texts of a folder of HTML it reports as near to each other, and how many near copies of them it
// finds. A "near" verdict is right when the two texts have at least half of their distinct pairs of words in common.
//   node bench/content.mjs FOLDER… [--keys 2] [--words 2] [--json]
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { randomFrom } from '../test/support/random.mjs'
import { importInternals } from './internals.mjs'
import { table } from './table.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    keys: { type: 'string', default: '2' },
    words: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
  },
})
if (positionals.length === 0) throw new Error('no folder: expected node bench/content.mjs FOLDER…')

const { ContentSieve, HtmlPage, wordsOf } = await importInternals(
  'content/content-sieve',
  'crawlers/html-page',
  'search/words',
)

/** Texts with half of their pairs of words in common are near. */
const NEAR = 0.5

/** Near copies: what one crawl and the next, or a page and its printed version, differ in. */
const next = randomFrom(1)
const below = (limit) => Math.floor(next() * limit)
const replaced = (words, at, others) => [...words.slice(0, at), ...others, ...words.slice(at + others.length)]
const other = () => `x${below(1e9).toString(36)}`
const copies = {
  'one word replaced': (words) => replaced(words, below(words.length), [other()]),
  'a date replaced (three words in a row)': (words) =>
    replaced(words, below(words.length - 2), ['19', 'november', other()]),
  'a line of ten words appended': (words) => [...words, ...Array.from({ length: 10 }, other)],
  'one word in 500 replaced, at least one': (words) => {
    let copy = words
    for (let i = 0; i < Math.max(1, Math.round(words.length / 500)); i++)
      copy = replaced(copy, below(words.length), [other()])
    return copy
  },
}

/** The HTML files of a folder, each once, however links lead to it. */
function* filesIn(folder, known = new Set()) {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name)
    let real
    try {
      real = realpathSync(path)
    } catch {
      continue // a link to nothing
    }
    if (known.has(real)) continue
    known.add(real)
    if (statSync(real).isDirectory()) yield* filesIn(path, known)
    else if (/\.html?$/.test(name)) yield path
  }
}

function textOf(path) {
  const page = new HtmlPage({ urlCharacters: 0, isXml: false, wantsText: true, allTypes: false, links: 0 })
  page.write(readFileSync(path, 'utf8'))
  page.end()
  return page.text
}

const pairsOf = (words) => new Set(words.slice(1).map((word, i) => `${words[i]} ${word}`))

/** The share of the distinct pairs of words of both texts that they have in common. */
function inCommon(a, b) {
  const [one, two] = [pairsOf(a), pairsOf(b)]
  let common = 0
  for (const pair of one) if (two.has(pair)) common++
  return common / (one.size + two.size - common)
}

const texts = new Map()
for (const folder of positionals) for (const path of filesIn(folder)) texts.set(path, textOf(path))

const counts = { files: texts.size, same: 0, short: 0, compared: 0, near: 0, rightNear: 0 }
const found = Object.fromEntries(Object.keys(copies).map((kind) => [kind, { copies: 0, found: 0, wrong: 0 }]))
const wrongPairs = []
for (let i = 1; i <= Number(values.keys); i++) {
  const key = Uint8Array.from({ length: 16 }, () => below(256))
  const sieve = await ContentSieve.create({ key, shingleWords: Number(values.words) })
  const pages = new Map()
  for (const [path, text] of texts) {
    const verdict = sieve.add(text, path)
    if (verdict.verdict === 'same') continue
    const words = wordsOf(text)
    pages.set(path, words)
    if (verdict.verdict !== 'near') continue
    counts.near++
    const share = inCommon(words, pages.get(verdict.of))
    if (share >= NEAR) counts.rightNear++
    else wrongPairs.push([share.toFixed(2), path, verdict.of])
    pages.delete(path)
  }
  const { same, short, pages: kept } = sieve.stats()
  counts.same += same
  counts.short += short
  counts.compared += kept - short
  for (const [path, words] of pages) {
    if (sieve.compare(texts.get(path)).verdict === 'new') continue // too short to be remembered
    for (const [kind, copy] of Object.entries(copies)) {
      const verdict = sieve.compare(copy(words).join(' '))
      found[kind].copies++
      if (verdict.verdict !== 'near') continue
      if (verdict.of === path || inCommon(words, wordsOf(texts.get(verdict.of))) >= NEAR) found[kind].found++
      else found[kind].wrong++
    }
  }
}

if (values.json) console.log(JSON.stringify({ ...counts, found, wrongPairs }))
else {
  const percent = (share) => `${(100 * share).toFixed(1)} %`
  console.log(
    `${counts.files} files, ${values.keys} keys; in all runs ${counts.compared} texts kept, ${counts.same} the same as another, ${counts.short} short`,
  )
  console.log(`near among the files: ${counts.near}, right ${counts.rightNear}`)
  for (const pair of wrongPairs) console.log(`  wrong: ${pair.join(' ')}`)
  console.log(
    table(
      ['near copy', 'copies', 'found', 'near to another text'],
      Object.entries(found).map(([kind, { copies: n, found: hits, wrong }]) => [
        kind,
        String(n),
        percent(hits / n),
        String(wrong),
      ]),
    ),
  )
}
