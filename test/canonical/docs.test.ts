// docs/profiles.md says what is true: its table of rules and every example in it.

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { keyOf, type ProfileName, profiles, resolveProfile } from '../../src/canonical/profiles.ts'
import { type Rule, type RuleName, rules } from '../../src/canonical/rules.ts'
import { Sieve } from '../../src/index.ts'

const page = readFileSync(new URL('../../docs/profiles.md', import.meta.url), 'utf8')
const cells = (row: string) =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

it('the table of rules is the profiles’', () => {
  const [head, , ...rows] = page
    .slice(page.search(/\| rule +\| lossy /))
    .split('\n\n')[0]!
    .split('\n')
    .map(cells)
  const columns = head!.slice(2).map((cell) => cell.replaceAll('`', '') as ProfileName)
  expect(columns).toEqual(Object.keys(profiles))
  const expected = Object.values(rules).map((rule) => [
    `\`${rule.name}\``,
    rule.lossy ? 'yes' : 'no',
    ...columns.map((name) => String(profiles[name].rules.indexOf(rule) + 1 || '')),
  ])
  expect([...rows].sort()).toEqual(expected.sort())
})

// Under "Profiles" a heading names a profile, under "Rules" and "Your own" the rules.
const examples = page.split('\n## ').flatMap((chapter) =>
  chapter
    .split('\n### ')
    .slice(1)
    .flatMap((section) => {
      const names = [...section.split('\n', 1)[0]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
      const choice = chapter.startsWith('Profiles\n') ? (names[0] as ProfileName) : (names as RuleName[])
      const rows = section.matchAll(/^\| `(.+)` +\| (?:`(.+)`|not a URL) +\|$/gm)
      return [...rows].map(([, before, key = null]) => ({
        choice,
        before: before!.replaceAll('\\|', '|'),
        key,
      }))
    }),
)

it.each(examples)('$choice: $before → $key', ({ choice, before, key }) => {
  expect(keyOf(resolveProfile(choice), before)).toBe(key)
})

it('every profile and every rule has an example', () => {
  const shown = examples.map(({ choice }) => choice)
  for (const name of Object.keys(profiles)) expect(shown).toContain(name)
  // Two rules are shown as the profiles they make, and w3lib is scrapy as it was.
  const alone = Object.keys(rules).filter((name) => !['scrapy', 'w3lib', 'whatwg'].includes(name))
  for (const name of alone) expect(shown).toContainEqual([name])
})

it('the rule of one’s own works as printed', async () => {
  const noLanguage: Rule = {
    name: 'no-language',
    does: 'takes /en/a and /de/a for one page',
    lossy: true,
    apply: (key) => key.replace(/^(https?:\/\/[^/]+)\/(?:en|de)\//, '$1/'),
  }
  const sieve = await Sieve.create({ profile: ['whatwg', 'no-fragment', noLanguage] })
  expect(page).toContain(
    `apply: ${String.raw`(key) => key.replace(/^(https?:\/\/[^/]+)\/(?:en|de)\//, '$1/')`},`,
  )
  expect(page).toContain("sieve.explain('https://example.com/de/a#b').key // 'https://example.com/a'")
  expect(sieve.explain('https://example.com/de/a#b').key).toBe('https://example.com/a')
})
