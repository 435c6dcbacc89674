// Each structure written a second time, from the papers alone, over arrays of booleans and the papers' own hash functions:
// the library gives the same answer to every one of 100,000 queries, after the same 50,000 URLs.
import { describe, expect, it } from 'vitest'
import { Sieve, type SieveOptions } from '../../src/index.ts'
import { draws } from '../../src/lab/random.ts'
import { hash1, hash2, hash3 } from './url-caching.ts'

const ADDED = 50_000
const QUERIES = 100_000

const bytesOf = (text: string) => Buffer.from(text, 'latin1')

/** URLs without a scheme, of few hosts and words: parts come again in other company and order, hosts have up to four labels. */
function urls(name: string, count: number): string[] {
  const draw = draws(5, name)
  const word = () => `${'abcdefgh'[draw() % 8]}${draw() % 60}`
  return Array.from({ length: count }, () => {
    const host = Array.from({ length: 1 + (draw() % 4) }, word).join('.')
    const path = Array.from({ length: draw() % 7 }, word).join('/')
    return `${draw() % 3 ? '' : 'www.'}${host}.com/${path}${draw() % 9 ? '' : '/'}${draw() % 5 ? '' : `?q=${draw() % 50}`}`
  })
}

type Hash = (part: string, j: number) => number

/** Parts come again: their values are kept. */
function kept(hash: Hash): Hash {
  const values = new Map<string, number[]>()
  return (part, j) => {
    const known = values.get(part) ?? []
    if (known.length === 0) values.set(part, known)
    known[j] ??= hash(part, j)
    return known[j]
  }
}

/** url-caching's three functions, the j-th of k in turn. */
const three = kept((part, j) => [hash1, hash2, hash3][j]!(bytesOf(part)))

/** jiang-eigenvalue: Bob Jenkins' function with key[i]; several of it by their start value. */
const jenkins = kept((part, j) => {
  let hash = j
  for (const byte of bytesOf(part)) {
    hash = (hash + byte) >>> 0
    hash = (hash + (hash << 10)) >>> 0
    hash = (hash ^ (hash >>> 6)) >>> 0
  }
  hash = (hash + (hash << 3)) >>> 0
  hash = (hash ^ (hash >>> 11)) >>> 0
  return (hash + (hash << 15)) >>> 0
})

interface Oracle {
  add(url: string): void
  has(url: string): boolean
}

/** cen-2010, III.A: k positions of the element in one array. */
function bloom(m: number, k: number, hash: Hash): Oracle {
  const V = new Array<boolean>(m).fill(false)
  const at = (x: string) => Array.from({ length: k }, (_, j) => hash(x, j) % m)
  return {
    add(x) {
      for (const h of at(x)) V[h] = true
    },
    has: (x) => at(x).every((h) => V[h]),
  }
}

/** cen-2010, Algorithms 1 and 2 (term-project and sharma-keywords, 3 and 4). `split` gives layer and part of each. */
function mlbf(m: number, k: number, hash: Hash, split: (url: string) => [number, string][]): Oracle {
  const BF: boolean[][] = []
  const last = new Array<boolean>(m).fill(false)
  const layer = (i: number) => {
    BF[i] ??= new Array<boolean>(m).fill(false)
    return BF[i]
  }
  return {
    add(S) {
      const LAddr = new Array<number>(k).fill(0)
      for (const [i, a] of split(S)) {
        for (let j = 0; j < k; j++) {
          const Addr = hash(a, j) % m
          layer(i)[Addr] = true
          LAddr[j] = (LAddr[j]! ^ Addr) >>> 0
        }
      }
      for (let j = 0; j < k; j++) last[LAddr[j]! % m] = true
    },
    has(S) {
      const LAddr = new Array<number>(k).fill(0)
      for (const [i, a] of split(S)) {
        for (let j = 0; j < k; j++) {
          const Addr = hash(a, j) % m
          if (!layer(i)[Addr]) return false
          LAddr[j] = (LAddr[j]! ^ Addr) >>> 0
        }
      }
      return LAddr.every((at) => last[at % m])
    },
  }
}

