// The layered filters against the oracles, bit for bit: every verdict, every bit of every layer, and the counts of ones.
import { describe, expect, it } from 'vitest'
import { featureNames } from '../../src/filters/eigenvalue.ts'
import { randomFrom } from '../support/random.mjs'
import { countingKey, openInstance, packed, putKeys } from './instance.ts'
import {
  type Depth,
  EigenvalueOracle,
  features,
  MultilayerOracle,
  PrefixLayersOracle,
  sipAddresses,
} from './layered.ts'

type Instance = Awaited<ReturnType<typeof openInstance>>
const addresses = sipAddresses(countingKey)

const odd = [
  ...['', '/', '//', '///', 'a', 'a/b', ':', '://', 'a:b', 'https://', 'https:///', 'http:/a/b', 'a/b://c'],
  ...['https://www.a', 'https://www.', 'https://.a.b/c', 'https://a..b/', 'https://a.b:8080/c/1?d/e/f?g'],
  ...['https://a/b/c/d/e/f/g/h/i', 'https://a/?', 'https://a?b/c', 'mailto:a@b', 'https://a/b//c///'],
  ...['averyveryverylongschemenamethatislong://host/a', 'abcdefghijklmnopqrstuvwxyzabc://h/1'],
  `https://deep${'/x'.repeat(80)}`,
  `https://words/${Array.from({ length: 50 }, (_, i) => `w${i}`).join('-')}`,
  'https://\xfc.example/\xe9\xe8/\xff1',
]

/** URLs of few hosts and folders, so that segments come again in other company; a third of them repeated. */
function someKeys(seed: number, n: number): Uint8Array[] {
  const rng = randomFrom(seed)
  const pick = (count: number) => Math.floor(rng() * count)
  const keys = Array.from({ length: n }, () => {
    const path = Array.from({ length: pick(6) }, () => `${'abc'[pick(3)]}${pick(40)}`).join('/')
    const query = pick(4) === 0 ? `?q=${pick(9)}/${pick(9)}` : ''
    return `https://${pick(2) ? 'www.' : ''}h${pick(30)}.example${pick(3)}/${path}${query}`
  })
  const all = [...keys, ...odd, ...keys.slice(0, n / 3)]
  return all.map((key) => Uint8Array.from(key, (c) => c.charCodeAt(0)))
}

/** Runs over keys a batch at a time; gives back the verdicts. */
function verdictsOf(kernel: Instance, keys: readonly Uint8Array[], ask: (n: number) => void): number[] {
  const verdicts: number[] = []
  for (let at = 0; at < keys.length; at += 500) {
    const part = keys.slice(at, at + 500)
    putKeys(kernel, part, [0, 3, 9])
    ask(part.length)
    kernel.refresh()
    verdicts.push(...kernel.verdicts.subarray(0, part.length))
  }
  return verdicts
}

function expectBits(kernel: Instance, at: number, bits: Uint8Array, ones: number): void {
  const size = Math.ceil(bits.length / 8)
  expect(Buffer.compare(kernel.bytes.slice(at >>> 0, (at >>> 0) + size), packed(bits))).toBe(0)
  expect(ones).toBe(bits.reduce((sum, bit) => sum + bit, 0))
}

interface Oracle {
  add(key: Uint8Array): boolean
  has(key: Uint8Array): boolean
}

/** Adds and asks on both sides; `bits` compares the memory. */
function compare(
  kernel: Instance,
  oracle: Oracle,
  seed: number,
  call: { add(n: number): void; has(n: number): void },
  bits: () => void,
): void {
  const added = someKeys(seed, 900)
  expect(verdictsOf(kernel, added, call.add)).toEqual(added.map((key) => Number(oracle.add(key))))
  bits()
  const asked = someKeys(seed + 1, 900)
  expect(verdictsOf(kernel, asked, call.has)).toEqual(asked.map((key) => Number(!oracle.has(key))))
  bits()
}

const MODES = { join: 0, grow: 1, words: 2 } as const

