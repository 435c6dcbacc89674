// The link stream of the tests and benchmarks of the exact sieve.
import { expect, it } from 'vitest'
import { linkStream } from '../../bench/link-stream.mjs'

it('the stream repeats as a crawl does', () => {
  const links = linkStream({ links: 200_000, seed: 2 })
  const last = new Map<string, number>()
  const distances: number[] = []
  for (const [i, link] of links.entries()) {
    const before = last.get(link)
    if (before !== undefined) distances.push(i - before)
    last.set(link, i)
  }
  const within = (most: number) => distances.filter((d) => d <= most).length / distances.length
  expect(distances.length / links.length).toBeCloseTo(0.86, 2)
  // Links are chosen by distance to any earlier meeting; the last meeting is nearer still.
  expect(within(100)).toBeGreaterThan(0.5)
  expect(within(1000)).toBeGreaterThan(0.86)
  expect(within(1000)).toBeLessThan(1)
})
