// Learning: rules found with their evidence, wrong merges within the stated risk on other pages, nothing where all matters.
import { describe, expect, it } from 'vitest'
import { Sieve } from '../../src/index.ts'
import {
  checkRules,
  learn,
  learnedProfile,
  type PageRecord,
  PageSet,
  parsePageRecord,
  parseRules,
} from '../../src/learn/index.ts'
import { describeRule } from '../../src/learn/learned-rule.ts'
import { randomFrom } from '../support/random.mjs'
import { site, strictSite } from './site.ts'

const setOf = (records: readonly PageRecord[]) => {
  const set = new PageSet()
  for (const record of records) set.add(record)
  return set
}

describe('rules', () => {
  const { rules, unproven } = learn(setOf(site(20_000, 1)))

  it('finds what does not change the page, and nothing else', () => {
    expect(rules.rules.map(describeRule)).toEqual([
      'drops the name of an index page on site.example',
      'drops sid on site.example in /item/',
      'drops ref on site.example in /news/',
      'takes all values of segment 2 on site.example/s/ for one in /s/',
    ])
    expect(unproven.filter(({ rule }) => rule.name === 'rev' || rule.name === 'page')).toEqual([])
  })

  it('each rule has support and a bound under the risk, on pages that it was not found with', () => {
    for (const { found, heldOut } of rules.rules) {
      expect(found.trials).toBeGreaterThan(100)
      expect(heldOut).toMatchObject({ wrong: 0 })
      // With no wrong merge the bound is 1 - 0.05^(1/n).
      expect(heldOut.upper).toBeCloseTo(1 - 0.05 ** (1 / heldOut.trials), 6)
      expect(heldOut.upper).toBeLessThan(0.01)
    }
  })

  it('as a profile: merged keys, and explain cites the rule with its evidence', async () => {
    const sieve = await Sieve.create({ profile: learnedProfile(parseRules(JSON.stringify(rules))) })
    expect(sieve.add('https://site.example/item/7?page=1&sid=a1b2')).toBe(true)
    expect(sieve.add('http://site.example/item/7?page=1&sid=ffff')).toBe(false)
    expect(sieve.add('https://site.example/item/7?page=0&sid=ffff')).toBe(true)
    expect(sieve.add('https://other.example/item/7?page=1&sid=ffff')).toBe(true)
    // The section was not seen.
    expect(sieve.add('https://site.example/shop/7?sid=a1b2')).toBe(true)
    expect(sieve.add('https://site.example/shop/7?sid=ffff')).toBe(true)
    expect(sieve.add('https://site.example/s/b2a94a8fe5ccb19b/doc1')).toBe(true)
    expect(sieve.add('https://site.example/s/b2d41d8cd98f00b2/doc1')).toBe(false)
    const { steps } = sieve.explain('https://site.example/item/7?page=1&sid=a1b2')
    const step = steps.find(({ changed }) => changed)!
    expect(step.rule).toBe('learned:drops sid on site.example in /item/')
    expect(step.notes[1]).toMatch(
      /^learned: 0 of \d+ paths kept apart had a wrong merge; at most 0\.\d\d % with 95 % confidence$/,
    )
  })
})

it('20 seeds: learned on half of the pages, the wrong merges on the other half are within the risk', () => {
  let merges = 0
  for (let seed = 1; seed <= 20; seed++) {
    const next = randomFrom(seed + 1000)
    const halves: [PageRecord[], PageRecord[]] = [[], []]
    for (const record of site(20_000, seed, 0.0001)) halves[next() < 0.5 ? 0 : 1].push(record)
    const { rules } = learn(setOf(halves[0]), { seed })
    const checked = checkRules(rules, setOf(halves[1]))
    expect(checked.wrong, `seed ${seed}`).toBeLessThanOrEqual(checked.merges * rules.risk)
    expect(checked.right + checked.wrong).toBe(checked.merges)
    merges += checked.merges
  }
  expect(merges).toBeGreaterThan(5000)
})

it('where every parameter matters nothing is learned: 20 seeds', () => {
  for (let seed = 1; seed <= 20; seed++) expect(learn(setOf(strictSite(3000, seed))).rules.rules).toEqual([])
})

describe('a rule holds for', () => {
  const learnt = (urlOf: (i: number) => string, digestOf: (i: number) => string, n = 2000) =>
    learn(setOf(Array.from({ length: n }, (_, i) => ({ url: urlOf(i), digest: digestOf(i) })))).rules.rules
  const host = 'https://a.example'

  it('a host whose sections were seen by the hundred', () => {
    const rules = learnt(
      (i) => `${host}/s${i % 1000}/p?x=${i}`,
      (i) => `${i % 1000}`,
    )
    expect(rules.map(describeRule)).toEqual(['drops x on a.example'])
  })

  it('the pages that were seen, where they are few', () => {
    const rules = learnt(
      (i) => `${host}/p${i % 6}?x=${i}`,
      (i) => `${i % 6}`,
    )
    expect(rules.map(describeRule)).toEqual(['drops x on a.example for 6 known pages'])
    expect(rules[0]!.scope.members).toEqual(['/p0', '/p1', '/p2', '/p3', '/p4', '/p5'])
  })

  it('those on which it was right', () => {
    const rules = learnt(
      (i) => `${host}/p${i % 6}?x=${i}`,
      (i) => (i % 6 === 3 ? `x${i}` : `${i % 6}`),
    )
    expect(rules[0]!.scope.members).toEqual(['/p0', '/p1', '/p2', '/p4', '/p5'])
  })
})

