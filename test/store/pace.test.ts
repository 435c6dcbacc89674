// The turns of the process, by a clock that goes on by a millisecond at each look at it.
import { afterAll, beforeEach, expect, it } from 'vitest'
import { Pace, Turns, turns } from '../../src/store/pace.ts'

const { clock } = turns
let looks = 0
beforeEach(() => {
  turns.clock = () => ++looks
})
afterAll(() => {
  turns.clock = clock
})

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

it('the time of a turn is shared by all long work, however much there is', async () => {
  let parts = 0
  const workers = Array.from({ length: 50 }, async () => {
    const pace = new Pace()
    for (let i = 0; i < 20; i++) {
      await pace.rest()
      parts++
    }
  })
  let most = 0
  let isOver = false
  const watching = (async () => {
    await nextTurn()
    while (!isOver) {
      const before = parts
      await nextTurn()
      most = Math.max(most, parts - before)
    }
  })()
  await Promise.all(workers)
  isOver = true
  await watching
  expect(parts).toBe(1000)
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(10)
})

it('what is short comes first, and what is long is not held up for good', async () => {
  const own = new Turns()
  const done: string[] = []
  for (let i = 0; i < 30; i++) own.enter(() => done.push('long'))
  for (let i = 0; i < 30; i++) own.enter(() => done.push('short'), true)
  let now = 0
  own.clock = () => (now += 3)
  const turnsOf: string[][] = []
  while (done.length < 60) {
    const before = done.length
    await nextTurn()
    if (done.length > before) turnsOf.push(done.slice(before))
  }
  // All short ones are done while there are long ones left; of two turns, one begins with a long one.
  expect(done.lastIndexOf('short')).toBeLessThan(45)
  const firsts = turnsOf.slice(0, 8).map(([first]) => first)
  expect(firsts.filter((first) => first === 'long').length).toBe(4)
})

it('nothing long begins at once while something waits', async () => {
  const own = new Turns()
  expect(own.mayBegin(() => false)).toBe(true)
  own.enter(() => {})
  expect(own.mayBegin(() => false)).toBe(false)
  expect(own.mayBegin(() => true)).toBe(true)
  await nextTurn()
  await nextTurn()
  expect(own.mayBegin(() => false)).toBe(true)
})
