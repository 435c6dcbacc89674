// A stored sieve keeps the rules it was made with: a later version's profile of the same name opens it and changes no
// key; other rules are refused.
import { describe, expect, it } from 'vitest'
import { profiles, resolveProfile } from '../../src/canonical/profiles.ts'
import { ExactSieve } from '../../src/exact/index.ts'
import { checkShape, parametersFor } from '../../src/redis/parameters.ts'
import { Sieve } from '../../src/sieve.ts'
import { newFolders } from '../support/folders.ts'

const folder = newFolders()()

/** Profiles as version 0.1 had them. */
const then = {
  web: ['whatwg', 'no-fragment', 'https'],
  scrapy: ['w3lib'],
  aggressive:
    'whatwg,no-fragment,https,no-tracking,no-session,no-www,no-index,sort-query,no-trailing-slash,no-empty-query'.split(
      ',',
    ),
} as const
/** Two URLs that are one today and were two then. */
const joined = {
  web: ['http://h.example/foo', 'https://h.example/%66oo'],
  scrapy: ['http://user@b\u00fccher.example/', 'http://user@xn--bcher-kva.example/'],
  aggressive: ['http://www.h.example/a', 'http://www2.h.example//a'],
} as const

describe.each(['web', 'scrapy', 'aggressive'] as const)('%s as it was', (name) => {
  const old = { ...resolveProfile(then[name] as never), name }
  const [a, b] = joined[name]

  it('joins today what it kept apart', async () => {
    const sieve = await Sieve.create({ profile: name })
    expect([sieve.add(a), sieve.add(b)]).toEqual([true, false])
  })

  it.each([
    ['a store', Sieve.open],
    ['an exact sieve', ExactSieve.open],
  ] as const)('%s is opened by the name and answers as before', async (kind, open) => {
    const path = `${folder}/${name} ${kind}`
    const made = await open(path, { profile: old })
    expect(await made.add(a)).toBe(true)
    await made.close()
    for (const profile of [undefined, name, profiles[name], old, then[name] as never]) {
      const sieve = await open(path, profile === undefined ? {} : { profile })
      expect(sieve.profile.rules.map((rule) => rule.name)).toEqual([...then[name]])
      expect(await sieve.has(a)).toBe(true)
      expect(await sieve.has(b)).toBe(false)
      await sieve.close()
    }
    const others = [name === 'web' ? 'raw' : 'web', profiles[name].rules.map((rule) => rule.name)]
    for (const profile of others as never[]) {
      await expect(open(path, { profile })).rejects.toThrow(
        / has profile '.*', not '.*': leave the option out/,
      )
    }
  })

  it('in Redis it is opened by the name as well', () => {
    const there = parametersFor({ profile: old })
    expect(there.profile).toEqual({ name, rules: then[name] })
    expect(() => checkShape('x', there, { profile: name })).not.toThrow()
    expect(() => checkShape('x', there, { profile: 'raw' })).toThrow(/has profile /)
  })

  it('does not merge with today’s', async () => {
    const [before, now] = [await Sieve.create({ profile: old }), await Sieve.create({ profile: name })]
    await expect(now.merge(before)).rejects.toThrow(`different rules of profile ${name} (`)
  })
})
