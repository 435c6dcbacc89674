// The exact sieve against plain LevelDB (get, then put, awaited one by one) on a link stream with 86 % repeats. The
// ratio is of one run, turn about, so that a busy machine slows both; bench/cases/exact.mjs measures it at length.
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { expect, it } from 'vitest'
import { linkStream } from '../../bench/link-stream.mjs'
import { ExactSieve } from '../../src/exact/index.ts'
import { newPaths } from '../support/folders.ts'

const folder = newPaths()
const BATCH = 1000
const TURN = 10_000
const LINKS = 100_000

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

it('is at least 5 times as fast as plain LevelDB, with no difference from a Set', { retry: 2 }, async () => {
  const links = linkStream({ links: LINKS, seed: 1 })
  const truth = new Set<string>()
  const expected = Uint8Array.from(links, (link) => (truth.size < truth.add(link).size ? 1 : 0))
  const sieve = await ExactSieve.open(folder())
  const level = new ClassicLevel(join(folder(), 'level'))
  await level.open()
  const verdicts = new Uint8Array(LINKS)
  const plain = new Uint8Array(LINKS)
  let exactMs = 0
  let plainMs = 0
  for (let turn = 0; turn < LINKS; turn += TURN) {
    const began = performance.now()
    for (let at = turn; at < turn + TURN; at += BATCH) {
      verdicts.set(await sieve.addMany(links.slice(at, at + BATCH)), at)
    }
    const between = performance.now()
    for (let i = turn; i < turn + TURN; i++) {
      if ((await level.get(links[i]!)) !== undefined) continue
      await level.put(links[i]!, '')
      plain[i] = 1
    }
    exactMs += between - began
    plainMs += performance.now() - between
  }
  await sieve.close()
  await level.close()
  console.log(
    `exact ${Math.round(LINKS / exactMs)} links/ms, plain LevelDB ${Math.round(LINKS / plainMs)}, ` +
      `ratio ${(plainMs / exactMs).toFixed(1)}`,
  )
  expect(Buffer.compare(verdicts, expected)).toBe(0)
  expect(Buffer.compare(plain, expected)).toBe(0)
  expect(plainMs / exactMs).toBeGreaterThan(5)
})
