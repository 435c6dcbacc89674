// `explain`: the steps lead from the URL to its key, and the notes say what changed.

import { expect, it } from 'vitest'
import { explainKey } from '../../src/canonical/explain.ts'
import { keyOf, type Profile, profiles } from '../../src/canonical/profiles.ts'
import { Sieve } from '../../src/sieve.ts'
import { STATE } from '../../src/state.ts'
import { expectIs } from '../support/expect-is.ts'
import { randomFrom } from '../support/random.mjs'
import { generateUrls, mutateUrl } from './urls.ts'

const notes = (url: string) => explainKey(profiles.whatwg, url).steps[0]!.notes

it.each([
  ['HTTP://h/', ['scheme lower-cased']],
  ['http://EXAMPLE.com/', ['host lower-cased']],
  ['http://h:80/', ['default port 80 dropped']],
  ['http://h:/', ['empty port dropped']],
  ['http://h:0081/', ['leading zeros of the port dropped']],
  ['http://h', ['empty path written as /']],
  ['http://h/a/../b', ['dot segments resolved']],
  ['http://h/%2E/b', ['dot segments resolved']],
  ['http://h/a b"é', ['percent-encoded in the path: space " é']],
  ["http://h/?'", ["percent-encoded in the query: '"]],
  [' http://h/\t', ['white space stripped at the ends']],
  ['http://h/a\tb', ['tabs and line ends removed']],
  ['http:\\\\h\\a', ['backslashes read as slashes']],
  ['http:h/', ['scheme followed by two slashes']],
  ['http://bücher.example/', ['international host written as punycode']],
  ['http://ｈ/', ['host characters mapped to plain ones']],
  ['http://127.1/', ['IPv4 address written as four decimal numbers']],
  ['http://[0:0::1]/', ['IPv6 address in its shortest form']],
  ['http://%61/', ['host percent-decoded']],
  ['http://@h/', ['empty credentials dropped']],
  ['http://a b@h/', ['credentials percent-encoded']],
  ['file://localhost/a', ['host localhost dropped']],
  ['http://h/a', []],
])('whatwg notes of %j', (url, expected) => {
  expect(notes(url)).toEqual(expected)
})

it('tells each step of a profile', () => {
  const { key, isUrl, steps } = explainKey(profiles.aggressive, 'http://www.H.com/index.html?b&utm_x=1&a#f')
  expect({ key, isUrl }).toEqual({ key: 'https://h.com?a&b', isUrl: true })
  expect(steps.map(({ rule, notes }) => `${rule}: ${notes.join(', ')}`)).toEqual([
    'bare-host: ',
    'whatwg: host lower-cased',
    'no-fragment: fragment #f dropped',
    'https: scheme http: → https:',
    'escapes: ',
    'escape-unwise: ',
    'no-tracking: parameter utm_x dropped',
    'no-session: ',
    'no-host-dot: ',
    'no-www-number: host //www.h.com → //h.com',
    'single-slashes: ',
    'no-index: path /index.html → /',
    'no-empty-parameters: ',
    'sort-query: parameters in another order',
    'no-trailing-slash: path / → (none)',
    'no-empty-query: ',
  ])
})

it('ends at the rule that finds no URL, and keys the line as it stands', () => {
  const { key, isUrl, steps } = explainKey(profiles.crawlee, ' example.com ')
  expect({ key, isUrl }).toEqual({ key: ' example.com ', isUrl: false })
  expect(steps.map((step) => [step.rule, step.changed])).toEqual([
    ['trim', true],
    ['whatwg', false],
  ])
  expect(steps[1]!.notes).toEqual(['no URL by this rule: the line is keyed as it stands'])
})

it.each(Object.values(profiles))(
  '$name: the steps are a chain to keyOf, with a note wherever something changed',
  (profile) => {
    for (const url of generateUrls(31, 3000, { lineEnds: true })) {
      const { key, isUrl, steps } = explainKey(profile, url)
      expectIs(isUrl ? key : null, keyOf(profile, url), url)
      let form = url
      for (const step of steps) {
        expectIs(step.before, form, url)
        expectIs(step.changed, step.before !== step.after, url)
        if (step.changed) expectIs(step.notes.length > 0, true, url)
        form = step.after
      }
      expectIs(isUrl ? form : url, key, url)
    }
  },
)

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The keys that a sieve remembers, in the order of the URLs, which are added one by one: each key is made as `add` makes it. */
async function keysInUse(profile: Profile, urls: readonly string[]): Promise<string[]> {
  const sieve = await Sieve.create({ filter: 'hash-set', profile })
  const keys: string[] = []
  const collect = () => {
    for (const { filter } of sieve[STATE].shards.all)
      for (const key of filter.keys!()) keys.push(decoder.decode(key))
  }
  for (const url of urls) {
    if (sieve.add(url)) continue
    // Its key is there already: it begins another list.
    collect()
    sieve.clear()
    sieve.add(url)
  }
  collect()
  return keys
}

const unusual = ['', ' ', '\t', '\u00a0', 'u@', "?'", '#é', '\ud800'].flatMap((odd) => [
  `http://${odd.endsWith('@') ? odd : ''}h.example/a/.b/../c${odd.endsWith('@') ? '' : odd}`,
  `${odd.trim() === '' ? odd : ''}HTTP://h.example/.b/.c/../../d/%2e%2E/%66?%5a`,
  `http://h.example/a/.b/./é/../%7e${odd}`,
])

it.each(Object.values(profiles))('$name: the key it shows is the key in use', async (profile) => {
  const rng = randomFrom(33)
  const urls = [...unusual, ...generateUrls(32, 400, { lineEnds: true })].flatMap((url) => [
    url,
    mutateUrl(rng, url),
  ])
  const keys = await keysInUse(profile, urls)
  for (const [i, url] of urls.entries()) expectIs(explainKey(profile, url).key, keys[i], url)
})
