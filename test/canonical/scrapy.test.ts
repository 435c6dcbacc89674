// The scrapy profile against w3lib: on vectors that the real one made, and on generated URLs where it is installed
// (it comes with Debian's python3-scrapy, as version 2.1.1). 15,000 URLs; URLSIEVE_FULL=1: 40,000.

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { keyOf, profiles, resolveProfile } from '../../src/canonical/profiles.ts'
import { whyMissing } from '../support/debian.ts'
import { expectIs } from '../support/expect-is.ts'
import { generateUrls } from './urls.ts'
import golden from './w3lib-vectors.json' with { type: 'json' }

const FULL = process.env.URLSIEVE_FULL === '1'

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

// Debian's w3lib is 2.1.1: the rule `w3lib` is that version in all. The profile differs from it in the authority alone.
const old = resolveProfile(['w3lib'])
const authorityOf = (url: string) =>
  /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)/i.exec(url.replace(/[\t\n\r]|^[\0- ]+/g, ''))?.[1] ?? ''
const isPlain = (url: string) => !/@|[^\0-\x7f].*:|:.*[^\0-\x7f]/s.test(authorityOf(url))

it('agrees with the vectors w3lib made', () => {
  expect(golden.vectors.length).toBeGreaterThan(400)
  for (const [url, key] of golden.vectors) {
    expect(keyOf(old, url!), JSON.stringify(url)).toBe(key)
    if (isPlain(url!)) expect(keyOf(profiles.scrapy, url!), JSON.stringify(url)).toBe(key)
  }
  expect(golden.vectors.filter(([url]) => isPlain(url!)).length).toBeGreaterThan(400)
})

it.skipIf(reason !== '')('the vectors are w3lib’s', () => {
  expect(askW3lib(golden.vectors.map(([url]) => url!)).keys).toEqual(golden.vectors.map(([, key]) => key))
})

it.skipIf(reason !== '')('agrees with w3lib on generated URLs', () => {
  const urls = generateUrls(51, FULL ? 40_000 : 15_000, { lineEnds: true })
  const { keys } = askW3lib(urls)
  for (const [i, url] of urls.entries()) {
    expectIs(keyOf(old, url), keys[i], url)
    if (isPlain(url)) expectIs(keyOf(profiles.scrapy, url), keys[i], url)
  }
})

it('credentials and port are as written, and the rest is as without them', () => {
  const key = (url: string) => keyOf(profiles.scrapy, url)
  const hosts = ['Example.com', 'Bücher.example', 'straße.de', '[::1]', 'h', 'a..b', '例え.jp']
  for (const scheme of ['http', 'sftp', 'FTP', 'foo']) {
    for (const host of hosts) {
      const [start, rest] = key(`${scheme}://${host}/a?c&b`)!.split('//', 2) as [string, string]
      const [name] = rest.split('/', 1)
      for (const credentials of ['', 'User@', 'User:PassWord@', ':@', 'a@B@', 'U%41:%7c@']) {
        for (const port of ['', ':80', ':00080']) {
          const made = `${start}//${credentials}${name}${port}/a?b=&c=`
          expect(key(`${scheme}://${credentials}${host}${port}/a?c&b`)).toBe(made)
        }
      }
    }
  }
})
