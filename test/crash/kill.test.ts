// A writer under load is killed with SIGKILL at random moments, again and again over the same store. After each kill
// the store opens, and holds every acknowledged batch and of the one in flight all or nothing. After some kills it goes on
// with a new store, so that no filter outgrows its plan and each kill costs the same. About 40 kills; URLSIEVE_FULL=1: 1,300.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Durability } from '../../src/journal.ts'
import type { SieveOptions } from '../../src/sieve.ts'
import { Sieve } from '../../src/sieve.ts'
import { builtLibrary } from '../support/built.ts'
import { newFolders } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'
import { batchOf } from './batches.mjs'

const newFolder = newFolders()

const KILLS = process.env.URLSIEVE_FULL === '1' ? 1200 : 20
const BATCH_URLS = 40
const writer = fileURLToPath(new URL('writer.mjs', import.meta.url))

interface Setting {
  readonly name: string
  readonly options: SieveOptions
  readonly durability: Durability
  readonly keepKeys?: boolean
  readonly kills: number
  readonly round?: number
}

/** Kills of one store: on a quick machine each comes after two thousand URLs. */
const ROUND = 40
const share = (part: number) => Math.max(2, Math.ceil(KILLS * part))
const sized = { expectedUrls: 400_000, falsePositiveRate: 1e-9 }
const interval = { durability: 'interval' } as const
const settings: readonly Setting[] = [
  { name: 'fingerprint', options: {}, ...interval, kills: share(0.15) },
  { name: 'fingerprint', options: {}, durability: 'always', kills: share(0.1) },
  { name: 'fingerprint', options: {}, ...interval, keepKeys: true, kills: share(0.15) },
  { name: 'blocked', options: { filter: 'blocked', ...sized }, ...interval, kills: share(0.1) },
  { name: 'blocked', options: { filter: 'blocked', ...sized }, durability: 'always', kills: share(0.05) },
  ...(['classic', 'multilayer', 'prefix-layers', 'eigenvalue', 'keyword-layers'] as const).map((filter) => ({
    name: filter,
    options: { filter, ...sized },
    ...interval,
    kills: share(0.05),
  })),
  {
    name: 'scalable',
    options: { filter: 'scalable', expectedUrls: 5000, falsePositiveRate: 1e-9 },
    ...interval,
    kills: share(0.05),
  },
  {
    name: 'window',
    options: { filter: 'window', windowUrls: 400_000, falsePositiveRate: 1e-9 },
    ...interval,
    kills: share(0.05),
  },
  ...(['hash-set', 'sorted-array', 'trie', 'linear'] as const).map((filter) => ({
    name: filter,
    options: { filter },
    ...interval,
    kills: share(0.03),
    // A search through a list takes as long as the list is.
    ...(filter === 'linear' && { round: 3 }),
  })),
]

const built = builtLibrary()

interface Run {
  /** Batches that were acknowledged, and those that were begun. */
  readonly done: number[]
  readonly tried: number[]
  readonly errors: string
}

/** Starts a writer at batch `from` and kills it: while it opens, or while it writes; the last time when it has written. */
async function killed(
  folder: string,
  setting: Setting,
  from: number,
  isLast: boolean,
  random: () => number,
): Promise<Run> {
  const { options, durability, keepKeys = false } = setting
  const all = { ...options, profile: 'raw', durability, keepKeys, foldBytes: 40_000 }
  const argument = JSON.stringify({ built, folder, options: all, from, batchUrls: BATCH_URLS })
  const child = spawn(process.execPath, [writer, argument], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let errors = ''
  let timer: NodeJS.Timeout | undefined
  const killIn = (ms: number) => {
    timer ??= setTimeout(() => child.kill('SIGKILL'), ms)
  }
  if (!isLast && random() < 0.2) killIn(40 + 80 * random())
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk
    if (!isLast || out.includes('done')) killIn(100 * random() ** 2)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk
    killIn(0)
  })
  await once(child, 'close')
  clearTimeout(timer)
  const numbers = (word: string) =>
    [...out.matchAll(new RegExp(`^${word} (\\d+)$`, 'gm'))].map((match) => Number(match[1]))
  return { done: numbers('done'), tried: numbers('try'), errors }
}