describe.each(['join', 'grow', 'words'] as Depth[])('multilayer, depth %s', (depth) => {
  it.each([
    { layers: 1, bits: 8, hashes: 1 },
    { layers: 2, bits: 1001, hashes: 2 },
    { layers: 4, bits: 4099, hashes: 3 },
    { layers: 3, bits: 65_536, hashes: 7 },
    { layers: 5, bits: 100_003, hashes: 20 },
  ])('L = $layers, m = $bits, k = $hashes', async ({ layers, bits, hashes }) => {
    const kernel = await openInstance()
    const { call } = kernel
    const oracle = new MultilayerOracle(layers, bits, hashes, depth, addresses)
    expect(call.multilayerCreate(layers, BigInt(bits), hashes, MODES[depth])).toBe(1)
    kernel.refresh()
    compare(
      kernel,
      oracle,
      bits,
      { add: (n) => expect(call.multilayerAdd(0, n)).toBe(n), has: (n) => call.multilayerHas(0, n) },
      () => {
        const count = call.multilayerLayers()
        expect(count).toBe(oracle.layers.length)
        for (const [layer, array] of [...oracle.layers, oracle.xor].entries()) {
          expectBits(kernel, call.multilayerBits(layer), array, call.multilayerOnes(layer))
        }
      },
    )
  })
})

describe('prefix-layers', () => {
  it.each([
    { bits: 8, hashes: 1, folderHashes: 1, layers: 1 },
    { bits: 4099, hashes: 3, folderHashes: 2, layers: 4 },
    { bits: 65_536, hashes: 20, folderHashes: 3, layers: 4 },
    { bits: 100_003, hashes: 7, folderHashes: 20, layers: 63 },
  ])('m = $bits, k = $hashes, $folderHashes of a folder, L = $layers', async (size) => {
    const kernel = await openInstance()
    const { call } = kernel
    const { bits, hashes, folderHashes, layers } = size
    const oracle = new PrefixLayersOracle(bits, hashes, folderHashes, layers, addresses)
    expect(call.prefixLayersCreate(BigInt(bits), hashes, folderHashes, layers)).toBe(1)
    kernel.refresh()
    compare(
      kernel,
      oracle,
      bits,
      { add: (n) => call.prefixLayersAdd(0, n), has: (n) => call.prefixLayersHas(0, n) },
      () => expectBits(kernel, call.prefixLayersBits(), oracle.bits, call.prefixLayersOnes()),
    )
    const folders = someKeys(7, 300)
    const under = verdictsOf(kernel, folders, (n) => call.prefixLayersHasUnder(n))
    expect(under).toEqual(folders.map((key) => Number(!oracle.hasUnder(key))))
  })
})

describe.each(featureNames)('eigenvalue, g = %s', (name) => {
  it.each([
    { urlBits: 8, featureBits: 8, hashes: 1, featureHashes: 1 },
    { urlBits: 4099, featureBits: 1367, hashes: 3, featureHashes: 1 },
    { urlBits: 100_003, featureBits: 33_335, hashes: 20, featureHashes: 7 },
  ])('m1 = $urlBits, m2 = $featureBits, k = $hashes, d = $featureHashes', async (size) => {
    const kernel = await openInstance()
    const { call } = kernel
    const oracle = new EigenvalueOracle(size, features[name]!, addresses)
    const { urlBits, featureBits, hashes, featureHashes } = size
    expect(call.eigenvalueCreate(BigInt(urlBits), BigInt(featureBits), hashes, featureHashes)).toBe(1)
    kernel.refresh()
    const prepare = (n: number) => expect(call.makeFeatures(featureNames.indexOf(name), 0, n)).toBe(1)
    compare(
      kernel,
      oracle,
      urlBits,
      {
        add(n) {
          prepare(n)
          call.eigenvalueAdd(0, n)
        },
        has(n) {
          prepare(n)
          call.eigenvalueHas(0, n)
        },
      },
      () => {
        expectBits(kernel, call.eigenvalueBits(0), oracle.urls, call.eigenvalueOnes(0))
        expectBits(kernel, call.eigenvalueBits(1), oracle.features, call.eigenvalueOnes(1))
      },
    )
  })
})
