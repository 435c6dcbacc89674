// What the layers say, looked up bit by bit, agrees with what the kernel answers.
import { expect, test } from 'vitest'
import { Sieve, type SieveOptions } from '../../src/index.ts'
import { draws } from '../../src/lab/random.ts'

// Few bits, so that layers err often.
const shapes: SieveOptions[] = [
  { filter: 'multilayer', bits: 5 * 4096, hashes: 2, layers: 4 },
  { filter: 'multilayer', bits: 3 * 4001, hashes: 3, layers: 2, hash: 'xxh64' },
  { filter: 'multilayer', bitsPerLayer: 4003, hashes: 2, layers: 2, depth: 'grow' },
  { filter: 'prefix-layers', bits: 40_000, hashes: 3, layers: 3 },
]

test.each(shapes)('$filter of $layers layers: seen where every layer says so', async (shape) => {
  const sieve = await Sieve.create({ ...shape, profile: 'whatwg' })
  const draw = draws(6, JSON.stringify(shape))
  const url = () => {
    const depth = draw() % 5
    const segments = Array.from({ length: depth }, () => `s${draw() % 12}`)
    return `https://h${draw() % 4}.example/${segments.join('/')}${draw() % 3 === 0 ? '/' : ''}${draw() % 5 === 0 ? '?a=/b' : ''}`
  }
  for (let i = 0; i < 400; i++) sieve.add(url())
  const deciders = new Map<string, number>()
  for (let i = 0; i < 3000; i++) {
    const explanation = sieve.explain(draw() % 20 === 0 ? `no url /${draw() % 9}` : url())
    const { layers, decidedBy } = explanation
    const says = layers!.every(({ verdict }) => verdict === 'seen') ? 'seen' : 'new'
    expect({ ...explanation, verdict: says }).toEqual(explanation)
    const decisive = layers!.find(({ name }) => name === decidedBy)!
    expect(decisive.verdict).toBe(explanation.verdict)
    deciders.set(decidedBy!, 1 + (deciders.get(decidedBy!) ?? 0))
  }
  expect(deciders.size).toBeGreaterThan(2) // each kind of layer had a say
})

test('other filters have nothing to say of layers', async () => {
  const flat = await Sieve.create()
  const explanation = flat.explain('https://a/')
  expect('layers' in explanation || 'decidedBy' in explanation).toBe(false)
})

test('the papers’ own hashes have their layers too', async () => {
  const narrow = await Sieve.create({ filter: 'multilayer', bits: 4000, hashes: 2, hash: 'murmur3' })
  narrow.add('https://a/b')
  expect(narrow.explain('https://a/c')).toMatchObject({
    layers: [
      { of: 'a', verdict: 'seen' },
      { of: 'c', verdict: 'new' },
      { of: 'a ⊕ c', verdict: 'new' },
    ],
    decidedBy: 'layer 2',
  })
})

test('looking marks nothing and leaves the sieve as it was', async () => {
  const sieve = await Sieve.create({ filter: 'multilayer', expectedUrls: 1000 })
  sieve.add('https://a/b')
  const before = sieve.stats()
  for (let i = 0; i < 50; i++) sieve.explain(`https://a/${'x'.repeat(i * 40)}`)
  expect(sieve.stats()).toEqual(before)
  expect(sieve.add('https://a/b')).toBe(false)
  expect(sieve.add('https://a/c')).toBe(true)
})
