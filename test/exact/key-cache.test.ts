import { describe, expect, it } from 'vitest'
import { KeyCache } from '../../src/exact/key-cache.ts'
import { randomFrom } from '../support/random.mjs'

const bytesOf = (text: string) => Buffer.from(text)

describe('the cache of keys', () => {
  it.each([1, 2, 7, 100])('of %i never says it has a key it was not given, under any hashes', (entries) => {
    const next = randomFrom(entries)
    const cache = new KeyCache(entries)
    const given = new Set<string>()
    let hits = 0
    for (let i = 0; i < 20_000; i++) {
      const text = String(Math.floor(next() * 300)).repeat(1 + Math.floor(next() * 40))
      const key = bytesOf(`..${text}.`)
      const low = text.length % 5 // nearly all hashes meet
      const at = [low, 0, key, 2, key.length - 1] as const
      const action = next()
      if (action < 0.4) {
        cache.put(...at)
        given.add(text)
        if (text.length < 1000) expect(cache.has(...at)).toBe(true)
      } else if (action < 0.5) {
        cache.delete(...at)
        given.delete(text)
      } else if (action < 0.501) {
        cache.clear()
        given.clear()
      } else if (cache.has(...at)) {
        hits++
        expect(given.has(text)).toBe(true)
      }
    }
    if (entries > 2) expect(hits).toBeGreaterThan(0)
  })

  it('holds the last so many keys, and those met again', () => {
    const cache = new KeyCache(1000)
    const key = (i: number) => bytesOf(`https://a.example/${i}`)
    const has = (i: number) => cache.has(i, 0, key(i), 0, key(i).length)
    for (let i = 0; i < 10_000; i++) {
      cache.put(i, 0, key(i), 0, key(i).length)
      if (i % 100 === 0) expect(has(0)).toBe(true)
    }
    for (let i = 9100; i < 10_000; i++) expect(has(i)).toBe(true)
    expect(has(5000)).toBe(false)
  })

  it('stays as large as it was made: long keys push out more, and one too long is let pass', () => {
    const cache = new KeyCache(1000)
    const { sizeBytes } = cache
    expect(sizeBytes).toBeLessThan(160_000)
    const long = Buffer.alloc(10_000, 'x')
    for (let i = 0; i < 100; i++) cache.put(i, 0, long, 0, long.length)
    const present = Array.from({ length: 100 }, (_, i) => cache.has(i, 0, long, 0, long.length))
    expect(present.filter(Boolean).length).toBeLessThanOrEqual(12)
    expect(present[99]).toBe(true)
    const huge = Buffer.alloc(1_000_000, 'x')
    cache.put(1, 1, huge, 0, huge.length)
    expect(cache.has(1, 1, huge, 0, huge.length)).toBe(false)
    expect(cache.sizeBytes).toBe(sizeBytes)
  })
})
