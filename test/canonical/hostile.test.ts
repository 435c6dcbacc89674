// URLs that pages choose to cost much: no rule, profile or explanation takes time that grows with the square of the
// length. Measured in processor time, so that other programs count little. What was quadratic took 1.2 s for 32 KB and
// would take 20 minutes for 1 MB: 2 and 80 times what is allowed. All of them at 1 MB: URLSIEVE_FULL=1.
import { expect, it } from 'vitest'
import { explainKey } from '../../src/canonical/explain.ts'
import { keyOf, profiles, resolveProfile } from '../../src/canonical/profiles.ts'
import { rules } from '../../src/canonical/rules.ts'
import { Sieve } from '../../src/sieve.ts'

const FULL = process.env.URLSIEVE_FULL === '1'
const KB = 1024
const MB = 1024 * KB

const repeat = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
/** So many different characters, as far as there are. */
const different = (length: number) =>
  Array.from({ length }, (_, i) => String.fromCharCode(0x4e00 + (i % 20_000))).join('')

/** Where a run of something may stand, with something behind it that makes `x+$` fail. */
const places: ((run: (share: number) => string) => string)[] = [
  (run) => `http://h.example/${run(1 / 3)}x?${run(1 / 3)}x#${run(1 / 3)}x`,
  (run) => `http://h.example/a;${run(1 / 2)}/x?a=1&${run(1 / 2)}&x`,
  (run) => `http://${run(1)}.example/a`,
  (run) => `foo://u${run(1 / 3)}@h${run(1 / 3)}/x${run(1 / 3)}?`,
  (run) => `data:a${run(1 / 2)}x?b${run(1 / 2)}x#`,
  (run) => `${run(1)}x`,
]

const units = [
  ...' |/|//x|/.|/..|/.b/..|/index.html|/index.html/|www.|www2.|.|-|:|:1|1|@|%|%4|%41|%c3|%2e|/%2e%2e|?|#|a|A'.split(
    '|',
  ),
  ...'&|&a|&a=|&%61=|&%e9=|&utm_a=1|&+|=|;|;sid=|/(|/(S(a))|/(S(a)|S(a)|(|\\|[|^|`|{|xn--|xn--a.|0x1.'.split(
    '|',
  ),
  ...[
    '|',
    '\t',
    '\0',
    'é',
    '\u0301\u0316',
    '\u00ad',
    'ß',
    '日',
    '😀',
    'א',
    '℀',
    '\u3002',
    '\ud800',
    '\u00a0',
  ],
]

function processorMs(run: () => void): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Fails when the work took more than any linear one does: 15 µs per character, and 100 ms for other causes. */
function expectLinear(what: string, length: number, run: () => void): void {
  const ms = processorMs(run)
  expect(ms, `${what}, ${length} characters: ${ms.toFixed(0)} ms`).toBeLessThan(100 + 0.015 * length)
}

/** Rules of no profile, as one. */
const inProfiles = new Set(Object.values(profiles).flatMap((profile) => profile.rules))
const others = resolveProfile(Object.values(rules).filter((rule) => !inProfiles.has(rule)))

/** What the other profiles do, these do as well. */
const widest = [profiles.aggressive, profiles.crawlee, profiles.scrapy, others]

it.each([...places.keys()])(
  'every rule and explain, a run of anything at place %i',
  { timeout: 3_600_000 },
  (place) => {
    const length = FULL ? MB : 32 * KB
    let nth = 0
    for (const unit of [...units, null]) {
      const run = (share: number) =>
        unit === null ? different(Math.floor(length * share)) : repeat(unit, Math.floor(length * share))
      const url = places[place]!(run)
      // Without FULL, all rules of one profile and, in turn, one of the others.
      const [first, ...rest] = widest
      const profilesHere = FULL ? widest : [first!, rest[(place + nth++) % rest.length]!]
      for (const profile of profilesHere) {
        const what = `${profile.name}, ${JSON.stringify(unit ?? 'different characters')}`
        expectLinear(what, length, () => explainKey(profile, url))
      }
    }
  },
)

const chosen: [string, (length: number) => string][] = [
  ['spaces', (length) => `http://h.example/${repeat(' ', length)}x`],
  ['slashes', (length) => `http://h.example/${repeat('/', length)}x`],
  ['index pages', (length) => `http://h.example${repeat('/index.html', length)}x`],
  ['spaces of an opaque path', (length) => `data:${repeat(' ', length)}x?`],
  ['colons of a host', (length) => `foo://h${repeat(':', length)}x/`],
  ['an international host', (length) => `http://${different(length)}/`],
  ['combining marks in a host', (length) => `http://a${repeat('\u0301\u0316', length)}/`],
  ['parameters', (length) => `http://h.example/?${repeat('&a=1&b', length)}`],
  [
    'different parameters',
    (length) => `http://h.example/?${Array.from({ length: length / 8 }, (_, i) => `utm_${i}=`).join('&')}`,
  ],
]

it.each(chosen)('1 MB: %s', { timeout: 3_600_000 }, (name, make) => {
  for (let length = FULL ? 256 * KB : MB; length <= MB; length *= 2) {
    const url = make(length)
    for (const profile of FULL ? Object.values(profiles) : widest) {
      expectLinear(`${profile.name}, ${name}`, length, () => keyOf(profile, url))
    }
    expectLinear(`explain, ${name}`, length, () => explainKey(profiles.aggressive, url))
  }
})

it('a sieve takes them as it takes other URLs', async () => {
  for (const profile of ['web', 'aggressive', 'scrapy', 'crawlee'] as const) {
    const sieve = await Sieve.create({ profile })
    for (const [name, make] of chosen) {
      const url = make(128 * KB)
      expectLinear(`${profile}, ${name}`, 128 * KB, () => expect(sieve.add(url)).toBe(true))
      expect(sieve.has(url)).toBe(true)
    }
  }
})
