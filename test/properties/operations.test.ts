// Any sequence of operations on any filter answers as a Set does. fast-check finds the sequence and makes it short.
// 30 sequences per filter; URLSIEVE_FULL=1: 300.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FilterName } from '../../src/filters/registry.ts'
import { type DeletingSieve, Sieve } from '../../src/sieve.ts'
import { ampleSize, isExactWhenAmple, kinds } from '../conformance/sizes.ts'

const RUNS = process.env.URLSIEVE_FULL === '1' ? 300 : 30
const key = new Uint8Array(16).fill(2)
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
/** What a string is once it is bytes: a lone surrogate becomes U+FFFD. */
const wellFormed = (text: string) =>
  /[\ud800-\udfff]/.test(text) ? decoder.decode(encoder.encode(text)) : text

/** URLs from a small pool, so that they repeat, and now and then any string at all. */
const url = fc.oneof(
  { weight: 5, arbitrary: fc.nat(40).map((i) => `https://example.com/${i}`) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.nat(5).map((i) => `https://example.com/${'long/'.repeat(10 ** i)}`) },
)
const list = fc.oneof(
  { weight: 9, arbitrary: fc.array(url, { maxLength: 12 }) },
  {
    weight: 1,
    arbitrary: fc.nat(5000).map((n) => Array.from({ length: n }, (_, i) => `https://a.example/${i}`)),
  },
)
const operation = fc.oneof(
  fc.record({ verb: fc.constantFrom('add', 'has', 'delete'), urls: fc.tuple(url) }),
  fc.record({ verb: fc.constantFrom('addMany', 'hasMany', 'addLines', 'hasLines', 'feed'), urls: list }),
  fc.record({ verb: fc.constant('clear'), urls: fc.constant<string[]>([]) }),
)

/** A line cannot hold a newline: for the verbs that take lines it is cut out. */
const asLines = (urls: readonly string[]) => urls.map((text) => text.replaceAll('\n', ''))
const joined = (urls: readonly string[]) => encoder.encode(urls.map((text) => `${text}\n`).join(''))

describe.each(kinds)('$name', (kind) => {
  const isExact = isExactWhenAmple(kind)
  it('any sequence of operations', { timeout: 300_000 }, async () => {
    const makes = async () =>
      Sieve.create({ filter: kind.name as FilterName, key, profile: 'raw', ...ampleSize(kind, 30_000) })
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
        const sieve = await makes()
        const known = new Set<string>()
        let feed = sieve.feed({ keep: 'new' })
        /** 1 where the Set would say "new"; with `marks` it is then told. */
        const plainly = (urls: readonly string[], marks: boolean) =>
          urls.map((text) => {
            const url = wellFormed(text)
            const isNew = !known.has(url)
            if (marks) known.add(url)
            return Number(isNew)
          })
        const check = (verb: string, got: ArrayLike<number>, expected: number[]) => {
          expect(got.length, verb).toBe(expected.length)
          const wrong = expected.findIndex((verdict, i) =>
            isExact ? verdict !== got[i] : verdict === 0 && got[i] !== 0,
          )
          if (wrong >= 0)
            expect.fail(`${verb}, number ${wrong}: got ${got[wrong]}, expected ${expected[wrong]}`)
        }
        for (const { verb, urls } of operations) {
          const lines = asLines(urls)
          if (verb === 'add') check(verb, [Number(sieve.add(urls[0]!))], plainly(urls, true))
          else if (verb === 'has') check(verb, [Number(!sieve.has(urls[0]!))], plainly(urls, false))
          else if (verb === 'addMany') check(verb, sieve.addMany(urls), plainly(urls, true))
          else if (verb === 'hasMany')
            check(
              verb,
              sieve.hasMany(urls).map((seen) => 1 - seen),
              plainly(urls, false),
            )
          else if (verb === 'addLines') check(verb, sieve.addLines(joined(lines)), plainly(lines, true))
          else if (verb === 'hasLines') {
            check(
              verb,
              sieve.hasLines(joined(lines)).map((seen) => 1 - seen),
              plainly(lines, false),
            )
          } else if (verb === 'feed') {
            const bytes = joined(lines)
            feed.reserve(bytes.length).set(bytes)
            const kept = decoder.decode(feed.push(bytes.length))
            const expected = plainly(lines, true)
            const fresh = lines.filter((_, i) => expected[i] === 1).map((text) => `${wellFormed(text)}\n`)
            if (isExact) expect(kept === fresh.join(''), 'feed').toBe(true)
          } else if (verb === 'delete' && kind.can.delete) {
            const was = known.delete(wellFormed(urls[0]!))
            expect((sieve as DeletingSieve).delete(urls[0]!)).toBe(was)
          } else if (verb === 'clear') {
            sieve.clear()
            known.clear()
            feed = sieve.feed({ keep: 'new' })
          }
          if (isExact) expect(sieve.stats().urls).toBe(known.size)
        }
      }),
      { numRuns: RUNS, seed: 42 },
    )
  })
})