/** jiang-eigenvalue, 2.2: x in {1..m1} by k functions, x' = g(x) in {m1..m} by d others. */
function eigenvalue(m1: number, m2: number, k: number, d: number, g: (url: string) => string): Oracle {
  const first = bloom(m1, k, jenkins)
  const second = bloom(m2, d, (part, j) => jenkins(part, 64 + j))
  return {
    add(x) {
      first.add(x)
      second.add(g(x))
    },
    has: (x) => first.has(x) && second.has(g(x)),
  }
}

/** Segments, all past the L-th in the L-th. */
const joined = (L: number) => (url: string) => {
  const parts = url.split('/')
  const kept = parts.length > L ? [...parts.slice(0, L - 1), parts.slice(L - 1).join('/')] : parts
  return kept.map((part, i): [number, string] => [i, part])
}
const grown = (url: string) => url.split('/').map((part, i): [number, string] => [i, part])
const words = (L: number) => (url: string) =>
  (url.match(/[A-Za-z0-9\x80-\xff]+/g) ?? []).map((word, i): [number, string] => [i % L, word])

/** Table 1: the first letter of each label of the host, but for www and the last. */
const initials = (url: string) =>
  url
    .split('/')[0]!
    .replace(/^www\./, '')
    .split('.')
    .slice(0, -1)
    .map((label) => label[0] ?? '')
    .join('')

const added = urls('added', ADDED)
const asked = [...urls('asked', QUERIES - 10_000), ...added.slice(0, 10_000)]

const M = 90_001
const trio = ['poly31', 'djb2', 'xor17'] as const
const structures: readonly { name: string; options: SieveOptions; oracle: () => Oracle }[] = [
  {
    name: 'cen-2010: BF, and url-caching',
    options: { filter: 'classic', bits: 3 * M, hashes: 3, hash: trio },
    oracle: () => bloom(3 * M, 3, three),
  },
  {
    name: 'cen-2010: MLBF of four layers',
    options: { filter: 'multilayer', bitsPerLayer: M, hashes: 3, layers: 4, hash: trio },
    oracle: () => mlbf(M, 3, three, joined(4)),
  },
  {
    name: 'term-project: MLBF that grows',
    options: { filter: 'multilayer', bitsPerLayer: M, hashes: 3, layers: 1, depth: 'grow', hash: trio },
    oracle: () => mlbf(M, 3, three, grown),
  },
  {
    name: 'sharma-keywords: words dealt to three layers',
    options: { filter: 'keyword-layers', bitsPerLayer: M, hashes: 3, layers: 3, hash: trio },
    oracle: () => mlbf(M, 3, three, words(3)),
  },
  {
    name: 'jiang-eigenvalue: two regions',
    options: { filter: 'eigenvalue', bits: 4 * M, hashes: 3, featureHashes: 1, hash: 'jenkins' },
    oracle: () => eigenvalue(4 * M - Math.floor(M), M, 3, 1, initials),
  },
]

describe.each(structures)('$name', ({ options, oracle: create }) => {
  it(`agrees on ${QUERIES.toLocaleString('en-US')} queries`, { timeout: 60_000 }, async () => {
    const sieve: Sieve = await Sieve.create({ ...options, profile: 'raw' })
    const oracle = create()
    sieve.addMany(added)
    for (const url of added) oracle.add(url)
    const answers = sieve.hasMany(asked)
    const differing = asked.filter((url, i) => Boolean(answers[i]) !== oracle.has(url))
    expect(differing).toEqual([])
    // Both answers occur.
    const seen = answers.reduce((sum, one) => sum + one, 0)
    expect(seen).toBeGreaterThan(11_000)
    expect(seen).toBeLessThan(QUERIES)
  })
})