const held = (sieve: Sieve, batch: number) =>
  sieve.hasMany(batchOf(batch, BATCH_URLS)).reduce((sum, answer) => sum + answer, 0)

describe.concurrent('killed with SIGKILL', () => {
  it.for(settings)(
    '$name, durability $durability, keepKeys $keepKeys: $kills times',
    { timeout: 1_800_000 },
    async (setting, { task }) => {
      const random = randomFrom(task.name.length * 7919)
      let batches = 0
      for (let kill = 0; kill < setting.kills; kill += setting.round ?? ROUND) {
        const kills = Math.min(setting.round ?? ROUND, setting.kills - kill)
        batches += await killAndCheck(setting, kills, random)
      }
      console.log(
        `${setting.name} ${setting.durability}: ${setting.kills} kills, ${batches} batches acknowledged, 0 lost`,
      )
      expect(batches).toBeGreaterThan(0)
    },
  )
})

/** Kills over one store; returns how many batches were acknowledged, all of which were found. */
async function killAndCheck(setting: Setting, kills: number, random: () => number): Promise<number> {
  const folder = newFolder()
  /** Batches that must be there whole, and whether each one in flight was found. */
  const acknowledged: number[] = []
  let urls = 0
  let from = 1
  for (let kill = 0; kill < kills; kill++) {
    const { done, tried, errors } = await killed(folder, setting, from, kill === kills - 1, random)
    expect(errors).toBe('')
    const inFlight = tried.at(-1) === done.at(-1) ? undefined : tried.at(-1)
    from = (tried.at(-1) ?? from - 1) + 1
    if (tried.length === 0 && acknowledged.length === 0) continue // killed before there was a store
    // Readers and writers both mend what the crash left.
    const readOnly = random() < 0.5
    const sieve = await Sieve.open(folder, { readOnly, foldBytes: 40_000 })
    const told = `after kill ${kill}`
    for (const batch of done) expect(held(sieve, batch), `${told}: batch ${batch}`).toBe(BATCH_URLS)
    for (let i = 0; i < Math.min(20, acknowledged.length); i++) {
      const batch = acknowledged[Math.floor(random() * acknowledged.length)]!
      expect(held(sieve, batch), `${told}: batch ${batch}`).toBe(BATCH_URLS)
    }
    acknowledged.push(...done)
    urls += done.length * BATCH_URLS
    if (inFlight !== undefined) {
      const found = held(sieve, inFlight)
      // One at a time, any first part of it may be there; in one call, all or nothing.
      if (inFlight % 4 !== 0) expect([0, BATCH_URLS], told).toContain(found)
      const there = sieve.hasMany(batchOf(inFlight, BATCH_URLS))
      expect([...there], told).toEqual([...there].sort((a, b) => b - a))
      urls += found
    }
    expect(sieve.stats().urls, told).toBe(urls)
    expect(held(sieve, from + 1), told).toBe(0)
    await sieve.close()
  }
  const sieve = await Sieve.open(folder, { readOnly: true })
  for (const batch of acknowledged) expect(held(sieve, batch), `batch ${batch}`).toBe(BATCH_URLS)
  if (setting.keepKeys) {
    const { storedKeys } = await import('../../src/store/stored-keys.ts')
    const keys = new Set([...storedKeys(folder)].map(String))
    for (const batch of acknowledged)
      for (const url of batchOf(batch, BATCH_URLS)) if (!keys.has(url)) expect.fail(`the key ${url} is lost`)
    expect(keys.size).toBe(urls)
  }
  // Nothing is left behind but what counts.
  const names = readdirSync(folder).filter((name) => !name.startsWith('keys-'))
  expect(names.filter((name) => name.startsWith('snapshot-') && name.endsWith('.sieve')).length).toBeLessThan(
    3,
  )
  return acknowledged.length
}
