// The reader in Python gives the same verdicts as the library, for files of every filter: the proof that docs/format.md
// says enough.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { freeze } from '../../src/freeze.ts'
import type { SieveOptions } from '../../src/sieve.ts'
import { Sieve } from '../../src/sieve.ts'
import { newFolders } from '../support/folders.ts'

const readers = fileURLToPath(new URL('../../integrations/python', import.meta.url))
const env = { ...process.env, PYTHONPATH: readers, PYTHONDONTWRITEBYTECODE: '1' }
const version = spawnSync('python3', ['-c', 'import sys; print(sys.version_info >= (3, 9))'], {
  encoding: 'utf8',
})
const hasPython = version.stdout?.trim() === 'True'
const folder = newFolders()()

const KEYS = 800
const key = Uint8Array.from({ length: 16 }, (_, i) => 7 * i + 1)

/** Keys of many shapes: hosts, depths, queries, words, bytes that are not ASCII, and what is no URL. */
function keysOf(name: string, count: number): string[] {
  const shapes = [
    (i: number) => `https://www.${name}${i % 50}.example.com/shop/${name}-${i}/item${i}?page=${i % 7}`,
    (i: number) => `http://${name}.example/${i}/`,
    (i: number) => `https://ex${i % 9}.org:8080/a/b/c/d/e/f/${name}${i}`,
    (i: number) => `${name}${i}.example/no-scheme/${i % 13}`,
    (i: number) => `https://${name}.example?q=${i}/x`,
    (i: number) => `https://xn--${name}.example/é/${'長'.repeat(i % 5)}/${i}#frag`,
    (i: number) => `not a url ${name} ${i}`,
    (i: number) => `https://${name}.example/${'deep/'.repeat(i % 80)}${i}`,
  ]
  return Array.from({ length: count }, (_, i) => shapes[i % shapes.length]!(i))
}
const known = keysOf('known', KEYS)
const asked = [...known, ...keysOf('other', KEYS), '', '/', 'https://']

const filters: readonly [string, SieveOptions][] = [
  ['fingerprint', {}],
  ['classic', { filter: 'classic', expectedUrls: KEYS, falsePositiveRate: 0.02 }],
  ['classic of odd size', { filter: 'classic', bits: 12_345, hashes: 5 }],
  ['blocked', { filter: 'blocked', expectedUrls: KEYS, falsePositiveRate: 0.02 }],
  ['blocked with 20 hashes', { filter: 'blocked', bits: 512 * 99, hashes: 20 }],
  ['cuckoo', { filter: 'cuckoo', expectedUrls: KEYS, falsePositiveRate: 0.02 }],
  ['multilayer', { filter: 'multilayer', bitsPerLayer: 9_999 }],
  ['multilayer that grows', { filter: 'multilayer', bitsPerLayer: 9_999, depth: 'grow', layers: 2 }],
  ['keyword-layers', { filter: 'keyword-layers', bitsPerLayer: 9_999 }],
  ['prefix-layers', { filter: 'prefix-layers', expectedUrls: KEYS, falsePositiveRate: 0.02 }],
  ['eigenvalue', { filter: 'eigenvalue', expectedUrls: KEYS, falsePositiveRate: 0.05 }],
  ['eigenvalue, path-shape', { filter: 'eigenvalue', bits: 15_001, hashes: 4, features: 'path-shape' }],
  ['eigenvalue, last-segment', { filter: 'eigenvalue', bits: 15_001, hashes: 4, features: 'last-segment' }],
  ['eigenvalue, digits', { filter: 'eigenvalue', bits: 15_001, hashes: 4, features: 'digits' }],
  ['scalable', { filter: 'scalable', expectedUrls: 200, falsePositiveRate: 0.05 }],
  [
    'scalable of classic',
    { filter: 'scalable', inner: 'classic', expectedUrls: 200, falsePositiveRate: 0.05 },
  ],
  ['window', { filter: 'window', windowUrls: 2000 }],
  ['window of blocked', { filter: 'window', inner: 'blocked', windowUrls: 2000, falsePositiveRate: 0.05 }],
  ['hash-set', { filter: 'hash-set' }],
  ['sorted-array', { filter: 'sorted-array' }],
  ['linear', { filter: 'linear' }],
  ['trie', { filter: 'trie' }],
]

