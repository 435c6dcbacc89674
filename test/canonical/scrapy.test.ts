// The scrapy profile against w3lib: on vectors that the real one made, and on generated URLs where it is installed
// (it comes with Debian's python3-scrapy).

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { keyOf, profiles } from '../../src/canonical/profiles.ts'
import { whyMissing } from '../debian.ts'
import { generateUrls } from './urls.ts'
import golden from './w3lib-vectors.json' with { type: 'json' }

const program = fileURLToPath(new URL('./ask_w3lib.py', import.meta.url))

function askW3lib(urls: string[]): { version: string; keys: (string | null)[] } {
  const options = { input: JSON.stringify(urls), maxBuffer: 1 << 28, encoding: 'utf8' } as const
  return JSON.parse(execFileSync('/usr/bin/python3', [program], { ...options, stdio: 'pipe' }))
}

function whyNot(): string {
  try {
    const { version } = askW3lib([])
    return version === golden.version ? '' : `found ${version}, the profile follows ${golden.version}`
  } catch {
    return `/usr/bin/python3 cannot import w3lib: ${whyMissing('python3-scrapy')}`
  }
}

const reason = whyNot()
if (reason !== '') console.warn(`scrapy differential skipped: ${reason}`)

it('agrees with the vectors w3lib made', () => {
  expect(golden.vectors.length).toBeGreaterThan(400)
  for (const [url, key] of golden.vectors) expect(keyOf(profiles.scrapy, url!), JSON.stringify(url)).toBe(key)
})

it.skipIf(reason !== '')('the vectors are w3lib’s', () => {
  expect(askW3lib(golden.vectors.map(([url]) => url!)).keys).toEqual(golden.vectors.map(([, key]) => key))
})

it.skipIf(reason !== '')('agrees with w3lib on generated URLs', () => {
  const urls = generateUrls(51, 40_000, { lineEnds: true })
  const { keys } = askW3lib(urls)
  for (const [i, url] of urls.entries())
    expect(keyOf(profiles.scrapy, url), JSON.stringify(url)).toBe(keys[i])
})