it('too few pages prove nothing: such rules are listed, not kept', () => {
  const records = Array.from({ length: 100 }, (_, i) => ({
    url: `https://a.example/p${i % 20}?x=${i}`,
    digest: `${i % 20}`,
  }))
  const { rules, unproven } = learn(setOf(records))
  expect(rules.rules).toEqual([])
  expect(unproven[0]).toMatchObject({ rule: { kind: 'parameter', name: 'x', host: 'a.example' }, merges: 80 })
})

it('mirrors, www., parameter order, letter case and slashes', () => {
  const records = Array.from({ length: 1000 }, (_, i) => [
    { url: `https://m.example/p${i}`, digest: `m${i}` },
    { url: `https://www.m.example/p${i}`, digest: `m${i}` },
    { url: `https://o.example/x?a=${i}&b=1`, digest: `o${i}` },
    { url: `https://o.example/x?b=1&a=${i}`, digest: `o${i}` },
    { url: `https://c.example/page${i}`, digest: `c${i}` },
    { url: `https://c.example/Page${i}`, digest: `c${i}` },
    { url: `https://s.example/dir${i}`, digest: `s${i}` },
    { url: `https://s.example/dir${i}/`, digest: `s${i}` },
  ]).flat()
  const { rules } = learn(setOf(records))
  expect(rules.rules.map(({ kind, host, to }) => [kind, host, to ?? ''].join(' '))).toEqual([
    'mirror www.m.example m.example',
    'order o.example ',
    'case c.example ',
    'slash s.example ',
  ])
})

it('near pages count as the same only with near', () => {
  const records = Array.from({ length: 2000 }, (_, i) => ({
    url: `https://a.example/p${i % 400}?x=${i}`,
    digest: `${i}`,
    simhash: BigInt(i % 400) * 0x10001n * 0xff51afd7ed5n ** 1n + (i % 2 === 0 ? 0n : 1n << 60n),
  }))
  expect(learn(setOf(records)).rules.rules).toEqual([])
  expect(learn(setOf(records), { near: true }).rules.rules).toMatchObject([{ kind: 'parameter', name: 'x' }])
})

it('repeats, changing pages and short texts are counted and left out', () => {
  const set = setOf([
    { url: 'https://a.example/', digest: '1' },
    { url: 'http://a.example/#x', digest: '1' },
    { url: 'https://a.example/now', digest: '1' },
    { url: 'https://a.example/now', digest: '2' },
    { url: 'https://a.example/short', digest: '3', length: 5 },
    { url: 'mailto:x', digest: '4' },
  ])
  expect(set.counts).toEqual({ pages: 1, repeats: 1, unstable: 1, short: 1, invalid: 1 })
})

it.each([
  [
    'https://a.example/\tabc\t00ff00ff00ff00ff\t120',
    { url: 'https://a.example/', digest: 'abc', simhash: 0x00ff00ff00ff00ffn, length: 120 },
  ],
  ['{"url":"https://a.example/","digest":"abc"}', { url: 'https://a.example/', digest: 'abc' }],
  [
    '{"url":"https://a.example/b","depth":2,"status":200,"links":3,"same":"https://a.example/"}',
    { url: 'https://a.example/b', digest: 'https://a.example/' },
  ],
  [
    '{"url":"https://a.example/b","depth":2,"status":200,"links":3}',
    { url: 'https://a.example/b', digest: 'https://a.example/b' },
  ],
  ['{"url":"https://a.example/b","depth":2,"status":404,"links":0}', null],
  [
    'example,a)/ 20240101000000 https://a.example/ text/html 200 SHA1X - - 100 5 f.warc.gz',
    { url: 'https://a.example/', digest: 'SHA1X' },
  ],
  ['example,a)/ 20240101000000 https://a.example/ text/html 404 SHA1X - - 100 5 f.warc.gz', null],
  [' CDX N b a m s k r M S V g', null],
  [
    'example,a)/ 20240101000000 {"url":"https://a.example/","status":"200","digest":"sha1:X"}',
    { url: 'https://a.example/', digest: 'sha1:X' },
  ],
  ['{"url":5}', null],
  ['{', null],
  ['null', null],
])('a line %s', (line, record) => {
  expect(parsePageRecord(line)).toEqual(record)
})

it.each([
  ['x', 'not JSON'],
  ['{}', 'format undefined'],
  ['{"format":"urlsieve rules","version":1}', 'version 1: expected 2'],
  ['{"format":"urlsieve rules","version":2,"profile":"toString"}', 'profile toString'],
  [
    '{"format":"urlsieve rules","version":2,"profile":"web","risk":0.01,"confidence":0.95,"rules":[{}]}',
    'rule 1 is damaged',
  ],
  [
    '{"format":"urlsieve rules","version":2,"profile":"web","risk":0.01,"confidence":0.95,"rules":[null]}',
    'rule 1 is damaged',
  ],
])('a damaged file of rules: %s', (text, message) => {
  expect(() => parseRules(text, 'f.json')).toThrow(`f.json: ${message}`)
})
