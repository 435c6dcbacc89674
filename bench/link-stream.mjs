// A crawl's links, by seed: 86 % have come before; of those 52 % within the last 100 links and 88 % within the last
// 1,000, as measured on a real site crawl (shared/peers.md); the others come from anywhere before.

const REPEATS = 0.86
const WITHIN_100 = 0.52
const WITHIN_1000 = 0.88

/** Mulberry32: numbers from 0 to 1. */
export function randomOf(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The links themselves, in the order they are found. */
export function linkStream({ links, seed }) {
  const next = randomOf(seed)
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
