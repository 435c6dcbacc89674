// The reader in Python gives the same verdicts as the library, for files of every filter: the proof that docs/format.md
// says enough.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
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

const frozen = [8, 16, 32] as const

/** Too large for one instance. */
const large: readonly SieveOptions[] = [
  { filter: 'classic', bits: 16_000_001, hashes: 3 },
  { filter: 'blocked', bits: 16_000_000, hashes: 3 },
  { filter: 'cuckoo', expectedUrls: 1_000_000, falsePositiveRate: 1e-3 },
  { filter: 'scalable', expectedUrls: 1_000_000, falsePositiveRate: 1e-3 },
  { filter: 'scalable', inner: 'classic', expectedUrls: 1_000_000, falsePositiveRate: 1e-3 },
  { filter: 'window', windowUrls: 4_000_000, generations: 2 },
]

/** The reader's answers for `asked` of each file, by its path: from one process. */
function answersOf(files: readonly string[]): Map<string, number[]> {
  const script = `
import json, sys
from urlsieve_reader import Sieve
files, keys = json.load(sys.stdin)
keys = [key.encode() for key in keys]
for file in files:
    sieve = Sieve.open(file)
    print(json.dumps([int(sieve.has(key)) for key in keys]))`
  const { stdout, stderr } = spawnSync('python3', ['-c', script], {
    env,
    input: JSON.stringify([files, asked]),
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  expect(stderr).toBe('')
  const lines = stdout.trim().split('\n')
  return new Map(files.map((file, i) => [file, JSON.parse(lines[i]!) as number[]]))
}

const why = hasPython ? '' : ' (skipped: no python3 of 3.9 or later here)'
describe.runIf(hasPython)(`the reader in Python${why}`, () => {
  const cases = (['siphash', 'xxh64'] as const).flatMap((hash) =>
    filters.map(([name, options]) => ({ hash, name, options })),
  )
  const fileOf = (...words: readonly unknown[]) => join(folder, `${words.join(' ')}.sieve`)
  /** The library's answers for `asked`, and the reader's, by the file. */
  const expected = new Map<string, number[]>()
  let answers: ReadonlyMap<string, number[]>

  beforeAll(async () => {
    const save = async (file: string, sieve: Pick<Sieve, 'save' | 'hasMany'>) => {
      await sieve.save(file)
      expected.set(file, [...sieve.hasMany(asked)])
    }
    const filled = async (options: SieveOptions) => {
      const sieve = await Sieve.create({ ...options, key, profile: 'raw' })
      sieve.addMany(known)
      return sieve
    }
    for (const { hash, name, options } of cases)
      await save(fileOf(name, hash), await filled({ ...options, hash }))
    for (const bits of frozen) await save(fileOf('frozen', bits), await freeze(await filled({}), { bits }))
    for (const [i, options] of large.entries())
      await save(fileOf('large', i), await filled({ ...options, instanceBytes: 1.5 * 2 ** 20 }))
    answers = answersOf([...expected.keys()])
  })

  it.each(cases)('agrees on $name, $hash', ({ hash, name }) => {
    const file = fileOf(name, hash)
    const ours = expected.get(file)!
    expect(answers.get(file)).toEqual(ours)
    if (!name.startsWith('window')) expect(ours.slice(0, KEYS)).not.toContain(0)
    expect(ours.filter((answer) => answer === 0).length).toBeGreaterThan(100)
  })

  it.each(frozen)('agrees on a frozen set of %i bits', (bits) => {
    expect(answers.get(fileOf('frozen', bits))).toEqual(expected.get(fileOf('frozen', bits)))
  })

  it('agrees on a filter in several instances', () => {
    for (const i of large.keys())
      expect(answers.get(fileOf('large', i))).toEqual(expected.get(fileOf('large', i)))
  })

  it('takes keys as arguments or lines, and the key that a profile makes', async () => {
    const file = join(folder, 'web.sieve')
    const sieve = await Sieve.create({ key })
    sieve.add('http://Example.com/a/../b#c')
    await sieve.save(file)
    const { key: made } = sieve.explain('http://Example.com/a/../b#c')
    const keys = [made, 'https://example.com/other', 'https://example.com/é']
    for (const [args, input] of [
      [[file, ...keys], ''],
      [['--lines', file], keys.map((one) => `${one}\n`).join('')],
    ] as const) {
      const command = ['-m', 'urlsieve_reader', ...args]
      const { stdout, stderr } = spawnSync('python3', command, { env, input, encoding: 'utf8' })
      expect([stdout, stderr]).toEqual(['seen\nnew\nnew\n', ''])
    }
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