function answers(file: string, keys: readonly string[]): number[] {
  const { stdout, stderr } = spawnSync('python3', ['-m', 'urlsieve_reader', '--lines', file], {
    env,
    input: keys.map((one) => `${one}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  expect(stderr).toBe('')
  return stdout
    .trim()
    .split('\n')
    .map((word) => (word === 'seen' ? 1 : 0))
}

const why = hasPython ? '' : ' (skipped: no python3 of 3.9 or later here)'
describe.runIf(hasPython)(`the reader in Python${why}`, () => {
  const cases = (['siphash', 'xxh64'] as const).flatMap((hash) =>
    filters.map(([name, options]) => ({ hash, name, options })),
  )

  it.each(cases)('agrees on $name, $hash', async ({ hash, name, options }) => {
    const file = join(folder, 'one.sieve')
    const sieve = await Sieve.create({ ...options, hash, key, profile: 'raw' })
    sieve.addMany(known)
    await sieve.save(file)
    const expected = [...sieve.hasMany(asked)]
    expect(answers(file, asked)).toEqual(expected)
    if (!name.startsWith('window')) expect(expected.slice(0, KEYS)).not.toContain(0)
    expect(expected.filter((answer) => answer === 0).length).toBeGreaterThan(100)
  })

  it.each([8, 16, 32] as const)('agrees on a frozen set of %i bits', async (bits) => {
    const file = join(folder, 'frozen.sieve')
    const sieve = await Sieve.create({ key, profile: 'raw' })
    sieve.addMany(known)
    const frozen = await freeze(sieve, { bits })
    await frozen.save(file)
    expect(answers(file, asked)).toEqual([...frozen.hasMany(asked)])
  })

  it('agrees on a filter in several instances', async () => {
    const file = join(folder, 'shards.sieve')
    for (const options of [
      { filter: 'classic', bits: 16_000_001, hashes: 3 },
      { filter: 'blocked', bits: 16_000_000, hashes: 3 },
      { filter: 'cuckoo', expectedUrls: 1_000_000, falsePositiveRate: 1e-3 },
      { filter: 'scalable', expectedUrls: 1_000_000, falsePositiveRate: 1e-3 },
      { filter: 'scalable', inner: 'classic', expectedUrls: 1_000_000, falsePositiveRate: 1e-3 },
      { filter: 'window', windowUrls: 4_000_000, generations: 2 },
    ] as const) {
      const sieve = await Sieve.create({ ...options, key, profile: 'raw', instanceBytes: 1.5 * 2 ** 20 })
      sieve.addMany(known)
      await sieve.save(file)
      expect(answers(file, asked)).toEqual([...sieve.hasMany(asked)])
    }
  })

  it('takes keys as arguments, and the key that a profile makes', async () => {
    const file = join(folder, 'web.sieve')
    const sieve = await Sieve.create({ key })
    sieve.add('http://Example.com/a/../b#c')
    await sieve.save(file)
    const { key: made } = sieve.explain('http://Example.com/a/../b#c')
    const { stdout } = spawnSync(
      'python3',
      ['-m', 'urlsieve_reader', file, made, 'https://example.com/other'],
      {
        env,
        encoding: 'utf8',
      },
    )
    expect(stdout).toBe('seen\nnew\n')
  })

  it('finds every flipped byte', async () => {
    const file = join(folder, 'flipped.sieve')
    const sieve = await Sieve.create({ filter: 'classic', bits: 800, hashes: 3, key, profile: 'raw' })
    sieve.addMany(known.slice(0, 20))
    await sieve.save(file)
    const bytes = readFileSync(file)
    const script = `
import sys
from urlsieve_reader import Sieve, SieveFileError
data = open(sys.argv[1], 'rb').read()
for at in range(len(data)):
    open(sys.argv[1], 'wb').write(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1:])
    try:
        Sieve.open(sys.argv[1])
        print('not found:', at)
    except SieveFileError:
        pass
    open(sys.argv[1], 'wb').write(data[:at])
    try:
        Sieve.open(sys.argv[1])
        print('cut not found:', at)
    except SieveFileError:
        pass
print(len(data), 'bytes')`
    writeFileSync(file, bytes)
    const { stdout, stderr } = spawnSync('python3', ['-c', script, file], { env, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(stdout).toBe(`${bytes.length} bytes\n`)
  })

  it('gives the vectors of docs/format.md', () => {
    const docs = readFileSync(new URL('../../docs/format.md', import.meta.url), 'utf8')
    const vectors = [...docs.matchAll(/^>>> (.*)\n(0x[0-9a-f]+|\d+)$/gm)].map((match) => [
      match[1]!,
      match[2]!,
    ])
    expect(vectors.length).toBeGreaterThan(8)
    const script = `
from urlsieve_reader import *
${vectors.map(([call]) => `print(${call})`).join('\n')}`
    const { stdout, stderr } = spawnSync('python3', ['-c', script], { env, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(stdout.trim().split('\n').map(BigInt)).toEqual(vectors.map(([, value]) => BigInt(value!)))
  })
})
