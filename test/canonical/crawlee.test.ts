// The crawlee profile against the package Crawlee itself computes its unique keys with.

import { normalizeUrl } from '@apify/utilities'
import { expect, it } from 'vitest'
import { keyOf, profiles } from '../../src/canonical/profiles.ts'
import { expectIs } from '../support/expect-is.ts'
import { generateUrls } from './urls.ts'

// See docs/profiles.md: an opaque path with spaces before its ? or #.
const unsupported = (url: string) => / +[?#]/.test(url.replace(/[\t\n\r]/g, ''))
// And a path in which the platform left dot segments (Node 20): Crawlee's key has them.
const hasDots = (key: string) => /^[^?]*\/\.\.?(?:[/?]|$)/.test(key)

it('agrees with normalizeUrl on generated URLs', () => {
  let valid = 0
  for (const url of generateUrls(41, 40_000, { lineEnds: true })) {
    const expected = normalizeUrl(url)
    if (expected !== null && !/^(?:https?|ftp|wss?|file):/.test(expected) && unsupported(url)) continue
    if (expected !== null && hasDots(expected)) continue
    expectIs(keyOf(profiles.crawlee, url), expected, url)
    if (expected !== null) valid++
  }
  expect(valid).toBeGreaterThan(30_000)
})

it('agrees on what is no URL', () => {
  for (const url of ['', ' ', 'example.com', 'http://', '/a', '//h/a']) {
    expect(keyOf(profiles.crawlee, url)).toBe(normalizeUrl(url))
  }
})
