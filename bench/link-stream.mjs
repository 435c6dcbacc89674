// A crawl's links, by seed: 86 % are repeats; of those 52 % of one of the last 100 links and 88 % of one of the last
// 1,000, as measured on a crawl of a real site; the others of any link before.
import { randomFrom } from '../test/support/random.mjs'

const REPEATS = 0.86
const WITHIN_100 = 0.52
const WITHIN_1000 = 0.88

/** The links themselves, in the order they are found. */
export function linkStream({ links, seed }) {
  const next = randomFrom(seed)
  const stream = []
  let fresh = 0
  for (let i = 0; i < links; i++) {
    if (i === 0 || next() >= REPEATS) {
      const host = Math.floor(next() ** 3 * 5000)
      stream.push(`https://www.host-${host}.example/section/${fresh % 97}/article-${fresh}.html?ref=${seed}`)
      fresh++
      continue
    }
    const which = next()
    const [least, most] = which < WITHIN_100 ? [1, 100] : which < WITHIN_1000 ? [101, 1000] : [1001, i]
    const distance = Math.floor(least + next() * Math.max(1, most - least + 1))
    stream.push(stream[i - Math.min(i, distance)])
  }
  return stream
}
