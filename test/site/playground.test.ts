// What the playground shows of a key against the filter: the bits it points at are the bits that are there.
import { describe, expect, test } from 'vitest'
import { countSet, isSet } from '../../site/src/playground/panels.ts'
import { settingsOf, structures } from '../../site/src/playground/structures.ts'
import { Trial } from '../../site/src/playground/trial.ts'
import { keyFrom } from '../../src/lab/random.ts'

const urls = [
  'https://example.com/',
  'http://Example.com:80/news/2026/11/harbour.html?a=1/2#top',
  'https://example.com/a/b/c/d/e/f/g',
  'https://a.b.example.org/x//y/',
  'ftp://files.example.net/pub/read%20me.txt',
  'no url at all',
  'https://münchen.example/straße/ü',
  '/relative/path',
]

describe.each(structures.map((structure) => [structure.name, structure] as const))('%s', (_, structure) => {
  const create = () => Trial.create(structure, settingsOf(structure), keyFrom(6, 'site'))

  test.each(urls)('the bits of %s are those the kernel sets', async (url) => {
    const trial = await create()
    trial.add(url)
    const { placement, verdict, wasAdded } = trial.ask(url)
    expect({ verdict, wasAdded, places: placement.verdict }).toEqual({
      verdict: 'seen',
      wasAdded: true,
      places: 'seen',
    })
    const pointed = new Set(
      placement.answers.flatMap(({ array, cells }) => cells.map((c) => `${array}/${c}`)),
    )
    const there = new Set<string>()
    for (const { array, cells, set } of trial.panels()) {
      for (let cell = 0; cell < cells; cell++) if (isSet(set, cell)) there.add(`${array}/${cell}`)
    }
    expect(pointed).toEqual(there)
  })

  test('its verdict is the kernel’s, for 400 URLs asked of a full filter', async () => {
    const trial = await create()
    trial.addGenerated(600)
    expect(trial.urls).toBe(600)
    const seen = { new: 0, seen: 0 }
    for (let i = 0; i < 400; i++) {
      const { verdict, placement } = trial.ask(`https://www.example.com/${i % 7}/page-${i}.html`)
      expect(placement.verdict).toBe(verdict)
      seen[verdict]++
    }
    expect(seen.new).toBeGreaterThan(0)
  })

  test('a false positive is one: never added, and every bit of it set by others', async () => {
    const trial = await create()
    trial.addGenerated(1000)
    const stop = new AbortController()
    const found = await trial.find(stop.signal, (tries) => tries > 100_000 && stop.abort())
    if (structure.name === 'fingerprint') {
      expect(found).toBeNull()
      return
    }
    expect(trial.sieve.has(found!.url)).toBe(true)
    expect(trial.ask(found!.url).wasAdded).toBe(false)
    const cells = new Set(
      found!.placement.answers
        .filter(({ missing }) => missing.length === 0)
        .flatMap(({ array, cells }) => cells.map((cell) => `${array}/${cell}`)),
    )
    expect(new Set(found!.collisions.map(({ array, cell }) => `${array}/${cell}`))).toEqual(cells)
  })

  test('fills as its statistics say', async () => {
    const trial = await create()
    trial.addGenerated(300)
    const panels = trial.panels()
    const ones = panels.reduce((sum, panel) => sum + countSet(panel), 0)
    const cells = panels.reduce((sum, panel) => sum + panel.cells, 0)
    const { fill, layers } = trial.sieve.stats()
    if (structure.name === 'scalable')
      expect(layers!.map((layer) => layer.fill)).toEqual(panels.map((p) => countSet(p) / p.cells))
    else if (structure.name === 'fingerprint') expect(ones).toBe(300)
    else expect(ones / cells).toBeCloseTo(fill, 12)
  })
})

test('the measured rate of classic is the formula’s', async () => {
  const structure = structures.find(({ name }) => name === 'classic')!
  const trial = await Trial.create(structure, settingsOf(structure), keyFrom(6, 'site'))
  trial.addGenerated(500)
  const { asked, wrong } = trial.measure()
  const p = trial.formula(500)!
  // Five standard deviations: of the sample, and of the fill that the formula takes the mean of.
  const spread = 5 * (Math.sqrt(p * (1 - p) * asked) + 0.1 * p * asked)
  expect(asked).toBeGreaterThan(10_000)
  expect(Math.abs(wrong - p * asked)).toBeLessThan(spread)
})
