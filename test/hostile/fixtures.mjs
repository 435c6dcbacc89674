// The honest files that are forged: of every filter and shape, made by the library with a fixed key.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const key = Uint8Array.from({ length: 16 }, (_, i) => 11 * i + 5)
export const urls = Array.from(
  { length: 60 },
  (_, i) => `https://site${i % 5}.example/shop/${i % 8}/item-${i}?p=${i % 3}`,
)
export const others = Array.from({ length: 40 }, (_, i) => `https://other${i}.example/news/${i}/${i * i}`)
export const fresh = Array.from({ length: 20 }, (_, i) => `https://fresh.example/${i}/x/y/${i}`)

const small = { expectedUrls: 60, falsePositiveRate: 0.02 }
/** Shapes of their own; every other filter of the registry is made small. */
const shapes = {
  'fingerprint of xxh64': { hash: 'xxh64' },
  'fingerprint of a narrow hash': { hash: ['murmur3', 'jenkins'] },
  'classic of narrow hashes': { filter: 'classic', ...small, hash: ['poly31', 'djb2', 'xor17'] },
  'multilayer that grows': { filter: 'multilayer', bitsPerLayer: 999, depth: 'grow', layers: 2 },
  scalable: { filter: 'scalable', expectedUrls: 15, falsePositiveRate: 0.02 },
  'scalable of classic': { filter: 'scalable', inner: 'classic', expectedUrls: 15, falsePositiveRate: 0.02 },
  window: { filter: 'window', inner: 'blocked', windowUrls: 48, falsePositiveRate: 0.02, generations: 4 },
  'window of fingerprints': { filter: 'window', windowUrls: 30, generations: 2 },
  'window by age': { filter: 'window', windowMs: 1e9, generations: 3 },
}

const load = (built, path) => import(pathToFileURL(join(built, path)).href)

/** [name, bytes of the file, answers to `urls` and `others`]. Large ones are few: they come once in a while. */
export async function sieveFiles(built, folder, options = {}) {
  const { Sieve, filters, freeze } = await load(built, 'index.js')
  const path = join(folder, 'fixture.sieve')
  const files = []
  const take = async (name, sieve, isLarge = false) => {
    await sieve.save(path)
    files.push({
      name,
      isLarge,
      bytes: readFileSync(path),
      answers: [...sieve.hasMany([...urls, ...others])],
    })
  }
  const usual = Object.entries(filters).map(([name, { can }]) => [
    name,
    { filter: name, ...(can.grow ? {} : small) },
  ])
  for (const [name, shape] of Object.entries({ ...Object.fromEntries(usual), ...shapes })) {
    const sieve = await Sieve.create({ key, ...shape, ...options })
    sieve.addMany(urls)
    await take(name, sieve)
    if (name === 'fingerprint')
      for (const bits of [8, 32]) await take(`frozen to ${bits} bits`, await freeze(sieve, { bits }))
  }
  await take(
    'empty and sparse',
    await Sieve.create({ key, filter: 'blocked', expectedUrls: 200_000, ...options }),
  )
  const many = Array.from({ length: 40_000 }, (_, i) => `https://many.example/${i}`)
  const grown = await Sieve.create({ key, ...options })
  grown.addMany([...urls, ...many])
  await take('fingerprint of several segments', grown, true)
  const spread = await Sieve.create({
    key,
    filter: 'classic',
    bits: 16_000_000,
    hashes: 3,
    instanceBytes: 1.5 * 2 ** 20,
    ...options,
  })
  spread.addMany(urls)
  await take('classic in several instances', spread)
  return files
}

/** Folders of stores: a snapshot with the first URLs, a log with the rest, keys where they are kept. */
export async function stores(built, folder) {
  const { Sieve } = await load(built, 'index.js')
  const all = {
    fingerprint: {},
    'fingerprint with keys': { keepKeys: true },
    multilayer: { filter: 'multilayer', ...small },
    window: { filter: 'window', inner: 'blocked', windowUrls: 48, falsePositiveRate: 0.02, generations: 4 },
    trie: { filter: 'trie' },
  }
  const made = []
  for (const [name, options] of Object.entries(all)) {
    const path = join(folder, name.replaceAll(' ', '-'))
    const sieve = await Sieve.open(path, { key, ...options })
    sieve.addMany(urls.slice(0, 30))
    await sieve.save()
    sieve.addMany(urls.slice(30, 45))
    for (const url of urls.slice(45)) sieve.add(url)
    if ('delete' in sieve) sieve.delete(urls[50])
    await sieve.close()
    made.push({ name, path, files: filesIn(path).filter(({ name: file }) => file !== 'lock') })
  }
  return made
}

export function filesIn(path) {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => ({ name, bytes: readFileSync(join(path, name)) }))
}

/** A new file in place of one that may be there: to cut off the old one takes the file system several times as long. */
export function put(path, bytes) {
  rmSync(path, { force: true })
  writeFileSync(path, bytes)
}

/** Puts the files of a fixture into a folder, with some of them changed. */
export function lay(path, files, changed = {}) {
  mkdirSync(path, { recursive: true })
  for (const { name, bytes } of files) put(join(path, name), changed[name] ?? bytes)
}

/** The files of a frontier in which some of the texts were handled. */
export async function frontier(built, folder) {
  const { Frontier } = await load(built, 'crawlers/frontier.js')
  const path = join(folder, 'frontier')
  const made = Frontier.open({ folder: path, fileBytes: 900 })
  for (let i = 0; i < 12; i++) {
    made.release(made.hold(urls.slice(5 * i, 5 * i + 5).map((url) => JSON.stringify({ url }))))
  }
  for (let i = 0; i < 17; i++) made.finish(made.next().place)
  made.close()
  return filesIn(path).filter(({ name }) => name.startsWith('frontier-'))
}

/** An index of a table of texts. */
export async function index(built) {
  const { DatasetBuilder } = await load(built, 'search/dataset.js')
  const { encodeIndex } = await load(built, 'search/index-file.js')
  const builder = await DatasetBuilder.create()
  for (const url of urls) builder.add(new Set(url.split(/\W+/).filter(Boolean)))
  return encodeIndex({
    origin: { settings: '{}', files: [{ sizeBytes: 1, modifiedMs: 2.5, sha256: 'ab' }] },
    dataset: builder.finish(),
    columns: ['title', 'é'],
    places: Float64Array.from({ length: urls.length + 1 }, (_, i) => 3 * i),
  })
}

/** The folder of an exact sieve, with tables and a log; returns where it lies. */
export async function exact(built, folder) {
  const { ExactSieve } = await load(built, 'exact/index.js')
  const path = join(folder, 'exact')
  let sieve = await ExactSieve.open(path)
  await sieve.addMany(Array.from({ length: 3000 }, (_, i) => `https://many.example/${i % 7}/${i}`))
  await sieve.close()
  sieve = await ExactSieve.open(path)
  await sieve.addMany(urls)
  await sieve.close()
  const kept = join(folder, 'exact-kept')
  cpSync(path, kept, { recursive: true })
  return kept
}
