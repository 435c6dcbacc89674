// The exact sieve against plain LevelDB (get, then put, awaited one by one) on a link stream with 86 % repeats. The two
// alternate within one run, so that a busy machine slows both; bench/cases/exact.mjs measures it at length.
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { expect } from 'vitest'
import { ExactSieve } from '../../src/exact/index.ts'
import { newPaths } from '../../test/support/folders.ts'
import { linkStream } from '../link-stream.mjs'
import { gate } from './gate.ts'

const folder = newPaths()
const BATCH = 1000
const TURN = 10_000
const LINKS = 100_000

gate('exact sieve: at least 5 times as fast as plain LevelDB', { retry: 2 }, async ({ measured }) => {
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
  measured(
    `${(plainMs / exactMs).toFixed(1)} times: ${Math.round(LINKS / exactMs)} links/ms, LevelDB ${Math.round(LINKS / plainMs)}`,
  )
  expect(Buffer.compare(verdicts, expected)).toBe(0)
  expect(Buffer.compare(plain, expected)).toBe(0)
  expect(plainMs / exactMs).toBeGreaterThan(5)
})
