// Links as people post them, in the order in which they come: old sites go on, new ones begin; articles have their date, threads
// and videos their number, titles are made of common words, and some are posted again.
import { randomFrom } from '../support/random.mjs'

const WORDS = 4000
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

const wordOf = (i: number) => {
  let text = ''
  for (let n = Math.imul(i + 1, 0x9e3779b1) >>> 8; n > 0; n = Math.floor(n / 26)) text += LETTERS[n % 26]
  return text
}

/** `count` distinct links, oldest first. */
export function linksInTime(count: number, seed: number): string[] {
  const random = randomFrom(seed)
  const below = (n: number) => Math.floor(random() * n)
  /** The smaller the likelier, as 1 / rank. */
  const ranked = (n: number) => Math.floor(n ** random()) - 1
  const title = () => Array.from({ length: 3 + below(5) }, () => wordOf(ranked(WORDS))).join('-')
  const urls = new Set<string>()
  for (let time = 0; urls.size < count; time++) {
    // A site in four is new in its time.
    const site = below(4) === 0 ? 200 + Math.floor(time / 20) : ranked(200)
    const day = `${2010 + Math.floor(time / 60_000)}/${1 + (Math.floor(time / 5000) % 12)}/${1 + (Math.floor(time / 170) % 28)}`
    const host = `${below(3) === 0 ? 'www.' : ''}${wordOf(site)}${site % 5}.com`
    const kind = site % 5
    if (kind === 0) urls.add(`http://${host}/${day}/${title()}.html`)
    else if (kind === 1) urls.add(`http://${host}/watch?v=${below(2 ** 31).toString(36)}`)
    else if (kind === 2)
      urls.add(`http://${host}/r/${wordOf(ranked(300))}/comments/${time.toString(36)}/${title()}/`)
    else if (kind === 3) urls.add(`https://${host}/${wordOf(ranked(3000))}/${wordOf(ranked(3000))}`)
    else urls.add(`http://${host}/${wordOf(ranked(20))}/story.php?id=${time}&ref=${wordOf(ranked(5))}`)
  }
  return [...urls]
}
