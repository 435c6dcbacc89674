// Files of every filter, written once and kept: today's code reads them with the right verdicts and writes the same
// bytes again. They are made anew, when the format version changes, with
//   URLSIEVE_GOLDEN=write npx vitest run test/store/golden.test.ts
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { resolveProfile } from '../../src/canonical/profiles.ts'
import { type FilterName, filterKinds, filterNames } from '../../src/filters/registry.ts'
import { freeze } from '../../src/freeze.ts'
import type { SieveOptions } from '../../src/sieve.ts'
import { Sieve } from '../../src/sieve.ts'
import { STATE } from '../../src/state.ts'
import { newFolders } from '../support/folders.ts'

const IS_WRITING = process.env.URLSIEVE_GOLDEN === 'write'
const golden = fileURLToPath(new URL('golden/', import.meta.url))
const folder = newFolders()()

const key = Uint8Array.from({ length: 16 }, (_, i) => 16 * i + 3)
const urls = Array.from(
  { length: 40 },
  (_, i) => `https://site${i % 5}.example/shop/${i % 8}/item-${i}?page=${i % 3}`,
)
const others = Array.from({ length: 400 }, (_, i) => `https://other${i}.example/news/${i}/${i * i}`)
/** Small, and wrong often enough that some of the others are answered "seen". */
const small = { expectedUrls: 40, falsePositiveRate: 0.05 } as const
const BORN = Date.UTC(2026, 0, 1)

/** The default profile when most of them were written: a file keeps its rules, not only the name. */
const webThen = { ...resolveProfile(['whatwg', 'no-fragment', 'https']), name: 'web' }

const options: Readonly<Record<string, SieveOptions>> = {
  ...Object.fromEntries(
    filterKinds.map(({ name, can }) => [name, { filter: name as FilterName, ...(can.grow ? {} : small) }]),
  ),
  'fingerprint-escapes': { profile: 'web' },
  'fingerprint-xxh64': { hash: 'xxh64', key: new Uint8Array(16) },
  'classic-url-caching': { filter: 'classic', ...small, hash: ['poly31', 'djb2', 'xor17'] },
  scalable: { filter: 'scalable', expectedUrls: 10, falsePositiveRate: 0.05 },
  window: { filter: 'window', inner: 'blocked', windowUrls: 32, falsePositiveRate: 0.05, generations: 4 },
  'binary-fuse': {},
}

/** What is in golden/verdicts.json: for each file the others that it answers "seen". */
type Verdicts = Record<string, number[]>
const verdictsPath = join(golden, 'verdicts.json')

async function made(name: string): Promise<Pick<Sieve, 'save' | 'hasMany'>> {
  const sieve = await Sieve.create({ key, profile: webThen, ...options[name] })
  // Generations are begun at a time: always the same one.
  for (const { filter } of sieve[STATE].shards.all) filter.setClock?.(BORN)
  if (name === 'window' || name === 'scalable')
    for (const generation of generationsOf(sieve)) generation.born = BORN
  sieve.addMany(urls)
  return name === 'binary-fuse' ? freeze(sieve, { bits: 8 }) : sieve
}

const generationsOf = (sieve: Sieve) =>
  (sieve[STATE].shards.all[0]!.filter as unknown as { all: { born: number }[] }).all

const seenOf = (sieve: Pick<Sieve, 'hasMany'>) =>
  [...sieve.hasMany(others)].flatMap((seen, i) => (seen ? [i] : []))

it.runIf(IS_WRITING)('writes the golden files', async () => {
  const verdicts: Verdicts = {}
  for (const name of Object.keys(options)) {
    const sieve = await made(name)
    await sieve.save(join(golden, `${name}.sieve`))
    verdicts[name] = seenOf(sieve)
  }
  writeFileSync(verdictsPath, `${JSON.stringify(verdicts)}\n`)
})

it('there is one of every filter, and all are small', () => {
  const names = readdirSync(golden).filter((name) => name.endsWith('.sieve'))
  expect(names.sort()).toEqual(
    Object.keys(options)
      .map((name) => `${name}.sieve`)
      .sort(),
  )
  for (const name of filterNames) expect(names).toContain(`${name}.sieve`)
  for (const name of names) expect(statSync(join(golden, name)).size, name).toBeLessThan(20_000)
})

describe.each(Object.keys(options))('golden %s', (name) => {
  const path = join(golden, `${name}.sieve`)
  const verdicts = (JSON.parse(readFileSync(verdictsPath, 'utf8')) as Verdicts)[name]

  it('is read with the right verdicts', async () => {
    const sieve = await Sieve.load(path)
    const seen = [...sieve.hasMany(urls)]
    // The window remembers the last 32, the others all.
    expect(seen).toEqual(urls.map((_, i) => (name === 'window' && i < 8 ? seen[i] : 1)))
    expect(seenOf(sieve)).toEqual(verdicts)
    expect(sieve.stats().urls).toBeGreaterThan(name === 'window' ? 28 : 36)
  })

  it('is written again to the byte', async () => {
    const copy = join(folder, `${name}.sieve`)
    await (await Sieve.load(path)).save(copy)
    expect(readFileSync(copy).equals(readFileSync(path))).toBe(true)
  })

  it('is what is made today of the same URLs', async () => {
    const copy = join(folder, `${name}-new.sieve`)
    await (await made(name)).save(copy)
    expect(readFileSync(copy).equals(readFileSync(path))).toBe(true)
  })
})

// Written when the fingerprint table had whole hashes: never again.
describe.each(['fingerprint', 'fingerprint-escapes', 'fingerprint-xxh64'])(
  'golden %s of version 1',
  (name) => {
    const verdicts = (JSON.parse(readFileSync(verdictsPath, 'utf8')) as Verdicts)[name]

    it('is read with the right verdicts, and written as it is made today', async () => {
      const sieve = await Sieve.load(join(golden, 'version-1', `${name}.sieve`))
      expect([...sieve.hasMany(urls)]).toEqual(urls.map(() => 1))
      expect(seenOf(sieve)).toEqual(verdicts)
      expect(sieve.stats().urls).toBe(urls.length)
      const copy = join(folder, `${name}-1.sieve`)
      await sieve.save(copy)
      const again = await Sieve.load(copy)
      expect([...again.hasMany([...urls, ...others])]).toEqual([...sieve.hasMany([...urls, ...others])])
      expect(readFileSync(copy).readUInt32LE(8)).toBe(3)
    })
  },
)

it('files keep the rules they were made with, whatever their profile has today', async () => {
  const [then, now] = await Promise.all(
    ['fingerprint', 'fingerprint-escapes'].map((name) => Sieve.load(join(golden, `${name}.sieve`))),
  )
  const escaped = urls.map((url) => url.replace('item', '%69tem'))
  expect(then!.profile).toMatchObject({ name: 'web', rules: [{}, {}, { name: 'https' }] })
  expect([...then!.hasMany(escaped)]).toEqual(urls.map(() => 0))
  expect([...now!.hasMany(escaped)]).toEqual(urls.map(() => 1))
})
