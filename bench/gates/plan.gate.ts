// The size of a blocked filter for very many URLs, which is found by search.
import { expect } from 'vitest'
import { blockedPlan } from '../../src/sizing/blocked.ts'
import { gate } from './gate.ts'

gate('plan: a billion URLs at 1e-7 in under 50 ms', {}, async ({ measured }) => {
  const times = Array.from({ length: 3 }, (_, more) => {
    const start = performance.now()
    blockedPlan({ urls: 1e9 + more, rate: 1e-7 })
    return performance.now() - start
  })
  measured(`${Math.min(...times).toFixed(1)} ms`)
  expect(Math.min(...times)).toBeLessThan(50)
})
